"""What guessing scores: the best guess that ignores the input, on a sample of answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from lengthwise.seeds import Floats, Ints
from lengthwise.tasks.batch import NOTHING

ROUNDING = 1e-9  # two numbers exactly a tolerance apart count as that close


@dataclass(frozen=True)
class Chance:
    """What the best guess that ignores the input scores, on the whole answer and on a token of it: the same answer for
    every item of a size, or, where every position is tagged, the same tag everywhere."""

    exact: float
    token: float


def chance_of_answers(answers: Ints | Floats) -> Chance:
    """The commonest answer, and the commonest token of each place. An answer seen once counts as never guessed."""
    count = Counter(map(bytes, np.ascontiguousarray(answers))).most_common(1)[0][1]
    columns = [np.bincount(column[column != NOTHING]).max() for column in answers.T if (column != NOTHING).any()]
    return Chance(count / len(answers) if count > 1 else 0.0, float(sum(columns) / (answers != NOTHING).sum()))


def chance_of_tags(tags: Ints | Floats) -> Chance:
    """The commonest tag, written everywhere."""
    flat = tags[tags != NOTHING]
    best = int(np.bincount(flat).argmax())
    alike = ((tags == best) | (tags == NOTHING)).all(axis=1)
    return Chance(float(alike.mean()), float((flat == best).mean()))


def chance_of_numbers(vectors: Ints | Floats, tolerance: float) -> Chance:
    """The vector of the sample that most are near in every entry. O(items**2 x entries)."""
    near = np.ones((len(vectors), len(vectors)), dtype=bool)
    for entry in vectors.T:
        near &= np.abs(entry[:, None] - entry) <= tolerance + ROUNDING
    share = float(near.mean(axis=1).max())
    return Chance(share, share)
