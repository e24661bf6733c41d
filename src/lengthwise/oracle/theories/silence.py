"""Where no theory decides: the card says so, and why."""

from __future__ import annotations

from lengthwise.oracle.opinion import Opinion, Theory
from lengthwise.oracle.theories.question import Question

THEORY = Theory("no theory", "no model", frozenset())
_WHY = {
    "other": "No theory here says which tasks hold with this encoding. C-RASP is about models without an encoding and "
    "with learned positions trained with random offsets.",
    "table": "No theory here is about learned positions without offsets inside the training range.",
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
