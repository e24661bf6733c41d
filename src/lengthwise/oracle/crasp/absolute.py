"""The decision with positions: a search over periods and windows, and a refutation of all of them.

No procedure is known that decides C-RASP[periodic, local] for every regular language. The search proves membership, the
refutation proves the contrary, and what neither reaches is unknown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from lengthwise.errors import UsageError
from lengthwise.oracle.crasp.automata import LARGEST, product
from lengthwise.oracle.crasp.promise import Promise, everything
from lengthwise.oracle.crasp.promised import Attempt, PromisedDecision, passing
from lengthwise.oracle.crasp.refute import refute
from lengthwise.tasks.languages.dfa import Dfa

PERIODS = (1, 2, 3, 4, 6)
LOCALITIES = tuple(range(11))
MOST_STATES = 10_000  # of all products that the search examines: some seconds


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
