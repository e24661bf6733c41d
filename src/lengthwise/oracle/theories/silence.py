"""Where no theory speaks: the card says so, and why."""

from __future__ import annotations

from lengthwise.oracle.opinion import Opinion
from lengthwise.oracle.theories.question import Question

THEORY = "no theory"
_WHY = {
    "other": "No theory here says which tasks hold with this encoding; those of C-RASP are about no encoding and about "
    "learned positions with random offsets.",
    "table": "No theory here speaks about learned positions without offsets at sizes of training.",
    "none": "The task has no known automaton and no program in the library, and no lower bound was found.",
    "absolute": "The task has no known automaton and no program in the library, and no lower bound was found.",
}


def silent(question: Question) -> Opinion:
    """Unknown, with the reason."""
    return question.opinion(THEORY, "unknown", _WHY[question.family])


def another_axis(question: Question) -> Opinion:
    """The size counts something else than length."""
    why = f"The size counts {question.task.axes[0].name}, and the theories here are about length."
    return question.opinion(THEORY, "unknown", why)
