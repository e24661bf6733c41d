"""The decision where only some words are asked, without positions and with them.

Yes: counts distinguish all states that must be, in an automaton in which the others were joined. No, without positions:
two states of one component that no count distinguishes, and a suffix that is asked after both with different answers;
the words that show it pass through kept states alone, so that they are really asked. Proofs: docs/explanation/crasp.md.

No procedure is known that decides C-RASP[periodic, local] for every regular language. A search over periods and windows
proves membership, a refutation of all of them the contrary, and what neither reaches is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import LARGEST, AutomatonProduct, components, product, spelled
from lengthwise.oracle.crasp.decide import PROOF, Blocked, Decision, refinements, witness
from lengthwise.oracle.crasp.promise import Promise, everything, first_clash, written
from lengthwise.oracle.crasp.refine import refine
from lengthwise.oracle.crasp.refute import Reason, Refutation, refute
from lengthwise.oracle.crasp.verify import verify_blocked, verify_found, verify_refutation
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.languages.dfa import Dfa

PERIODS = (1, 2, 3, 4, 6)
LOCALITIES = tuple(range(11))
MOST_STATES = 10_000  # of all products that the search examines: some seconds
LEMMA = Reference("docs/explanation/crasp.md", "blocks of one length that end alike")
Tried = Literal["passes", "not_found", "too_large"]
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
        "crasp.absolute_unknown": "It is not known whether a C-RASP[periodic, local] program exists.",
        "crasp.absolute_tried": "None was found with {tried}, and the refutation found nothing: {reason}.",
        "crasp.tried": "period {period}, window {window}",
    }
)


def joined(promise: Promise, machine: AutomatonProduct) -> Dfa | None:
    """The automaton that is left when states of a product of `promise.dfa` that counting cannot distinguish are joined
    until there are none; None if that automaton would have to give two answers to one question.

    On words that are asked it runs as the product does. Its last state, the only one that does not accept, is where all
    other words go. Whenever any automaton made by joining states of the product passes the decision and answers all
    that is asked, so does this one, as every such automaton joins what is joined here (docs/explanation/crasp.md).
    """
    classes = _Classes(promise, machine)
    while not classes.clash:
        rows = classes.rows()
        labels = [*(machine.label(state) for state in classes.heads), None]
        pairs = [
            pair
            for component in components(machine.alphabet, rows)
            for pair in refine(component, [labels[s] for s in component.states]).alike()
        ]
        if not pairs:
            return Dfa(machine.alphabet, rows, 0, frozenset(range(len(rows) - 1)))
        classes.join(pairs)
    return None


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
class Attempt:
    """One period and window, and the outcome."""

    period: int
    locality: int
    outcome: Tried


@dataclass(frozen=True)
class PromisedDecision:
    """Whether a program answers all that is asked: one in C-RASP[] or, where periods and windows were tried, one in
    C-RASP[periodic, local].

    `found` is the decision on the automaton that shows it, with states of `promise.dfa` joined where that is needed,
    and `refutation` shows the contrary; with neither it is unknown, and `reason` says why no refutation was found.
    """

    promise: Promise
    found: Decision | None = None
    refutation: Blocked | Refutation | None = None
    tried: tuple[Attempt, ...] = ()
    reason: Reason = "no_words_block"

    @property
    def dfa(self) -> Dfa:
        return self.promise.dfa

    @property
    def member(self) -> bool | None:
        """None where it is unknown."""
        return True if self.found else False if self.refutation else None

    def claim(self) -> Claim:
        """The conclusion. The witness is checked again here, without what found it."""
        if faults := self._faults():
            raise AssertionError(f"the witness does not hold: {faults[0]}")
        key, reference = "crasp.answers", LEMMA if self.tried else PROOF
        evidence: dict[str, Any] = {"language_class": "C-RASP[periodic, local]" if self.tried else "C-RASP[]"}
        evidence["states"] = len(self.dfa.transitions)
        if self.found is not None:
            evidence |= {"period": self.found.period, "window": self.found.locality}
            evidence["distinguished"] = _distinguished(self.promise, self.found)
            seen = Assumption("crasp.settles", "checked")
            return Claim(key, True, "", "proved", "holds", None, (seen,), PROOF, evidence)
        if self.refutation is not None:
            evidence |= self.refutation.evidence
            return Claim(key, False, "", "proved", "refuted", None, (self.refutation.seen,), reference, evidence)
        if self.tried:
            evidence["tried"] = [[attempt.period, attempt.locality, attempt.outcome] for attempt in self.tried]
        return Claim(key, None, "", "proved", "unknown", reference=reference, evidence=evidence)

    def _faults(self) -> list[str]:
        if self.found is not None:
            return verify_found(self.promise, self.found)
        if isinstance(self.refutation, Blocked):
            return verify_blocked(self.promise, self.refutation)
        return verify_refutation(self.refutation) if self.refutation else []

    def explain(self) -> list[str]:
        """Sentences for a person."""
        if self.found is not None:
            return _found_sentences(self.promise, self.found)
        if isinstance(self.refutation, Blocked):
            return [sentence("crasp.asked_blocked"), _clash_sentence(self.refutation)]
        if self.refutation is not None:
            return self.refutation.explain()
        if not self.tried:
            return [sentence("crasp.asked_unknown")]
        pairs = [{"period": a.period, "window": a.locality} for a in self.tried if a.outcome == "not_found"]
        tried = "; ".join(sentence("crasp.tried", pair) for pair in pairs)
        values = {"tried": tried, "reason": sentence(f"crasp.{self.reason}")}
        return [sentence("crasp.absolute_unknown"), sentence("crasp.absolute_tried", values)]


def _clash_sentence(blocked: Blocked) -> str:
    clash = blocked.clash
    values = {"left": spelled(blocked.left_word), "right": spelled(blocked.right_word), "suffix": spelled(clash.suffix)}
    values |= {"answer": written(clash.answer), "other": written(clash.other)}
    return sentence("crasp.answers_clash" if clash.at_end else "crasp.tags_clash", values)


def decide_promised(promise: Promise) -> PromisedDecision:
    """Decide whether counting answers all that is asked."""
    machine = product(promise.dfa, 1, 0)
    assert machine is not None
    if (found := passing(promise, 1, 0, machine)) is not None:
        return PromisedDecision(promise, found)
    # A component is kept as a whole or not at all, as its states lead to each other.
    asked = (c for c in components(machine.alphabet, machine.transitions) if c.states[0] in promise.kept)
    parts = [refine(component) for component in asked]
    clash = first_clash(promise, (pair for part in parts for pair in part.all_alike()))
    if clash is None:
        return PromisedDecision(promise)
    part = next(part for part in parts if clash.left in part.component.states)
    return PromisedDecision(promise, None, witness(machine, part, (clash.left, clash.right), clash))


def passing(promise: Promise, period: int, window: int, machine: AutomatonProduct) -> Decision | None:
    """The decision that passes on a product, or else on what remains of it when states are merged."""
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


def _found_sentences(promise: Promise, found: Decision) -> list[str]:
    """Why counting is enough."""
    if found.dfa == promise.dfa:
        return found.explain()
    classes = _distinguished(promise, found)
    values = {"classes": classes, "language_class": found.language_class}
    values["known"] = sentence("crasp.last_symbol" if found.exact else "crasp.window")
    how = "crasp.nothing_counted" if classes == 1 else "crasp.follows"
    return [sentence("crasp.asked_member", values), sentence(how, values)]


def search(
    asked: Dfa | Promise,
    *,
    periods: Sequence[int] = PERIODS,
    localities: Sequence[int] = LOCALITIES,
    most_states: int = MOST_STATES,
) -> PromisedDecision:
    """Try periods and windows, those that multiply the states least first, until one passes. The products tried have at
    most `most_states` states together; those beyond are left out and listed as too large."""
    if not periods or not localities or min(periods) < 1 or min(localities) < 0:
        raise UsageError("a search needs periods of at least 1 and localities of at least 0")
    promise, left = asked if isinstance(asked, Promise) else everything(asked), most_states
    letters = len(promise.dfa.alphabet)
    pairs = {(period, window) for period in periods for window in localities}
    tried = []
    for period, window in sorted(pairs, key=lambda pair: (pair[0] * letters ** pair[1], pair)):
        machine = product(promise.dfa, period, window, left)
        if machine is None:
            tried.append(Attempt(period, window, "too_large"))
            continue
        left -= len(machine.states)
        found = passing(promise, period, window, machine)
        tried.append(Attempt(period, window, "passes" if found else "not_found"))
        if found:
            return PromisedDecision(promise, found, None, tuple(tried))
    return PromisedDecision(promise, None, None, tuple(tried))


def decide_absolute(
    asked: Dfa | Promise, *, localities: Sequence[int] = LOCALITIES, most_states: int = MOST_STATES
) -> PromisedDecision:
    """Without positions first; then the refutation; then the search.

    The search begins with the period with which the actions of words of length 1, 2, 3, ... repeat (a longer one sees
    nothing more in the automaton, though that is not proved here), or that of all PERIODS where it is unknown, and with
    ever larger windows; once one passes, the smallest divisor and window that do are searched for.
    """
    plainly = search(asked, periods=(1,), localities=(0,), most_states=LARGEST)
    if plainly.found:
        return plainly
    promise = plainly.promise
    refuted = refute(promise)
    if refuted.found is not None:
        return replace(plainly, refutation=refuted.found)
    whole = refuted.stable.period if refuted.stable else math.lcm(*PERIODS)
    finest = search(promise, periods=(whole,), localities=localities, most_states=most_states)
    tried = plainly.tried + finest.tried
    if finest.found is None:  # what a divisor and a smaller window see, these see as well
        return PromisedDecision(promise, None, None, tried, refuted.reason)
    divisors = [period for period in range(1, whole + 1) if whole % period == 0]
    windows = [window for window in localities if window <= finest.found.locality]
    smaller = search(promise, periods=divisors, localities=windows, most_states=most_states)
    return PromisedDecision(promise, smaller.found or finest.found, None, tried + smaller.tried, refuted.reason)
