"""Tasks for which the library has a C-RASP program: one that the encoding can carry out is a reason to hold."""

from __future__ import annotations

from lengthwise.messages import explain, sentence
from lengthwise.oracle.opinion import Advice, Opinion
from lengthwise.oracle.programs.find import find_program
from lengthwise.oracle.programs.syntax import Program
from lengthwise.oracle.programs.text import print_program
from lengthwise.oracle.question import EXPRESSED, HUANG, Question, decoder_theory
from lengthwise.oracle.theories.regular import automaton_of

THEORY = decoder_theory("program", "a C-RASP program")
_LINES = 16  # of a program that are shown
explain(
    {
        "program.library_wrong": "The library's program for this task is wrong: {mismatch}",
        "program.needs_positions": "The library has a program for this task with positions and none without; that none "
        "exists is not shown.",
        "program.more_lines": "… and {lines} more lines",
        "advice.program": "a program solves the task with it",
    }
)


def opinions(question: Question) -> list[Opinion]:
    """Can hold, if there is a program and it is right; that there is none in the library says nothing."""
    if question.family not in THEORY.families or automaton_of(question.task) is not None:
        return []  # for regular languages the decision says more
    found = find_program(question.task, "none" if question.family == "none" else "absolute")
    if found is None:
        return [_needs_positions(question)] if question.family == "none" and _with_positions(question) else []
    if not found.right:
        why = sentence("program.library_wrong", {"mismatch": found.explain()[-1]})
        return [question.opinion(THEORY, "unknown", why, found.claim(), reference=HUANG)]
    rests = {"assumptions": (EXPRESSED,), "reference": HUANG, "details": _text(found.program)}
    return [question.opinion(THEORY, "can hold", " ".join(found.explain()), found.claim(), **rests)]


def _text(program: Program) -> tuple[str, ...]:
    """The program line by line, unless it is too long to read."""
    lines = print_program(program).splitlines()
    if len(lines) <= _LINES:
        return tuple(lines)
    return (*lines[:_LINES], sentence("program.more_lines", {"lines": len(lines) - _LINES}))


def _with_positions(question: Question) -> bool:
    found = find_program(question.task, "absolute")
    return found is not None and found.right


def _needs_positions(question: Question) -> Opinion:
    offsets = Advice("encoding", "advice.program", ("learned+offset",))
    why = sentence("program.needs_positions")
    return question.opinion(THEORY, "unknown", why, reference=HUANG, changes=(offsets,))
