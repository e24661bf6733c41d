"""Which size is drawn at which step of training: an idea of its own, apart from the loop and from testing.

A schedule sees the sizes that exist in the training range, in increasing order, how far training has come (0 to 1),
and one uniform number, and names a size. It keeps no state, so training can resume at any step.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.registry import Registry


class SizeSchedule(abc.ABC):
    """A rule for the size of each batch. A subclass is a frozen dataclass of settings."""

    @abc.abstractmethod
    def draw(self, sizes: Sequence[int], progress: float, uniform: float) -> int:
        """One of `sizes`, given the share of training done and a number drawn uniformly from [0, 1)."""


schedules: Registry[SizeSchedule] = Registry(
    "size schedule",
    "lengthwise.training.lengths",
    "lengthwise.schedules",
    base=SizeSchedule,
    contract="lengthwise.testing:check_schedule",
)


@schedules.register("uniform")
@dataclass(frozen=True)
class UniformSizes(SizeSchedule):
    """Every size of the training range equally often."""

    def draw(self, sizes: Sequence[int], progress: float, uniform: float) -> int:  # noqa: ARG002
        return sizes[int(uniform * len(sizes))]


@schedules.register("fixed")
@dataclass(frozen=True)
class Fixed(SizeSchedule):
    """Only one size: the largest of the range, or the one given."""

    size: int = 0

    def draw(self, sizes: Sequence[int], progress: float, uniform: float) -> int:  # noqa: ARG002
        if self.size and self.size not in sizes:
            raise UsageError(f"the fixed size {self.size} is not in the training range {sizes[0]} to {sizes[-1]}")
        return self.size or sizes[-1]


@schedules.register("increasing")
@dataclass(frozen=True)
class Increasing(SizeSchedule):
    """Uniform up to a ceiling that rises from the smallest size to the largest over a share of training."""

    share: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise UsageError(f"increasing needs a share of training in (0, 1], not {self.share}")

    def draw(self, sizes: Sequence[int], progress: float, uniform: float) -> int:
        open_sizes = max(1, math.ceil(min(1.0, progress / self.share) * len(sizes)))
        return sizes[int(uniform * open_sizes)]


@schedules.register("long_first")
@dataclass(frozen=True)
class LongFirst(SizeSchedule):
    """Longer sizes more often: the k-th from the top has weight ratio**k (the reverse-exponential curriculum)."""

    ratio: float = 0.9

    def __post_init__(self) -> None:
        if not 0 < self.ratio < 1:
            raise UsageError(f"long_first needs a ratio strictly between 0 and 1, not {self.ratio}")

    def draw(self, sizes: Sequence[int], progress: float, uniform: float) -> int:  # noqa: ARG002
        rest = 1 - self.ratio ** len(sizes)
        from_top = int(math.log1p(-uniform * rest) / math.log(self.ratio))
        return sizes[len(sizes) - 1 - min(from_top, len(sizes) - 1)]
