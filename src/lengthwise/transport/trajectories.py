"""What a trajectory is, and a weighted sample of them in which equal ones are merged.

A trajectory is a sequence of tokens: a prompt with its answer, a chain of thought, a search trace. It may carry a depth
profile (how deep in the search tree each step is) and named numbers of the user's own. Where no profile is given, the
depth is counted from the brackets among the tokens, as a traversal of a tree writes them.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints

# A bracket is one of these signs, perhaps with the number of its kind behind it, as `(4` and `)4`.
_BRACKET = re.compile(r"([(\[{<])|([)\]}>])")
_WEIGHT_SLACK = 1e-6


@dataclass(frozen=True)
class Trajectory:
    """Tokens, and what else is known of them; two trajectories are equal when all of it is.

    `asked` is how many of the tokens are the question, where the rest is its answer; None where nothing divides them.
    """

    tokens: tuple[str, ...]
    depth: tuple[float, ...] | None = None
    features: tuple[tuple[str, float], ...] = ()
    asked: int | None = None

    def __post_init__(self) -> None:
        if not self.tokens:
            raise UsageError("the trajectory is empty; it has one token or more")
        if "" in self.tokens:
            raise UsageError("a token of the trajectory is empty; a token is non-empty text")
        if self.depth is not None and (not self.depth or not all(math.isfinite(x) and x >= 0 for x in self.depth)):
            raise UsageError(
                f"a depth profile must be one or more finite numbers from 0 on, not {list(self.depth)[:8]}"
            )
        for name, value in self.features:
            if not math.isfinite(value):
                raise UsageError(f"the feature {name!r} is {value}; a feature is a finite number")

    def profile(self) -> Floats:
        """The depth at every step: as given, or the number of open brackets after every token.

        A closing bracket that closes nothing leaves the depth at 0.
        """
        if self.depth is not None:
            return np.array(self.depth, dtype=np.float64)
        steps = np.array([_step(token) for token in self.tokens], dtype=np.float64)
        heights = steps.cumsum()
        return heights - np.minimum(np.minimum.accumulate(heights), 0.0)


@functools.lru_cache(maxsize=65536)
def _step(token: str) -> int:
    found = _BRACKET.match(token)
    if found is None or (len(token) > 1 and not token[1:].isdigit()):
        return 0
    return 1 if found[1] else -1


@dataclass(frozen=True, eq=False)
class Sample:
    """Items drawn from one distribution. `trajectories` are the distinct ones, in the order in which they first came;
    item i is `trajectories[owner[i]]` and has the weight `item_weights[i]`.

    `glue` stands between two tokens when a trajectory is written as text again.
    """

    name: str
    trajectories: tuple[Trajectory, ...]
    owner: Ints
    item_weights: Floats
    glue: str = " "
    weighted: bool = False

    @classmethod
    def of(
        cls, items: Iterable[Trajectory], weights: Sequence[float] | None = None, name: str = "", glue: str = " "
    ) -> Self:
        """A sample of these items. Weights are 0 or more and sum to one; without them all items weigh the same."""
        given = list(items)
        if not given:
            raise UsageError(f"the sample {name} has no trajectory; it needs at least one")
        weighed = _checked_weights(weights, len(given), name)
        kept = np.flatnonzero(weighed > 0)
        places: dict[Trajectory, int] = {}
        owner = np.array([places.setdefault(given[at], len(places)) for at in kept], dtype=np.int64)
        shares = weighed[kept] / math.fsum(weighed[kept])
        return cls(name, tuple(places), owner, shares, glue, weights is not None)

    def __len__(self) -> int:
        """The number of items, equal ones counted again."""
        return len(self.owner)

    @property
    def weights(self) -> Floats:
        """The weight of each distinct trajectory; they sum to one."""
        mass = np.bincount(self.owner, self.item_weights, len(self.trajectories))
        return mass / math.fsum(mass)

    def part(self, items: Ints, name: str = "") -> Sample:
        """The sample of these items alone, their weights raised to sum to one; an item may be there several times."""
        kept, owner = np.unique(self.owner[items], return_inverse=True)
        weights = self.item_weights[items] / self.item_weights[items].sum()
        chosen = tuple(self.trajectories[index] for index in kept)
        return Sample(name or self.name, chosen, owner.astype(np.int64), weights, self.glue, self.weighted)

    def text(self, index: int) -> str:
        """A distinct trajectory as a reader would write it."""
        return self.glue.join(self.trajectories[index].tokens)

    @functools.cached_property
    def vocabulary(self) -> frozenset[str]:
        return frozenset(token for trajectory in self.trajectories for token in trajectory.tokens)


def _checked_weights(weights: Sequence[float] | None, count: int, name: str) -> Floats:
    if weights is None:
        return np.full(count, 1 / count)
    given = np.asarray(weights, dtype=np.float64)
    where = f"the weights of {name}" if name else "the weights"
    if given.shape != (count,):
        raise UsageError(f"{where} are {given.size} numbers for {count} trajectories; give one for each")
    if not np.isfinite(given).all() or (given < 0).any():
        wrong = given[~(np.isfinite(given) & (given >= 0))][0]
        raise UsageError(f"{where} hold {wrong:g}; a weight is a finite number from 0 on")
    total = math.fsum(given)
    if abs(total - 1) > _WEIGHT_SLACK:
        raise UsageError(f"{where} sum to {total:.6g}, not to 1; divide each of them by their sum")
    return given
