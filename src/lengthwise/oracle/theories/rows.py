"""A table of positions without offsets: the rows beyond the training range keep their random start.

That is a warning and no verdict. A model that makes nothing of its positions is not hurt by rows that were never
trained: tasks that the letters alone settle held at three times the training length with such a table (docs/log.md).
"""

from __future__ import annotations

from lengthwise.oracle.opinion import Advice, Opinion, Theory
from lengthwise.oracle.theories.question import Question
from lengthwise.records import Assumption, Claim

THEORY = Theory("untrained positions", "models with a learned table of positions and no offsets", frozenset({"table"}))


def opinions(question: Question) -> list[Opinion]:
    """Unknown, with what is never trained, if use goes beyond training."""
    if question.family not in THEORY.families:
        return []
    sizes = question.task.sizes(1, question.test_size)
    shown = [size for size in sizes if size <= question.train_size]
    if not shown or shown[-1] == sizes[-1]:
        return []
    trained, used = (question.task.width(size) for size in (shown[-1], sizes[-1]))
    if used <= trained:
        return []
    why = (
        f"Inputs of size {sizes[-1]} take {used} positions and training shows {trained}: the vectors of the last "
        f"{used - trained} are never trained. Only a model that makes nothing of its positions is safe from them, and "
        "no theory here says whether training finds one."
    )
    grounds = Claim(
        key="positions never trained",
        value=used - trained,
        unit="positions",
        kind="certified",
        assumptions=(Assumption("every item of training starts at position 0", "checked"),),
        evidence={"trained": trained, "used": used},
    )
    offsets = Advice("encoding", "random offsets in training reach every row of the table", (_with_offsets(question),))
    return [question.opinion(THEORY, "unknown", why, grounds, changes=(offsets,))]


def _with_offsets(question: Question) -> str:
    return f"{question.encoding}+offset"
