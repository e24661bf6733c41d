"""The witnesses of a decision in words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from lengthwise.oracle.crasp.potentials import Forced, Kind
from lengthwise.oracle.crasp.product import Product
from lengthwise.oracle.crasp.refine import Refinement, Term
from lengthwise.oracle.crasp.words import spelled

if TYPE_CHECKING:
    from lengthwise.oracle.crasp.decision import Blocked

MOST_VALUES = 24  # states whose values are written out, and components that are described one by one
MOST_MOVES = 8  # moves of a proof that are written out


def separating_sentences(product: Product, refinements: Iterable[Refinement]) -> list[str]:
    """For every component of several states, the counts that part them."""
    several = [part for part in refinements if len(part.component.states) > 1]
    if not several:
        return ["Every state is left for good once it is left, so that the run is known from what was ever read."]
    sentences = []
    for part in several[:MOST_VALUES]:
        for number, round in enumerate(part.rounds, 1):
            for term in round.terms:
                sentences.append(_term_sentence(product, part, number, round.before, term))
    if len(several) > MOST_VALUES:
        sentences.append(f"The other {len(several) - MOST_VALUES} components pass likewise.")
    return sentences


def _term_sentence(product: Product, part: Refinement, number: int, blocks: Sequence[int], term: Term) -> str:
    states = part.component.states
    values = [f"{value} at {product.name(state)}" for state, value in zip(states, term.values, strict=True)]
    hidden = len(values) - MOST_VALUES
    shown = ", ".join(values[:MOST_VALUES]) + (f" and so on for {hidden} more" if hidden > 0 else "")
    count = count_text(product, states, blocks, term.weights)
    return f"Round {number}, inside {_set(product, states)}: {count} is {shown}."


def count_text(
    product: Product, states: Sequence[int], blocks: Sequence[int], weights: Iterable[tuple[Kind, int]]
) -> str:
    """`#a - 2 #b`; a letter stands between the blocks its move joins where there are several blocks."""
    text = ""
    for (letter, source, target), weight in sorted(weights, key=lambda pair: pair[1] < 0):
        move = f"#{letter}"
        if len(set(blocks)) > 1:
            ends = [
                _set(product, [s for s, b in zip(states, blocks, strict=True) if b == end]) for end in (source, target)
            ]
            move = f"#({ends[0]} {letter} {ends[1]})"
        size = "" if abs(weight) == 1 else f"{abs(weight)} "
        sign = ("-" if weight < 0 else "") if not text else (" - " if weight < 0 else " + ")
        text += f"{sign}{size}{move}"
    return text or "0"


def blocked_sentences(product: Product, blocked: Blocked) -> list[str]:
    """Why two states cannot be told apart, and why that matters."""
    left, right = product.name(blocked.left), product.name(blocked.right)
    yes, no = (left, right) if blocked.accepted_from_left else (right, left)
    sentences = [
        f"After {spelled(blocked.left_word)} and after {spelled(blocked.right_word)} the automaton is in states {left} "
        f"and {right}; both lie on one cycle ({spelled(blocked.forth)} leads from {left} to {right}, "
        f"{spelled(blocked.back)} back), and no weighted count of moves is 0 around every cycle and differs between "
        "them.",
        f"They must be distinguished: {spelled(blocked.suffix)} is accepted from {yes} and not from {no}.",
    ]
    proof = _proof_between(blocked)
    if proof is not None and len(proof.moves) <= MOST_MOVES:
        sentences.append(_proof_sentence(product, blocked, proof))
    if len(set(blocked.blocks)) > 1:
        members: dict[int, list[int]] = {}
        for state, block in zip(blocked.component.states, blocked.blocks, strict=True):
            members.setdefault(block, []).append(state)
        parts = " ".join(_set(product, group) for group in list(members.values())[:MOST_VALUES])
        sentences.append(f"Counting splits the component into {parts} and no further.")
    return sentences


def _proof_between(blocked: Blocked) -> Forced | None:
    return next((p for p in blocked.proofs if {p.state, p.other} == {blocked.left, blocked.right}), None)


def _proof_sentence(product: Product, blocked: Blocked, proof: Forced) -> str:
    scale = "" if proof.scale == 1 else f"{proof.scale} "
    moves = ""
    for edge, factor in proof.moves:
        sign = ("-" if factor < 0 else "") if not moves else (" - " if factor < 0 else " + ")
        size = "" if abs(factor) == 1 else f"{abs(factor)} "
        moves += f"{sign}{size}({product.name(edge.source)} {edge.letter} {product.name(edge.target)})"
    alike = "the same letter" if len(set(blocked.blocks)) == 1 else "the same letter between the same parts"
    names = product.name(proof.state), product.name(proof.other)
    return (
        f"Indeed {scale}(value at {names[0]} - value at {names[1]}) is the sum of the changes along {moves}, in which "
        f"moves of {alike} have one weight and cancel."
    )


def _set(product: Product, states: Sequence[int]) -> str:
    names = [product.name(state) for state in states[:MOST_VALUES]]
    return "{" + ", ".join(names) + (", ..." if len(states) > MOST_VALUES else "") + "}"
