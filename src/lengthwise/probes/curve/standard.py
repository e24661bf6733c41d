"""The standard by which every run is judged, stated once: when a model has *learned*, and when it *holds*.

A run has **learned** when exact match is at least 95 % at every measured size of its training range, so that its reach
is at least the training size. It **holds** at k times the training size when exact match stays at 95 % or more at every
measured size up to there; k is 3, or as far as was measured if that is less. Every size is measured unless the curve
has a geometric grid.

Both ask only for sizes that exist: a task that has sizes 4, 8 and 12 and was trained to 10 has learned when it is right
at 4 and 8. Both are None where the question has no answer: `learned` where no size of the training range was measured
or where answers are drawn at random, so that exact match means nothing; `holds` where the run has not learned, since
failing inside the training range says nothing about longer inputs, or where nothing was measured beyond that range.

Runs that differ in their seed alone form a cell. A cell is learned when at least one of its seeds is (and passes the
study's `keep` rule, if it has one); its numbers are over the seeds that learned, and it holds when more than half of
those seeds hold (`lengthwise.studies.cells`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from statistics import NormalDist

from lengthwise.records import Interval

THRESHOLD = 0.95
FURTHEST = 3.0  # training sizes: as far as a run is judged
ADVICE = "train longer (steps), use a deeper model (depth) or try another learning rate (rate)"


@dataclass(frozen=True)
class Standing:
    """What a run did by the standard; `multiple` is how many training sizes `holds` is about."""

    learned: bool | None
    holds: bool | None
    multiple: float


def standing(shares: Iterable[tuple[int, float]], train_size: int, measured_to: int, certain: bool = True) -> Standing:
    """How a run stands: from its (size, exact match), its training size and the size that measuring was asked to go to.

    `certain` is False where the task draws its answers at random.
    """
    last = min(FURTHEST * train_size, measured_to)
    inside, beyond = [], []
    for size, share in shares:
        if size <= max(last, train_size):
            (inside if size <= train_size else beyond).append(share >= THRESHOLD)
    learned = all(inside) if inside and certain else None
    holds = all(beyond) if beyond and learned else None
    return Standing(learned, holds, last / train_size if train_size else 0.0)


def wilson(right: int, items: int, level: float = 0.95) -> Interval:
    """Wilson's score interval for a probability after `right` successes in `items` independent trials.

    The p for which |right / items - p| <= z sqrt(p (1 - p) / items), z the two-sided normal quantile of `level`
    (wilson1927). It never leaves [0, 1] and keeps a width when all or none succeed.
    """
    if not 0 <= right <= items or items < 1:
        raise ValueError(f"{right} of {items} is not a frequency")
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    share = right / items
    middle = (share + z2 / (2 * items)) / (1 + z2 / items)
    half = math.sqrt(z2 * (share * (1 - share) / items + z2 / (4 * items**2))) / (1 + z2 / items)
    low = 0.0 if right == 0 else middle - half
    high = 1.0 if right == items else middle + half
    return Interval(low, high, level, "Wilson")


def least_items(level: float = 0.95) -> int:
    """The least number of items per size that can establish 95 %: with all of them right, Wilson's interval, which
    begins at n / (n + z^2), begins at 95 % or above."""
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    return math.ceil(z2 * THRESHOLD / (1 - THRESHOLD))


def too_few_items(items: int) -> list[str]:
    """A warning where even a model without a mistake could not be shown to be right in 95 % of items; else nothing."""
    if items < 1 or items >= least_items():
        return []
    low = wilson(items, items).low
    return [
        f"{items} {'item' if items == 1 else 'items'} per size cannot establish an exact match of {THRESHOLD:.0%}: "
        f"even with all of them right, the 95 % interval begins at {100 * low:.1f} %. Use {least_items()} or more"
    ]
