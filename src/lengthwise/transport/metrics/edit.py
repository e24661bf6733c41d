"""Edit distance, normalised so that it stays a metric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats
from lengthwise.transport.metrics import metrics
from lengthwise.transport.metrics.metric import Fitted, Metric
from lengthwise.transport.trajectories import Sample

_MOST = 200_000_000  # distances in memory: 1.6 GB
_FIRST, _SURROGATES, _LAST = 0x20, range(0xD800, 0xE000), 0x10FFFF


@metrics.register("edit")
@dataclass(frozen=True)
class Edit(Metric):
    """How many tokens to insert, delete or replace, as a share: 0 for equal trajectories, 1 for the most unlike.

    With d the Levenshtein distance and |x| the number of tokens,

        D(x, y) = 2 d(x, y) / (|x| + |y| + d(x, y))                                                     (yujian2007)

    Dividing d by the longer length is not a metric: `ab` and `ba` are at 1, but each is at 1/3 from `aba`.

    D keeps the triangle inequality. Put A = d(x, y), B = d(y, z); t / (s + t) grows with t and d(x, z) <= A + B, so
    D(x, z) <= 2 (A + B) / (|x| + |z| + A + B). A word's length is its distance from the empty word, hence
    |y| <= |z| + B and |y| <= |x| + A, and so 2A / (|x| + |z| + A + B) <= 2A / (|x| + |y| + A) = D(x, y), and in the
    same way 2B / (|x| + |z| + A + B) <= D(y, z). D <= 1 because d <= |x| + |y|.
    """

    identity = True
    tokens = True
    fixed = True
    diameter = 1.0

    def fit(self, reference: Sample) -> Fitted:  # noqa: ARG002  # nothing is taken from it
        return _FittedEdit("share of the tokens edited", {"standardised_on": "nothing"})


@dataclass(frozen=True)
class _FittedEdit(Fitted):
    def distances(self, first: Sample, second: Sample) -> Floats:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cdist

        pairs = len(first.trajectories) * len(second.trajectories)
        if pairs > _MOST:
            raise UsageError(f"the metric edit compares up to {_MOST:,} pairs, not {pairs:,}; take fewer trajectories")
        signs = _signs(first.vocabulary | second.vocabulary)
        one, two = (
            ["".join(map(signs.__getitem__, t.tokens)) for t in sample.trajectories] for sample in (first, second)
        )
        edits = cdist(one, two, scorer=Levenshtein.distance, dtype=np.int32).astype(np.float64)
        lengths = [np.array([len(word) for word in words], dtype=np.float64) for words in (one, two)]
        return 2 * edits / (lengths[0][:, None] + lengths[1][None, :] + edits)


def _signs(vocabulary: frozenset[str]) -> dict[str, str]:
    """A character for each token, as the library is fastest on text; half of a surrogate pair is none."""
    if len(vocabulary) > _LAST - _FIRST - len(_SURROGATES):
        raise UsageError(f"the metric edit tells 1,112,031 tokens apart, and there are {len(vocabulary):,} here")
    codes = (code for code in range(_FIRST, _LAST + 1) if code not in _SURROGATES)
    return {token: chr(code) for token, code in zip(sorted(vocabulary), codes, strict=False)}
