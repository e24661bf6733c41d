"""A refutation for all periods and all windows at once, by words of one length.

Lemma (proof in docs/crasp.md). Let e be a word that does once what it does twice, and let t_1, t_2, ... be words as
long as e. On the states that e fixes, let t_i act as: read t_i, then e. If some component of this automaton is blocked
in the sense of C-RASP[], and two of its states that counting cannot tell apart need different answers after some
suffix, then no program in C-RASP[periodic, local] answers all that is asked, whatever the period and the window.

This file makes and describes the refutation from given words; `refute.py` looks for the words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from lengthwise.oracle.crasp.components import Component, Edge, components
from lengthwise.oracle.crasp.monoid import Maps
from lengthwise.oracle.crasp.potentials import Forced, forced
from lengthwise.oracle.crasp.promise import Clash, Promise, first_clash, written
from lengthwise.oracle.crasp.refine import Refinement, refine, same_block
from lengthwise.oracle.crasp.words import Word, spelled


@dataclass(frozen=True)
class Refutation:
    """Words by which it is seen that no program in C-RASP[periodic, local] answers all that is asked.

    Letter `i` of the proofs is `letters[i]` followed by `idempotent`; all these words have one length. `states` is a
    component of the automaton they make, `blocks` its partition that counting cannot refine, as `proofs` show. The two
    states of `clash` share a block, and different answers are asked for after its suffix.
    """

    promise: Promise
    idempotent: Word
    letters: tuple[Word, ...]
    states: tuple[int, ...]
    blocks: tuple[int, ...]
    clash: Clash
    proofs: tuple[Forced, ...]

    def explain(self) -> list[str]:
        words = ", ".join(spelled(word) for word in self.letters[:8]) + (", ..." if len(self.letters) > 8 else "")
        rest, fixed = spelled(self.idempotent), "{" + ", ".join(map(str, self.states)) + "}"
        left, right = self.clash.left, self.clash.right
        return [
            "No C-RASP[periodic, local] program exists, whatever the period and the window.",
            f"The word {rest} does once what it does twice, and it fixes the states {fixed}. Read words made of "
            f"blocks, each one of {words} followed by {rest} as often as you like: the blocks have one length and end "
            "alike, so places and windows show nothing.",
            f"Counting blocks cannot distinguish the states {left} and {right}: no weighted count of such moves is 0 "
            f"around every cycle inside {fixed} and differs between them. They must be distinguished: "
            f"{self._answers()}.",
        ]

    def _answers(self) -> str:
        clash = self.clash
        if not clash.at_end:
            return (
                f"followed by {spelled(clash.suffix)}, the tag is {written(clash.answer)} from {clash.left} and "
                f"{written(clash.other)} from {clash.right}"
            )
        yes, no = (clash.left, clash.right) if clash.answer else (clash.right, clash.left)
        return f"{spelled(clash.suffix)} is accepted from {yes} and not from {no}"

    def plain(self) -> dict[str, Any]:
        """The refutation as JSON-ready data."""
        return {
            "idempotent": list(self.idempotent),
            "letters": [list(word) for word in self.letters],
            "states": list(self.states),
            "blocks": list(self.blocks),
            "clash": asdict(self.clash),
            "proofs": [proof.plain() for proof in self.proofs],
            "explanation": self.explain(),
        }


def blocked_by(
    promise: Promise, idempotent: Maps, idempotent_word: Callable[[], Word], actions: Maps, word: Callable[[int], Word]
) -> Refutation | None:
    """The refutation that an idempotent and the actions of words as long as its own give, if they block.

    `actions` has a row for each word, and `word(i)` is the one of row i. Words are asked for when a refutation is
    found, and then for few rows.
    """
    fixed = np.unique(idempotent)
    place = np.full(len(idempotent), -1, dtype=np.int32)
    place[fixed] = np.arange(len(fixed))
    local, origins = np.unique(place[idempotent[actions[:, fixed]]], axis=0, return_index=True)
    states = [int(state) for state in fixed]
    found = _blocked_part(local, promise, states)
    if found is None:
        return None
    part, clash = found
    proofs = forced(part.component, part.blocks)
    used = sorted({edge.letter for p in proofs for edge, _ in p.moves} | _connecting(part.component), key=int)
    names = {letter: str(number) for number, letter in enumerate(used)}

    def renamed(proof: Forced) -> Forced:
        moves = ((Edge(states[e.source], names[e.letter], states[e.target]), factor) for e, factor in proof.moves)
        return Forced(states[proof.state], states[proof.other], proof.scale, tuple(moves))

    return Refutation(
        promise,
        idempotent_word(),
        tuple(word(int(origins[int(letter)])) for letter in used),
        tuple(states[state] for state in part.component.states),
        part.blocks,
        clash,
        tuple(map(renamed, proofs)),
    )


def _blocked_part(actions: Maps, promise: Promise, states: list[int]) -> tuple[Refinement, Clash] | None:
    """A blocked component of the automaton with these letters, which are named by their numbers, and two of its states
    that share a block and whose answers clash; `states` are those of the promise's automaton."""
    alphabet = [str(letter) for letter in range(len(actions))]
    for component in components(alphabet, actions.T.tolist()):
        if len(component.states) == 1 or states[component.states[0]] not in promise.kept:
            continue
        part = refine(component, [0] * len(component.states))
        clash = first_clash(promise, ((states[left], states[right]) for left, right in same_block(part)))
        if clash is not None:
            return part, clash
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
