"""The decision with positions: a search over periods and windows, and a refutation of all of them.

No procedure is known that decides C-RASP[periodic, local] for every regular language. The search proves membership, the
refutation proves the contrary, and what neither reaches is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import LARGEST, product
from lengthwise.oracle.crasp.decide import PROOF, Decision
from lengthwise.oracle.crasp.promise import Promise, everything
from lengthwise.oracle.crasp.promised import SEEN, found_sentences, passing
from lengthwise.oracle.crasp.refute import Reason, Refutation, refute
from lengthwise.oracle.crasp.verify import verify_found, verify_refutation
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.languages.dfa import Dfa

PERIODS = (1, 2, 3, 4, 6)
LOCALITIES = tuple(range(11))
MOST_STATES = 10_000  # of all products that the search examines: some seconds
LEMMA = Reference("docs/crasp.md", "blocks of one length that end alike")
Tried = Literal["passes", "not_found", "too_large"]
explain(
    {
        "crasp.words_checked": "the words have one length and act as claimed, and every block is forced",
        "crasp.absolute_unknown": "It is not known whether a C-RASP[periodic, local] program exists.",
        "crasp.absolute_tried": "None was found with {tried}, and the refutation found nothing: {reason}.",
        "crasp.tried": "period {period}, window {window}",
    }
)


@dataclass(frozen=True)
class Attempt:
    """One period and window, and the outcome."""

    period: int
    locality: int
    outcome: Tried


@dataclass(frozen=True)
class Search:
    """The smallest period and window that pass, if any did, and all that were tried."""

    found: Decision | None
    tried: tuple[Attempt, ...]


def search(
    asked: Dfa | Promise,
    *,
    periods: Sequence[int] = PERIODS,
    localities: Sequence[int] = LOCALITIES,
    most_states: int = MOST_STATES,
) -> Search:
    """Try periods and windows, those that multiply the states least first, until one passes.

    The products tried have at most `most_states` states together; those beyond are left out and listed as too large.
    """
    if not periods or not localities or min(periods) < 1 or min(localities) < 0:
        raise UsageError("a search needs periods of at least 1 and localities of at least 0")
    promise, left = _promise(asked), most_states
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
            return Search(found, tuple(tried))
    return Search(None, tuple(tried))


@dataclass(frozen=True)
class AbsoluteDecision:
    """Whether a program in C-RASP[periodic, local] answers all that is asked, as far as can be told. `found` is the
    decision on the automaton that shows it, with states of `promise.dfa` joined where that is needed; `reason` is why
    no refutation was found."""

    promise: Promise
    verdict: Literal["member", "refuted", "unknown"]
    found: Decision | None
    refutation: Refutation | None
    tried: tuple[Attempt, ...]
    reason: Reason = "no_words_block"

    @property
    def dfa(self) -> Dfa:
        return self.promise.dfa

    @property
    def member(self) -> bool | None:
        """None where it is unknown."""
        return {"member": True, "refuted": False, "unknown": None}[self.verdict]

    def claim(self) -> Claim:
        """The conclusion. The witness is checked again here, without what found it."""
        key = "crasp.answers"
        evidence: dict[str, Any] = {"language_class": "C-RASP[periodic, local]"}
        if self.found is not None:
            if faults := verify_found(self.promise, self.found):
                raise AssertionError(f"the witness does not hold: {faults[0]}")
            evidence |= {"period": self.found.period, "window": self.found.locality}
            evidence["states"] = len(self.promise.dfa.transitions)
            return Claim(key, True, "", "proved", "holds", None, (SEEN,), PROOF, evidence)
        if self.refutation is not None:
            if faults := verify_refutation(self.refutation):
                raise AssertionError(f"the refutation does not hold: {faults[0]}")
            evidence["idempotent"] = list(self.refutation.idempotent)
            evidence["letters"] = [*map(list, self.refutation.letters)]
            seen = Assumption("crasp.words_checked", "checked")
            return Claim(key, False, "", "proved", "refuted", None, (seen,), LEMMA, evidence)
        evidence["tried"] = [[attempt.period, attempt.locality, attempt.outcome] for attempt in self.tried]
        return Claim(key, None, "", "proved", "unknown", reference=LEMMA, evidence=evidence)

    def explain(self) -> list[str]:
        """Sentences for a person."""
        if self.refutation is not None:
            return self.refutation.explain()
        if self.found is not None:
            return found_sentences(self.promise, self.found)
        pairs = [(a.period, a.locality) for a in self.tried if a.outcome == "not_found"]
        tried = "; ".join(sentence("crasp.tried", {"period": period, "window": window}) for period, window in pairs)
        values = {"tried": tried, "reason": sentence(f"crasp.{self.reason}")}
        return [sentence("crasp.absolute_unknown"), sentence("crasp.absolute_tried", values)]


def decide_absolute(
    asked: Dfa | Promise, *, localities: Sequence[int] = LOCALITIES, most_states: int = MOST_STATES
) -> AbsoluteDecision:
    """Without positions first; then the refutation; then the search.

    The search begins with the period with which the actions of words of length 1, 2, 3, ... repeat (a longer one sees
    nothing more in the automaton, though that is not proved here), or that of all PERIODS where it is unknown, and with
    ever larger windows; once one passes, the smallest divisor and window that do are searched for.
    """
    promise = _promise(asked)
    plainly = search(promise, periods=(1,), localities=(0,), most_states=LARGEST)
    if plainly.found:
        return AbsoluteDecision(promise, "member", plainly.found, None, plainly.tried)
    refuted = refute(promise)
    if refuted.found is not None:
        return AbsoluteDecision(promise, "refuted", None, refuted.found, plainly.tried)
    whole = refuted.stable.period if refuted.stable else math.lcm(*PERIODS)
    finest = search(promise, periods=(whole,), localities=localities, most_states=most_states)
    tried = plainly.tried + finest.tried
    if finest.found is None:  # what a divisor and a smaller window see, these see as well
        return AbsoluteDecision(promise, "unknown", None, None, tried, refuted.reason)
    divisors = [period for period in range(1, whole + 1) if whole % period == 0]
    windows = [window for window in localities if window <= finest.found.locality]
    smaller = search(promise, periods=divisors, localities=windows, most_states=most_states)
    found = smaller.found or finest.found
    return AbsoluteDecision(promise, "member", found, None, tried + smaller.tried, refuted.reason)


def _promise(asked: Dfa | Promise) -> Promise:
    return asked if isinstance(asked, Promise) else everything(asked)
