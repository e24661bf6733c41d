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
from lengthwise.oracle.crasp.decision import PROOF, Decision
from lengthwise.oracle.crasp.product import LARGEST, product
from lengthwise.oracle.crasp.promise import Promise, everything
from lengthwise.oracle.crasp.promised import SEEN, found_sentences, passing
from lengthwise.oracle.crasp.refutation import Refutation
from lengthwise.oracle.crasp.refute import refute
from lengthwise.oracle.crasp.verify import verify_refutation
from lengthwise.oracle.crasp.verify_promise import verify_found
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.languages.dfa import Dfa

PERIODS = (1, 2, 3, 4, 6)
LOCALITIES = tuple(range(11))
MOST_STATES = 10_000  # of all products that the search looks at: some seconds
LEMMA = Reference("docs/crasp.md", "blocks of one length that end alike")
NAME = "a C-RASP[periodic, local] program answers all that is asked"

Outcome = Literal["passes", "not found", "too large"]


@dataclass(frozen=True)
class Attempt:
    """One period and window, and what came of it."""

    period: int
    locality: int
    outcome: Outcome


@dataclass(frozen=True)
class Search:
    """The smallest period and window that pass, if any did, and all that were looked at."""

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

    The products tried have at most `most_states` states together; those beyond are left out, and said to be.
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
            tried.append(Attempt(period, window, "too large"))
            continue
        left -= len(machine.states)
        found = passing(promise, period, window, machine)
        tried.append(Attempt(period, window, "passes" if found else "not found"))
        if found:
            return Search(found, tuple(tried))
    return Search(None, tuple(tried))


@dataclass(frozen=True)
class AbsoluteDecision:
    """Whether a program in C-RASP[periodic, local] answers all that is asked, as far as can be told. `found` is the
    decision on the automaton that shows it, with states of `promise.dfa` joined where that is needed."""

    promise: Promise
    verdict: Literal["member", "refuted", "unknown"]
    found: Decision | None
    refutation: Refutation | None
    tried: tuple[Attempt, ...]
    reason: str = ""

    @property
    def dfa(self) -> Dfa:
        return self.promise.dfa

    @property
    def member(self) -> bool | None:
        """None where it is unknown."""
        return {"member": True, "refuted": False, "unknown": None}[self.verdict]

    def claim(self) -> Claim:
        """The conclusion. The witness is checked again here, without what found it."""
        if self.found is not None:
            if faults := verify_found(self.promise, self.found):
                raise AssertionError(f"the witness does not hold: {faults[0]}")
            evidence = {"period": self.found.period, "window": self.found.locality}
            evidence["states"] = len(self.promise.dfa.transitions)
            return Claim(NAME, True, "", "proved", "holds", None, (SEEN,), PROOF, evidence)
        if self.refutation is not None:
            if faults := verify_refutation(self.refutation):
                raise AssertionError(f"the refutation does not hold: {faults[0]}")
            seen = Assumption("the words have one length and act as said, and every block is forced", "checked")
            evidence = {
                "idempotent": list(self.refutation.idempotent),
                "letters": [*map(list, self.refutation.letters)],
            }
            return Claim(NAME, False, "", "proved", "refuted", None, (seen,), LEMMA, evidence)
        return Claim(NAME, None, "", "proved", "unknown", reference=LEMMA, evidence={"tried": self._tried()})

    def explain(self) -> list[str]:
        """Sentences for a person."""
        if self.refutation is not None:
            return self.refutation.explain()
        if self.found is not None:
            return found_sentences(self.promise, self.found)
        looked = [f"period {a.period}, window {a.locality}" for a in self.tried if a.outcome == "not found"]
        return [
            "It is not known whether a C-RASP[periodic, local] program exists.",
            f"None was found with {'; '.join(looked)}, and the refutation found nothing ({self.reason}).",
        ]

    def plain(self) -> dict[str, Any]:
        """The decision as JSON-ready data."""
        return {
            "class": "C-RASP[periodic, local]",
            "verdict": self.verdict,
            "found": None if self.found is None else self.found.plain(),
            "refutation": None if self.refutation is None else self.refutation.plain(),
            "tried": self._tried(),
            "explanation": self.explain(),
        }

    def _tried(self) -> list[list[int | str]]:
        return [[attempt.period, attempt.locality, attempt.outcome] for attempt in self.tried]


def decide_absolute(
    asked: Dfa | Promise, *, localities: Sequence[int] = LOCALITIES, most_states: int = MOST_STATES
) -> AbsoluteDecision:
    """Without positions first; then the refutation; then the search.

    The search begins with the period with which the actions of words of length 1, 2, 3, ... repeat (a longer one sees
    nothing more in the automaton, though that is not proved here), or that of all PERIODS where it is unknown, and with
    ever larger windows; once one passes, the smallest divisor and window that do are looked for.
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
