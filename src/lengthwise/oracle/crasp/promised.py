"""The decision where only some words are asked, without positions.

Yes: counts distinguish all states that must be, in an automaton in which the others were joined. No: two states of one
component that no count distinguishes, and a suffix that is asked after both with different answers; the words that show
it pass through kept states alone, so that they are really asked. What is neither is unknown. Both proofs are in
docs/crasp.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import (
    AutomatonProduct,
    Component,
    Word,
    components,
    product,
    shortest_word,
    spelled,
)
from lengthwise.oracle.crasp.decide import FORCED, PROOF, TOO_LARGE, Decision, refinements
from lengthwise.oracle.crasp.promise import AnswerClash, Promise, first_clash, written
from lengthwise.oracle.crasp.refine import MOST_PROVED, Forced, forced, refine, same_block
from lengthwise.oracle.crasp.verify import verify_confusion, verify_found
from lengthwise.records import Assumption, Claim
from lengthwise.tasks.languages.dfa import Dfa

SEEN = Assumption("crasp.settles", "checked")
explain(
    {
        "crasp.answers": "a {language_class} program gives every answer that the task asks for",
        "crasp.settles": "the states that counts distinguish settle every answer; the counts were recomputed on every "
        "move",
        "crasp.asked_blocked": "No C-RASP[] program gives every answer that the task asks for.",
        "crasp.asked_unknown": "It is not known whether a C-RASP[] program gives every answer that the task asks for: "
        "none was found, and no obstruction was found.",
        "crasp.asked_member": "A {language_class} program exists: counting distinguishes all states that need "
        "different answers.",
        "crasp.tags_clash": "Counting cannot distinguish {left} from {right} in general, yet if {suffix} follows them, "
        "different symbols may come next: {answer} after the first and {other} after the second.",
        "crasp.answers_clash": "Counting cannot distinguish {left} from {right} in general, yet if {suffix} follows "
        "them, different answers are right: {answer} after the first and {other} after the second.",
        "crasp.nothing_counted": "Nothing needs to be counted: {known} settles every answer.",
        "crasp.follows": "The program follows {classes} classes of inputs, and {known} settles every answer within "
        "each.",
        "crasp.last_symbol": "the last symbol",
        "crasp.window": "the position together with the last symbols",
    }
)


def joined(promise: Promise, machine: AutomatonProduct) -> Dfa | None:
    """The automaton that is left when states of a product of `promise.dfa` that counting cannot distinguish are joined
    until there are none; None if that automaton would have to give two answers to one question.

    On words that are asked it runs as the product does. Its last state, the only one that does not accept, is where all
    other words go. Whenever any automaton made by joining states of the product passes the decision and answers all
    that is asked, so does this one, as every such automaton joins what is joined here (docs/crasp.md).
    """
    classes = _Classes(promise, machine)
    while not classes.clash:
        rows = classes.rows()
        labels = [*(machine.label(state) for state in classes.heads), None]
        pairs = [
            pair
            for component in components(machine.alphabet, rows)
            for pair in _alike(component.states, refine(component, [labels[s] for s in component.states]).blocks)
        ]
        if not pairs:
            return Dfa(machine.alphabet, rows, 0, frozenset(range(len(rows) - 1)))
        classes.join(pairs)
    return None


def _alike(states: Sequence[int], blocks: Sequence[int]) -> list[tuple[int, int]]:
    """Every state that is not the first of its block, with the first."""
    first: dict[int, int] = {}
    found = [(first.setdefault(block, state), state) for state, block in zip(states, blocks, strict=True)]
    return [(head, state) for head, state in found if head != state]


class _Classes:
    """Classes of states, closed under moves: where two states are joined, so are those that a letter leads them to, if
    the letter may be read in both. A class is named by its first state and has the moves and answers of all."""

    def __init__(self, promise: Promise, machine: AutomatonProduct) -> None:
        self.heads = [place for place, (state, *_) in enumerate(machine.states) if state in promise.kept]
        self.parent = {state: state for state in self.heads}
        self.onward = {s: [to if to in self.parent else None for to in machine.transitions[s]] for s in self.heads}
        self.answers = {s: list(promise.answers[machine.states[s][0]]) for s in self.heads}
        self.clash = False

    def rows(self) -> tuple[tuple[int, ...], ...]:
        """The moves of the classes in the order of `heads`, followed by those of the state for all other words."""
        number = {head: place for place, head in enumerate(self.heads)}
        away = len(number)
        rows = [
            tuple(away if to is None else number[self._head(to)] for to in self.onward[head]) for head in self.heads
        ]
        return (*rows, (away,) * len(rows[0]))

    def join(self, pairs: Iterable[tuple[int, int]]) -> None:
        """Join pairs of classes, given by their places in `heads`, and all that follows from it."""
        work = [(self.heads[left], self.heads[right]) for left, right in pairs]
        while work and not self.clash:
            left, right = sorted(map(self._head, work.pop()))
            if left == right:
                continue
            self.parent[right] = left
            for letter, (mine, its) in enumerate(zip(self.onward[left], self.onward[right], strict=True)):
                if mine is None:
                    self.onward[left][letter] = its
                elif its is not None:
                    work.append((mine, its))
            for place, (mine, its) in enumerate(zip(self.answers[left], self.answers[right], strict=True)):
                if mine is None:
                    self.answers[left][place] = its
                elif its is not None and its != mine:
                    self.clash = True
        self.heads = [state for state in self.heads if self.parent[state] == state]

    def _head(self, state: int) -> int:
        while self.parent[state] != state:
            self.parent[state] = state = self.parent[self.parent[state]]
        return state


@dataclass(frozen=True)
class Confusion:
    """Two states of one component that no count distinguishes, words to them, and how their answers clash.

    `blocks` is the partition of the component that counting cannot refine; `proofs` shows it, unless the component has
    more than MOST_PROVED states.
    """

    component: Component
    blocks: tuple[int, ...]
    left_word: Word
    right_word: Word
    clash: AnswerClash
    proofs: tuple[Forced, ...]

    def explain(self) -> str:
        clash = self.clash
        values = {"left": spelled(self.left_word), "right": spelled(self.right_word), "suffix": spelled(clash.suffix)}
        values |= {"answer": written(clash.answer), "other": written(clash.other)}
        return sentence("crasp.answers_clash" if clash.at_end else "crasp.tags_clash", values)


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
        faults = verify_found(self.promise, self.found) if self.found else []
        faults += verify_confusion(self.promise, self.confusion) if self.confusion else []
        if faults:
            raise AssertionError(f"the witness does not hold: {faults[0]}")
        key = "crasp.answers"
        evidence: dict[str, Any] = {"language_class": "C-RASP[]", "states": len(self.promise.dfa.transitions)}
        if self.found is not None:
            evidence["distinguished"] = _distinguished(self.promise, self.found)
            return Claim(key, True, "", "proved", assumptions=(SEEN,), reference=PROOF, evidence=evidence)
        if self.confusion is None:
            return Claim(key, None, "", "proved", "unknown", reference=PROOF, evidence=evidence)
        evidence["words"] = [list(self.confusion.left_word), list(self.confusion.right_word)]
        evidence["suffix"] = list(self.confusion.clash.suffix)
        seen = FORCED if self.confusion.proofs else TOO_LARGE
        return Claim(key, False, "", "proved", "refuted", None, (seen,), PROOF, evidence)

    def explain(self) -> list[str]:
        if self.found is not None:
            return found_sentences(self.promise, self.found)
        if self.confusion is not None:
            return [sentence("crasp.asked_blocked"), self.confusion.explain()]
        return [sentence("crasp.asked_unknown")]


def decide_promised(promise: Promise) -> PromisedDecision:
    """Decide whether counting answers all that is asked."""
    machine = product(promise.dfa, 1, 0)
    assert machine is not None
    if (found := passing(promise, 1, 0, machine)) is not None:
        return PromisedDecision(promise, found, None)
    return PromisedDecision(promise, None, _confusion(promise))


def passing(promise: Promise, period: int, window: int, machine: AutomatonProduct) -> Decision | None:
    """The decision that passes on a product made before: on the product itself, or else on what is left of it when
    states are joined."""
    parts = refinements(machine)
    if parts[-1].passes:
        return Decision(promise.dfa, period, window, machine, parts, None)
    if promise.whole:  # every word is asked, so no two states of a minimal automaton can be joined
        return None
    smaller = joined(promise, machine)
    larger = smaller and product(smaller, period, window)  # the same states, and those in which other words end
    return Decision(smaller, period, window, larger, refinements(larger), None) if smaller and larger else None


def _distinguished(promise: Promise, found: Decision) -> int:
    """How many states the counts distinguish, of those that words which are asked pass through."""
    return len(promise.kept) if found.dfa == promise.dfa else len(found.dfa.transitions) - 1


def found_sentences(promise: Promise, found: Decision) -> list[str]:
    """Why counting is enough."""
    if found.dfa == promise.dfa:
        return found.explain()
    classes = _distinguished(promise, found)
    values = {"classes": classes, "language_class": found.language_class}
    values["known"] = sentence("crasp.last_symbol" if found.exact else "crasp.window")
    how = "crasp.nothing_counted" if classes == 1 else "crasp.follows"
    return [sentence("crasp.asked_member", values), sentence(how, values)]


def _confusion(promise: Promise) -> Confusion | None:
    """Two states of a component that counting cannot distinguish and whose answers clash after the shortest suffix."""
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
