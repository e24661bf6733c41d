"""Checks the witness of a decision under a promise, sharing nothing with what found it."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING

from lengthwise.oracle.crasp.components import Edge
from lengthwise.oracle.crasp.decision import MOST_PROVED
from lengthwise.oracle.crasp.verify import clash_faults, proof_faults, verify, walk

if TYPE_CHECKING:
    from lengthwise.oracle.crasp.decision import Decision
    from lengthwise.oracle.crasp.promise import Promise
    from lengthwise.oracle.crasp.promised import Confusion


def verify_found(promise: Promise, found: Decision) -> list[str]:
    """The counts hold, and on words that are asked the states they tell apart, with the letter, settle every answer.

    Both automata are run side by side on all words that are asked, with the phase and the window, until no new states
    come.
    """
    faults = verify(found) if found.member else ["the decision does not pass"]
    known: dict[tuple[int, int], Hashable] = {}
    seen = {(promise.dfa.start, 0)}
    for state, place in (queue := list(seen)):
        for letter, answer in enumerate(promise.answers[state]):
            if answer is not None and known.setdefault((place, letter), answer) != answer:
                return [*faults, f"state {place} of the smaller automaton would have to give two answers"]
        for letter, (to,) in promise.moves(state):
            target = (to, found.product.transitions[place][letter])
            if target not in seen:
                seen.add(target)
                queue.append(target)
    return faults


def verify_confusion(promise: Promise, confusion: Confusion) -> list[str]:
    """The words lead to the two states through kept ones, the answers clash, and no count tells the states apart."""
    dfa, faults = promise.dfa, []
    states = confusion.component.states
    block = dict(zip(states, confusion.blocks, strict=True))
    clash = confusion.clash
    if not promise.kept.issuperset(states):
        faults.append("the component is not asked")
    if clash.left == clash.right or block[clash.left] != block[clash.right]:
        faults.append("the two states are one, or do not share a block")
    for word, state in ((confusion.left_word, clash.left), (confusion.right_word, clash.right)):
        if walk(dfa.alphabet, dfa.transitions, dfa.start, word) != state:
            faults.append(f"the word {' '.join(word)!r} does not lead to {state}")
    faults += clash_faults(promise, clash)
    moves = [
        Edge(state, letter, target)
        for state in states
        for letter, target in zip(dfa.alphabet, dfa.transitions[state], strict=True)
        if target in block
    ]
    if confusion.proofs or len(states) <= MOST_PROVED:
        faults += proof_faults(moves, confusion.proofs, block)
    return faults
