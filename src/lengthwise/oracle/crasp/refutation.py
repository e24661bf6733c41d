"""A refutation for all periods and all windows at once, by words of one length.

Lemma (proof in docs/crasp.md). Let e be a word that does once what it does twice, and let t_1, t_2, ... be words as
long as e. On the states that e fixes, let t_i act as: read t_i, then e. If some component of this automaton is blocked
in the sense of C-RASP[], the language has no program in C-RASP[periodic, local], whatever the period and the window.

The words are looked for among those of the length s at which the actions of words become stable: S_s = S_2s. Every
idempotent of any length acts like one of length s, and two idempotents with the same fixed states allow the same
actions, so one of each suffices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.oracle.crasp.components import Component, Edge, components
from lengthwise.oracle.crasp.monoid import Maps, Stable, stable_semigroup, transition_monoid
from lengthwise.oracle.crasp.potentials import Forced, forced
from lengthwise.oracle.crasp.refine import Refinement, refine
from lengthwise.oracle.crasp.words import Word, spelled, telling_suffix
from lengthwise.tasks.languages.dfa import Dfa

MOST_ENTRIES = 100_000_000  # states looked at while idempotents are tried


@dataclass(frozen=True)
class Refutation:
    """Words by which a language is seen to lie outside C-RASP[periodic, local].

    Letter `i` of the proofs is `letters[i]` followed by `idempotent`; all these words have one length. `states` is a
    component of the automaton they make, `blocks` its partition that counting cannot refine, as `proofs` show. `left`
    and `right` share a block, and `suffix` is accepted from exactly one of them.
    """

    dfa: Dfa
    idempotent: Word
    letters: tuple[Word, ...]
    states: tuple[int, ...]
    blocks: tuple[int, ...]
    left: int
    right: int
    suffix: Word
    proofs: tuple[Forced, ...]

    def explain(self) -> list[str]:
        words = ", ".join(spelled(word) for word in self.letters[:8]) + (", ..." if len(self.letters) > 8 else "")
        rest, fixed = spelled(self.idempotent), "{" + ", ".join(map(str, self.states)) + "}"
        accepted = _end(self.dfa, self.left, self.suffix) in self.dfa.accepting
        yes, no = (self.left, self.right) if accepted else (self.right, self.left)
        return [
            "No C-RASP[periodic, local] program exists, whatever the period and the window.",
            f"The word {rest} does once what it does twice, and it fixes the states {fixed}. Read words made of "
            f"blocks, each one of {words} followed by {rest} as often as you like: the blocks have one length and end "
            "alike, so places and windows show nothing.",
            f"Counting blocks cannot part the states {self.left} and {self.right}: no weighted count of such moves is "
            f"0 around every cycle inside {fixed} and differs between them. They must be told apart: "
            f"{spelled(self.suffix)} is accepted from {yes} and not from {no}.",
        ]

    def plain(self) -> dict[str, Any]:
        """The refutation as JSON-ready data."""
        return {
            "idempotent": list(self.idempotent),
            "letters": [list(word) for word in self.letters],
            "states": list(self.states),
            "blocks": list(self.blocks),
            "left": self.left,
            "right": self.right,
            "suffix": list(self.suffix),
            "proofs": [proof.plain() for proof in self.proofs],
            "explanation": self.explain(),
        }


@dataclass(frozen=True)
class RefutationSearch:
    """`found` is None when no such words exist (`complete`) or the search was cut short, as `reason` says."""

    found: Refutation | None
    complete: bool
    reason: str
    stable: Stable | None


def refute(dfa: Dfa) -> RefutationSearch:
    """Look for a refutation. Bounded work: at most 20,000 actions and MOST_ENTRIES states are looked at."""
    minimal = dfa.minimised()
    monoid = transition_monoid(minimal)
    if monoid is None:
        return RefutationSearch(None, False, "words act in too many ways", None)
    stable = stable_semigroup(monoid)
    if stable is None:
        return RefutationSearch(None, False, "the actions of words of one length take too long to repeat", None)
    maps, entries = monoid.maps[stable.elements], 0
    for element, fixed in _fixed_sets(stable):
        entries += len(maps) * len(fixed)
        if entries > MOST_ENTRIES:
            return RefutationSearch(None, False, "there are too many idempotents", stable)
        actions, origins = _local_actions(maps, monoid.maps[element], fixed)
        part = _blocked_part(actions)
        if part is not None:
            return RefutationSearch(_refutation(minimal, stable, element, fixed, origins, part), True, "", stable)
    return RefutationSearch(None, True, "no words of one length block", stable)


def _fixed_sets(stable: Stable) -> list[tuple[int, tuple[int, ...]]]:
    """One idempotent for every set of at least two fixed states, small sets first."""
    sets: dict[tuple[int, ...], int] = {}
    for element in stable.monoid.idempotents(stable.elements):
        sets.setdefault(tuple(np.unique(stable.monoid.maps[element]).tolist()), element)
    return sorted(
        ((element, fixed) for fixed, element in sets.items() if len(fixed) > 1), key=lambda pair: len(pair[1])
    )


def _local_actions(maps: Maps, idempotent: Maps, fixed: tuple[int, ...]) -> tuple[Maps, list[int]]:
    """The distinct actions "t, then e" on the fixed states, renumbered from 0, and an index of t for each."""
    place = np.full(len(idempotent), -1, dtype=np.int32)
    place[list(fixed)] = np.arange(len(fixed))
    actions, origins = np.unique(place[idempotent[maps[:, list(fixed)]]], axis=0, return_index=True)
    return actions, origins.tolist()


def _blocked_part(actions: Maps) -> Refinement | None:
    """A blocked component of the automaton with these letters; letters are named by their numbers."""
    alphabet = [str(letter) for letter in range(len(actions))]
    for component in components(alphabet, actions.T.tolist()):
        part = refine(component, [0] * len(component.states))
        if not part.passes:
            return part
    return None


def _refutation(
    dfa: Dfa, stable: Stable, element: int, fixed: tuple[int, ...], origins: list[int], part: Refinement
) -> Refutation:
    """The blocked part with only the letters that its proofs and its cycles need, in the states of the automaton."""
    proofs = forced(part.component, part.blocks)
    used = {edge.letter for proof in proofs for edge, _ in proof.moves} | _connecting(part.component)
    names = {letter: str(number) for number, letter in enumerate(sorted(used, key=int))}

    def renamed(edge: Edge) -> Edge:
        return Edge(fixed[edge.source], names[edge.letter], fixed[edge.target])

    first: dict[int, int] = {}
    pairs = zip(part.component.states, part.blocks, strict=True)
    left, right = next((first[b], s) for s, b in pairs if first.setdefault(b, s) != s)
    suffix = telling_suffix(dfa, fixed[left], fixed[right])
    if suffix is None:
        raise AssertionError("two states of a minimal automaton are told apart by some word")
    return Refutation(
        dfa,
        _spell(dfa, stable.word(element)),
        tuple(_spell(dfa, stable.word(int(stable.elements[origins[int(letter)]]))) for letter in names),
        tuple(fixed[state] for state in part.component.states),
        part.blocks,
        fixed[left],
        fixed[right],
        suffix,
        tuple(
            Forced(fixed[p.state], fixed[p.other], p.scale, tuple((renamed(edge), f) for edge, f in p.moves))
            for p in proofs
        ),
    )


def _connecting(component: Component) -> set[str]:
    """Letters of two trees, from the first state to all and from all to it, so that they keep the component whole."""
    letters = set()
    for outward in (True, False):
        reached = {component.states[0]}
        while len(reached) < len(component.states):
            for edge in component.edges:
                near, far = (edge.source, edge.target) if outward else (edge.target, edge.source)
                if near in reached and far not in reached:
                    reached.add(far)
                    letters.add(edge.letter)
    return letters


def _spell(dfa: Dfa, letters: tuple[int, ...]) -> Word:
    return tuple(dfa.alphabet[letter] for letter in letters)


def _end(dfa: Dfa, state: int, word: Word) -> int:
    for letter in word:
        state = dfa.transitions[state][dfa.alphabet.index(letter)]
    return state
