"""The decision where only some words are asked, without positions.

Yes: counts tell apart all states that must be, in an automaton in which the others were made one. No: two states of one
component that no count tells apart, and a suffix that is asked after both with different answers; the words that show
it pass through kept states alone, so that they are really asked. What is neither is unknown. Both proofs are in
docs/crasp.md.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from lengthwise.oracle.crasp.components import Component, components
from lengthwise.oracle.crasp.decide import refinements
from lengthwise.oracle.crasp.decision import FORCED, MOST_PROVED, PROOF, TOO_LARGE, Decision
from lengthwise.oracle.crasp.joining import joined
from lengthwise.oracle.crasp.potentials import Forced, forced
from lengthwise.oracle.crasp.product import Product, product
from lengthwise.oracle.crasp.promise import Clash, Promise, first_clash, written
from lengthwise.oracle.crasp.refine import refine, same_block
from lengthwise.oracle.crasp.words import Word, shortest_word, spelled
from lengthwise.records import Assumption, Claim

NAME = "a C-RASP[] program answers all that is asked"
SEEN = Assumption(
    "the states that counts distinguish settle every answer; the counts were recomputed on every move", "checked"
)


@dataclass(frozen=True)
class Confusion:
    """Two states of one component that no count tells apart, words to them, and how their answers clash.

    `blocks` is the partition of the component that counting cannot refine; `proofs` shows it, unless the component has
    more than MOST_PROVED states.
    """

    component: Component
    blocks: tuple[int, ...]
    left_word: Word
    right_word: Word
    clash: Clash
    proofs: tuple[Forced, ...]

    def sentence(self) -> str:
        left, right, suffix = spelled(self.left_word), spelled(self.right_word), spelled(self.clash.suffix)
        ends = f"Counting cannot distinguish words that lead where {left} leads from words that lead where {right} does"
        answers = f"{written(self.clash.answer)} after the first and {written(self.clash.other)} after the second"
        if not self.clash.at_end:
            return f"{ends}; followed by {suffix}, they need different tags: {answers}."
        return f"{ends}; followed by {suffix} and read to the end, they need different answers: {answers}."


@dataclass(frozen=True)
class PromisedDecision:
    """Whether counting answers all that is asked. `found` is the decision on the automaton that does, with states of
    `promise.dfa` joined where that is needed; `member` is None where neither that nor a confusion was found."""

    promise: Promise
    found: Decision | None
    confusion: Confusion | None

    @property
    def member(self) -> bool | None:
        return True if self.found else False if self.confusion else None

    def claim(self) -> Claim:
        """The conclusion. The witness is checked again here, without what found it."""
        from lengthwise.oracle.crasp.verify_promise import verify_confusion, verify_found

        faults = verify_found(self.promise, self.found) if self.found else []
        faults += verify_confusion(self.promise, self.confusion) if self.confusion else []
        if faults:
            raise AssertionError(f"the witness does not hold: {faults[0]}")
        evidence: dict[str, Any] = {"states": len(self.promise.dfa.transitions)}
        if self.found is not None:
            evidence["told_apart"] = told_apart(self.promise, self.found)
            return Claim(NAME, True, "", "proved", assumptions=(SEEN,), reference=PROOF, evidence=evidence)
        if self.confusion is None:
            return Claim(NAME, None, "", "proved", "unknown", reference=PROOF, evidence=evidence)
        evidence["words"] = [list(self.confusion.left_word), list(self.confusion.right_word)]
        evidence["suffix"] = list(self.confusion.clash.suffix)
        seen = FORCED if self.confusion.proofs else TOO_LARGE
        return Claim(NAME, False, "", "proved", "refuted", None, (seen,), PROOF, evidence)

    def explain(self) -> list[str]:
        if self.found is not None:
            return found_sentences(self.promise, self.found)
        if self.confusion is not None:
            return ["No C-RASP[] program exists for what the task asks.", self.confusion.sentence()]
        return [
            "It is not known whether a C-RASP[] program exists for what the task asks: none was found, and nothing was "
            "found that shows there is none."
        ]

    def plain(self) -> dict[str, Any]:
        """The decision as JSON-ready data."""
        clash = None if self.confusion is None else asdict(self.confusion.clash)
        return {"class": "C-RASP[]", "member": self.member, "clash": clash, "explanation": self.explain()}


def decide_promised(promise: Promise) -> PromisedDecision:
    """Decide whether counting answers all that is asked."""
    machine = product(promise.dfa, 1, 0)
    assert machine is not None
    if (found := passing(promise, 1, 0, machine)) is not None:
        return PromisedDecision(promise, found, None)
    return PromisedDecision(promise, None, _confusion(promise))


def passing(promise: Promise, period: int, window: int, machine: Product) -> Decision | None:
    """The decision that passes on a product made before: on the product itself, or else on what is left of it when
    states are joined."""
    parts = refinements(machine)
    if parts[-1].passes:
        return Decision(promise.dfa, period, window, machine, parts, None)
    if promise.whole:  # every word is asked, so that no two states of a minimal automaton can be made one
        return None
    smaller = joined(promise, machine)
    larger = smaller and product(smaller, period, window)  # the same states, and those in which other words go on
    return Decision(smaller, period, window, larger, refinements(larger), None) if smaller and larger else None


def told_apart(promise: Promise, found: Decision) -> int:
    """How many states the counts tell apart, of those that words which are asked pass through."""
    return len(promise.kept) if found.dfa == promise.dfa else len(found.dfa.transitions) - 1


def found_sentences(promise: Promise, found: Decision) -> list[str]:
    """Why counting is enough."""
    if found.dfa == promise.dfa:
        return found.explain()
    apart = told_apart(promise, found)
    known = "the last symbol" if found.exact else "what the last symbols and the position show"
    verdict = f"A {found.language_class} program exists: counting distinguishes all states that need different answers."
    if apart == 1:
        return [verdict, f"Nothing has to be counted: {known} settles every answer."]
    return [verdict, f"The program follows {apart} classes of inputs, and {known} settles every answer inside them."]


def _confusion(promise: Promise) -> Confusion | None:
    """The states of one component that counting cannot tell apart and whose answers clash after the shortest suffix."""
    parts = [
        refine(component, [0] * len(component.states))
        for component in components(promise.dfa.alphabet, promise.dfa.transitions)
        if component.states[0] in promise.kept  # kept as a whole or not at all, as its states lead to each other
    ]
    clash = first_clash(promise, (pair for part in parts for pair in same_block(part)))
    if clash is None:
        return None
    part = next(part for part in parts if clash.left in part.component.states)
    words = [
        shortest_word(promise.dfa.alphabet, promise.dfa.transitions, promise.dfa.start, state)
        for state in (clash.left, clash.right)
    ]
    assert words[0] is not None and words[1] is not None
    small = len(part.component.states) <= MOST_PROVED
    proofs = forced(part.component, part.blocks) if small else ()
    return Confusion(part.component, part.blocks, words[0], words[1], clash, proofs)
