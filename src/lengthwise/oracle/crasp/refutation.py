"""A refutation for all periods and all windows at once, by words of one length.

Lemma (proof in docs/crasp.md). Let e be a word that does once what it does twice, and let t_1, t_2, ... be words as
long as e. On the states that e fixes, let t_i act as: read t_i, then e. If some component of this automaton is blocked
in the sense of C-RASP[], the language has no program in C-RASP[periodic, local], whatever the period and the window.

This file makes and describes the refutation from given words; `refute.py` looks for the words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.oracle.crasp.components import Component, Edge, components
from lengthwise.oracle.crasp.monoid import Maps
from lengthwise.oracle.crasp.potentials import Forced, forced
from lengthwise.oracle.crasp.refine import Refinement, first_pair, refine
from lengthwise.oracle.crasp.words import Word, spelled, telling_suffix
from lengthwise.tasks.languages.dfa import Dfa


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


def blocked_by(
    dfa: Dfa, idempotent: Maps, idempotent_word: Callable[[], Word], actions: Maps, word: Callable[[int], Word]
) -> Refutation | None:
    """The refutation that an idempotent and the actions of words as long as its own give, if they block.

    `actions` has a row for each word, and `word(i)` is the one of row i. Words are asked for when a refutation is
    found, and then for few rows.
    """
    fixed = np.unique(idempotent)
    place = np.full(len(idempotent), -1, dtype=np.int32)
    place[fixed] = np.arange(len(fixed))
    local, origins = np.unique(place[idempotent[actions[:, fixed]]], axis=0, return_index=True)
    part = _blocked_part(local)
    if part is None:
        return None
    proofs = forced(part.component, part.blocks)
    used = sorted({edge.letter for p in proofs for edge, _ in p.moves} | _connecting(part.component), key=int)
    names = {letter: str(number) for number, letter in enumerate(used)}
    states = [int(state) for state in fixed]

    def renamed(proof: Forced) -> Forced:
        moves = ((Edge(states[e.source], names[e.letter], states[e.target]), factor) for e, factor in proof.moves)
        return Forced(states[proof.state], states[proof.other], proof.scale, tuple(moves))

    left, right = (states[state] for state in first_pair(part))
    suffix = telling_suffix(dfa, left, right)
    if suffix is None:
        raise AssertionError("two states of a minimal automaton are told apart by some word")
    return Refutation(
        dfa,
        idempotent_word(),
        tuple(word(int(origins[int(letter)])) for letter in used),
        tuple(states[state] for state in part.component.states),
        part.blocks,
        left,
        right,
        suffix,
        tuple(map(renamed, proofs)),
    )


def _blocked_part(actions: Maps) -> Refinement | None:
    """A blocked component of the automaton with these letters; letters are named by their numbers."""
    alphabet = [str(letter) for letter in range(len(actions))]
    for component in components(alphabet, actions.T.tolist()):
        part = refine(component, [0] * len(component.states))
        if not part.passes:
            return part
    return None


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


def _end(dfa: Dfa, state: int, word: Word) -> int:
    for letter in word:
        state = dfa.transitions[state][dfa.alphabet.index(letter)]
    return state
