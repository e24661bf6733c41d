"""Which short runs of tokens a trajectory is made of, and how often."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats
from lengthwise.transport.metrics import metrics
from lengthwise.transport.metrics.metric import Fitted, FittedVectors, Metric, Vectors
from lengthwise.transport.trajectories import Sample

_EDGE = ""  # before the first token and after the last; no token is empty, so none is taken for it
_SHOWN = "·"
_MOST = 200_000_000  # numbers of both tables together: 1.6 GB


@metrics.register("ngrams")
@dataclass(frozen=True)
class Ngrams(Metric):
    """How unlike the frequencies of runs of `n` tokens are, whatever their order.

    A trajectory, with n - 1 marks before it and after it, is the distribution p of its runs. `norm=variation` is the
    total variation sum |p - q| / 2, `norm=hellinger` is sqrt(sum (sqrt p - sqrt q)^2 / 2); both lie in [0, 1]. Two
    trajectories with the same runs in another order are not distinguished, so this is a pseudo-metric.
    """

    identity = False
    tokens = True
    fixed = True
    diameter = 1.0

    n: int = 2
    norm: Literal["variation", "hellinger"] = "variation"

    def __post_init__(self) -> None:
        if self.n < 1:
            raise UsageError(f"a run must have 1 token or more, not n={self.n}")

    def fit(self, reference: Sample) -> Fitted:  # noqa: ARG002  # nothing is taken from it
        unit = {"variation": "total variation", "hellinger": "Hellinger distance"}[self.norm]
        facts = {"standardised_on": "nothing", "n": self.n, "norm": self.norm}
        return _FittedNgrams(f"{unit} of runs of {self.n} tokens", facts, self.n, self.norm)


@dataclass(frozen=True)
class _FittedNgrams(FittedVectors):
    n: int = 2
    norm: str = "variation"

    def vectors(self, first: Sample, second: Sample) -> Vectors:
        counts = [[_runs(t.tokens, self.n) for t in sample.trajectories] for sample in (first, second)]
        known = sorted({run for table in counts for row in table for run in row})
        size = len(known) * sum(map(len, counts))
        if size > _MOST:
            raise UsageError(
                f"{len(known):,} different runs of {self.n} tokens in {sum(map(len, counts)):,} trajectories do not "
                "fit into memory; take a smaller n or fewer items"
            )
        places = {run: place for place, run in enumerate(known)}
        one, two = (self._table(rows, places) for rows in counts)
        norm = "cityblock" if self.norm == "variation" else "euclidean"
        return Vectors(one, two, tuple(" ".join(token or _SHOWN for token in run) for run in known), norm)

    def _table(self, rows: list[Counter[tuple[str, ...]]], places: dict[tuple[str, ...], int]) -> Floats:
        table = np.zeros((len(rows), len(places)))
        for row, counted in zip(table, rows, strict=True):
            row[[places[run] for run in counted]] = list(counted.values())
        table /= table.sum(axis=1, keepdims=True)
        return table / 2 if self.norm == "variation" else np.sqrt(table / 2)


def _runs(tokens: tuple[str, ...], n: int) -> Counter[tuple[str, ...]]:
    edge = (_EDGE,) * (n - 1)
    marked = (*edge, *tokens, *edge)
    return Counter(zip(*(marked[at : len(marked) - n + 1 + at] for at in range(n)), strict=True))
