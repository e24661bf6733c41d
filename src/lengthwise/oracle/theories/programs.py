"""Tasks without an automaton: a C-RASP program of the library is a reason to hold, a need of memory that grows in
proportion to the length a reason not to, as no program has it."""

from __future__ import annotations

import functools

from lengthwise.messages import explain, sentence
from lengthwise.oracle.communication import cut_growth
from lengthwise.oracle.opinion import EXPRESSED, HUANG, MET, Advice, Opinion, Question, decoder_theory
from lengthwise.oracle.programs.find import find_program
from lengthwise.oracle.programs.text import print_program
from lengthwise.oracle.theories.regular import automaton_of
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.formulations.layouts import Appending

THEORY = decoder_theory("program", "a C-RASP program")
CUTS = decoder_theory("cuts", "memory across a cut")
STEPS = Advice("steps", "advice.pointer_steps")
_LINES = 16  # of a program that are shown
explain(
    {
        "program.library_wrong": "The library's program for this task is wrong: {mismatch}",
        "program.needs_positions": "The library has a program for this task with positions and none without; that none "
        "exists is not shown.",
        "program.more_lines": "… and {lines} more lines",
        "advice.program": "a program solves the task with it",
        "advice.pointer_steps": "write the task as reasoning steps that carry a pointer or align their columns "
        "(`lengthwise tasks` lists such layouts)",
    }
)


def opinions(question: Question) -> list[Opinion]:
    """Can hold, if there is a program and it is right; that there is none in the library says nothing."""
    if question.family not in THEORY.families or automaton_of(question.task) is not None:
        return []  # for regular languages the decision says more
    found = find_program(question.task, "none" if question.family == "none" else "absolute")
    if found is None:
        placed = find_program(question.task, "absolute") if question.family == "none" else None
        if placed is None or not placed.right:
            return []
        offsets = Advice("encoding", "advice.program", ("learned+offset",))
        why = sentence("program.needs_positions")
        return [question.opinion(THEORY, "unknown", why, reference=HUANG, changes=(offsets,))]
    if not found.right:
        why = sentence("program.library_wrong", {"mismatch": found.explain()[-1]})
        return [question.opinion(THEORY, "unknown", why, found.claim(), reference=HUANG)]
    lines = print_program(found.program).splitlines()
    details = lines[:_LINES]
    if len(lines) > _LINES:
        details.append(sentence("program.more_lines", {"lines": len(lines) - _LINES}))
    rests = {"assumptions": (EXPRESSED,), "reference": HUANG, "details": tuple(details)}
    return [question.opinion(THEORY, "can hold", " ".join(found.explain()), found.claim(), **rests)]


def cut_opinions(question: Question) -> list[Opinion]:
    """Cannot hold, if the need was seen or proved to grow with the length; a small need says nothing by itself."""
    task = question.task
    if question.family not in CUTS.families or task.readout == "numbers" or automaton_of(task) is not None:
        return []
    if isinstance(task, Formulation) and not isinstance(task, Appending):
        return []
    growth = growth_of(task, budget_seconds=1.0 if question.quick else 5.0)
    if not growth.flags:
        return []
    found = growth.explain()
    rests = {"assumptions": (MET,), "reference": HUANG, "details": tuple(found), "changes": (STEPS,)}
    return [question.opinion(CUTS, "cannot hold", " ".join(found[:3]), growth.claim(), **rests)]


growth_of = functools.lru_cache(maxsize=256)(cut_growth)
