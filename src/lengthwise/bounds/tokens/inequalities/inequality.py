"""What an inequality must give so that a bound can be made from it, on all data or on a sample of them."""

from __future__ import annotations

import abc
import functools
import math
from typing import ClassVar

from lengthwise.bounds.risk import Term
from lengthwise.seeds import Floats

Ends = tuple[float, float]  # the least and the most that something can be
Step = float | None  # None for an inequality that has none
STEPS = 64  # measured: 64 steps are within 1 % of the best step there is (tests/bounds/tokens/test_inequalities.py)


class Inequality(abc.ABC):
    """An inequality of the shape: the risk is at most `total` of a mean of `values`.

    x, the losses, lie between their `ends`; y is what the model expected of them, known before they were seen. For
    every step of `steps` the inequality holds with a probability that `complexity` pays for, so that the best step may
    be looked for. The mean is over all data: where only a sample of it is at hand, whoever calls bounds that mean,
    for which `value_ends` says between what numbers a value can lie.
    """

    name: ClassVar[str]

    def steps(self, complexity: float) -> tuple[Step, ...]:
        """The settings that may be chosen from after the data were seen. Their number never changes: it is paid for."""
        return step_grid(complexity, STEPS)

    @abc.abstractmethod
    def values(self, x: Floats, y: Floats, ends: Ends, step: Step | Floats, complexity: float) -> Floats:
        """What is to be averaged, for each loss; many steps at once give a column each to a column of losses."""

    @abc.abstractmethod
    def value_ends(self, ends: Ends, step: Step, complexity: float) -> Ends:
        """The least and the most that a value can be, whatever the losses."""

    @abc.abstractmethod
    def total(self, mean: float, ends: Ends, step: Step, complexity: float) -> float:
        """The bound of the risk, from the mean of the values (or from more than it: it never falls with the mean)."""

    @abc.abstractmethod
    def terms(self, loss: float, total: float, ends: Ends, complexity: float) -> list[Term]:
        """What is added to the mean loss to give the total, by name."""


@functools.lru_cache(maxsize=64)
def step_grid(complexity: float, count: int) -> tuple[float, ...]:
    """`count` steps between 0 and 1, evenly spaced in ln(s / (1 - s)), from about √C / 2 up to 0.999.

    A best step is about √(2C / variance) with a variance of at most 1 and cannot be much below √C.
    """
    least = min(math.sqrt(complexity) / 2, 0.5)
    first, last = math.log(least / (1 - least)), math.log(999.0)
    return tuple(1 / (1 + math.exp(-(first + (last - first) * i / (count - 1)))) for i in range(count))
