"""A table of positions without offsets: the rows beyond the training range keep their random initial values.

That is a warning and no verdict. A model that ignores its positions is not hurt by rows that were never trained: tasks
that the letters alone settle held at three times the training length with such a table (docs/findings/log.md).
"""

from __future__ import annotations

from lengthwise.messages import explain, sentence
from lengthwise.oracle.opinion import Advice, Opinion, Question, theory
from lengthwise.records import Assumption, Claim

THEORY = theory("rows", "untrained positions", ("table",), "models with a learned table of positions and no offsets")
explain(
    {
        "rows.untrained": "positions never trained",
        "rows.from_zero": "every training item starts at position 0",
        "rows.why": "Inputs of size {size} take {used} positions and training shows {trained}: the vectors of the last "
        "{untrained} are never trained. Only a model that ignores its positions is safe, and no theory here says "
        "whether training finds one.",
        "advice.offsets": "random offsets in training reach every row of the table",
    }
)


def opinions(question: Question) -> list[Opinion]:
    """Unknown, with the rows that are never trained, if use goes beyond training."""
    if question.family not in THEORY.families:
        return []
    sizes = question.task.sizes(1, question.test_size)
    shown = [size for size in sizes if size <= question.train_size]
    if not shown or shown[-1] == sizes[-1]:
        return []
    trained, used = (question.task.width(size) for size in (shown[-1], sizes[-1]))
    if used <= trained:
        return []
    evidence = {"size": sizes[-1], "trained": trained, "used": used, "untrained": used - trained}
    start = (Assumption("rows.from_zero", "checked"),)
    grounds = Claim("rows.untrained", used - trained, "positions", "certified", assumptions=start, evidence=evidence)
    offsets = Advice("encoding", "advice.offsets", (f"{question.encoding}+offset",))
    return [question.opinion(THEORY, "unknown", sentence("rows.why", evidence), grounds, changes=(offsets,))]
