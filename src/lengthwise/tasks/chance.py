"""What guessing scores: the best guess that ignores the input.

Exact where a task knows the distribution of its answers. Elsewhere an estimate with its standard error: a sample is cut
into halves, and the best guess of each half is scored on the other. Scored on the items it was chosen on, the commonest
answer would look better than it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.seeds import Floats, Ints
from lengthwise.tasks.batch import NOTHING, Readout

ROUNDING = 1e-9  # two numbers exactly a tolerance apart count as that close


@dataclass(frozen=True)
class Chance:
    """What the best guess that ignores the input scores, on the whole answer and on a symbol of it: the same answer for
    every item of a size, or, where every position is tagged, the same tag everywhere. The errors are standard errors,
    0 where the value is exact."""

    exact: float
    token: float
    exact_error: float = 0.0
    token_error: float = 0.0

    def knowing(self, exact: float) -> Chance:
        """With the share of whole answers known and not estimated."""
        return replace(self, exact=exact, exact_error=0.0)


def log_choose(n: ArrayLike, k: ArrayLike) -> Floats:
    """ln C(n, k), finite at every size, for whole numbers that broadcast; minus infinity where there is no choice."""
    n, k = np.broadcast_arrays(np.asarray(n, dtype=np.int64), np.asarray(k, dtype=np.int64))
    inside = (k >= 0) & (k <= n)
    n, k = np.where(inside, n, 0), np.where(inside, k, 0)
    logs = np.append(0.0, np.log(np.arange(1, n.max(initial=0) + 1)).cumsum())  # ln of the factorials
    return np.where(inside, logs[n] - logs[k] - logs[n - k], -np.inf)


class _Score(NamedTuple):
    """What a guess gets right, item by item: the whole answer, how many of its symbols, and of how many."""

    right: np.ndarray
    hits: np.ndarray
    symbols: np.ndarray


def chance_of_sample(answers: Ints | Floats, readout: Readout, tolerance: float = 0.0) -> Chance:
    """Estimated on a sample of answers [items, width]: the guess of each half is scored on the other."""
    one, other = answers[::2], answers[1::2]
    return _summed([_score(one, other, readout, tolerance), _score(other, one, readout, tolerance)])


def chance_between(known: Ints | Floats, judged: Ints | Floats, readout: Readout, tolerance: float = 0.0) -> Chance:
    """Estimated on two samples: the guess is chosen on the answers `known` and scored on those `judged`."""
    return _summed([_score(known, judged, readout, tolerance)])


def _score(known: Ints | Floats, judged: Ints | Floats, readout: Readout, tolerance: float) -> _Score:
    if not len(known):
        right = np.zeros(len(judged), dtype=bool)
        return _Score(right, right.astype(np.int64), (judged != NOTHING).sum(axis=1))
    if readout == "numbers":
        return _score_numbers(known, judged, tolerance)
    return (_score_tags if readout == "tags" else _score_answers)(known, judged)


def _score_answers(known: Ints | Floats, judged: Ints | Floats) -> _Score:
    """The commonest answer, and the commonest symbol of each place."""
    answer = Counter(map(bytes, np.ascontiguousarray(known))).most_common(1)[0][0]
    right = np.array([bytes(row) == answer for row in np.ascontiguousarray(judged)], dtype=bool)
    places = [np.bincount(column[column != NOTHING].astype(np.int64), minlength=1).argmax() for column in known.T]
    hits = (judged == np.array(places, dtype=judged.dtype)).sum(axis=1)
    return _Score(right, hits, (judged != NOTHING).sum(axis=1))


def _score_tags(known: Ints | Floats, judged: Ints | Floats) -> _Score:
    """The tag that most often stands everywhere in an item (the commonest one if none does), and the commonest."""
    flat = known[known != NOTHING].astype(np.int64)
    common = int(np.bincount(flat).argmax())
    alone = [int(row[row != NOTHING][0]) for row in known if len(set(row[row != NOTHING].tolist())) == 1]
    whole = Counter(alone).most_common(1)[0][0] if alone else common
    right = ((judged == whole) | (judged == NOTHING)).all(axis=1)
    return _Score(right, (judged == common).sum(axis=1), (judged != NOTHING).sum(axis=1))


def _score_numbers(known: Ints | Floats, judged: Ints | Floats, tolerance: float) -> _Score:
    """The vector that most are near in every entry. O(known**2 x entries)."""
    near = np.ones((len(known), len(known)), dtype=bool)
    for entry in known.T:
        near &= np.abs(entry[:, None] - entry) <= tolerance + ROUNDING
    guess = known[near.sum(axis=1).argmax()]
    close = np.abs(judged - guess) <= tolerance + ROUNDING
    hits = close.sum(axis=1)
    return _Score(hits == judged.shape[1], hits, np.full(len(judged), judged.shape[1]))


def _summed(scores: Sequence[_Score]) -> Chance:
    """The shares with their standard errors; that of whole answers is Agresti and Coull's, which is never 0."""
    right, hits, symbols = (np.concatenate(part) for part in zip(*scores, strict=True))
    items, total = len(right), max(int(symbols.sum()), 1)
    middle = (right.sum() + 2) / (items + 4)
    token = hits.sum() / total
    return Chance(
        exact=float(right.mean()),
        token=float(token),
        exact_error=float(np.sqrt(middle * (1 - middle) / (items + 4))),
        token_error=float(np.sqrt(((hits - token * symbols) ** 2).sum()) / total),
    )
