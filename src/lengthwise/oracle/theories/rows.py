"""A table of positions without offsets: the rows beyond the training range keep their random start."""

from __future__ import annotations

from lengthwise.oracle.opinion import Opinion
from lengthwise.oracle.theories.question import Question
from lengthwise.records import Assumption, Claim, Reference

THEORY = "untrained positions"


def opinions(question: Question) -> list[Opinion]:
    """Will fail, if the encoding is a plain table and use goes beyond training."""
    if question.family != "table":
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
        f"{used - trained} are never trained."
    )
    grounds = Claim(
        name="positions never trained",
        value=used - trained,
        unit="positions",
        kind="certified",
        assumptions=(Assumption("every item of training starts at position 0", "checked"),),
        evidence={"trained": trained, "used": used},
    )
    guess = Assumption("a model that reads untrained vectors does not answer right")
    changes = (f"train the table with random offsets: {question.encoding}+offset",)
    source = Reference("huang2025", "random offsets in training")
    return [
        question.opinion(THEORY, "cannot hold", why, grounds, assumptions=(guess,), reference=source, changes=changes)
    ]
