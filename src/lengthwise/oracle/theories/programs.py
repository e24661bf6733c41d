"""Tasks for which the library has a C-RASP program: one that the encoding can carry out is a reason to hold."""

from __future__ import annotations

from lengthwise.oracle.opinion import Advice, Opinion, Theory
from lengthwise.oracle.programs.find import find_program
from lengthwise.oracle.programs.printing import print_program
from lengthwise.oracle.programs.syntax import Program
from lengthwise.oracle.theories.question import DECODERS, EXPRESSED, HUANG, Question
from lengthwise.oracle.theories.regular import automaton_of

THEORY = Theory("a C-RASP program", DECODERS, frozenset({"none", "absolute"}))
_LINES = 16  # of a program that are shown


def opinions(question: Question) -> list[Opinion]:
    """Can hold, if there is a program and it is right; that there is none in the library says nothing."""
    if question.family not in THEORY.families or automaton_of(question.task) is not None:
        return []  # for regular languages the decision says more
    found = find_program(question.task, "none" if question.family == "none" else "absolute")
    if found is None:
        return [_needs_positions(question)] if question.family == "none" and _with_positions(question) else []
    if not found.right:
        why = f"The library's program for this task is wrong: {found.explain()[-1]}"
        return [question.opinion(THEORY, "unknown", why, found.claim(), reference=HUANG)]
    return [
        question.opinion(
            THEORY,
            "can hold",
            " ".join(found.explain()),
            found.claim(),
            assumptions=(EXPRESSED,),
            reference=HUANG,
            details=_text(found.program),
        )
    ]


def _text(program: Program) -> tuple[str, ...]:
    """The program a line each, unless it is too long to be read."""
    lines = print_program(program).splitlines()
    return tuple(lines) if len(lines) <= _LINES else (*lines[:_LINES], f"… and {len(lines) - _LINES} more lines")


def _with_positions(question: Question) -> bool:
    found = find_program(question.task, "absolute")
    return found is not None and found.right


def _needs_positions(question: Question) -> Opinion:
    why = "The library has a program for this task with positions and none without; that none exists is not shown."
    offsets = Advice("encoding", "there is a program for it", ("learned+offset",))
    return question.opinion(THEORY, "unknown", why, reference=HUANG, changes=(offsets,))
