"""Tasks that need memory in proportion to the length: no program of the theory has it."""

from __future__ import annotations

import functools

from lengthwise.oracle.communication import CutGrowth, cut_growth
from lengthwise.oracle.opinion import Advice, Opinion, Theory
from lengthwise.oracle.theories.question import DECODERS, HUANG, MET, Question
from lengthwise.oracle.theories.regular import automaton_of
from lengthwise.tasks.formulations.appending import Appending
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.task import Task

THEORY = Theory("memory across a cut", DECODERS, frozenset({"none", "absolute"}))
STEPS = Advice(
    "steps",
    "write the task as reasoning steps that carry a pointer or line their columns up (`lengthwise tasks` lists such "
    "layouts)",
)


def opinions(question: Question) -> list[Opinion]:
    """Cannot hold, if the need was seen or proved to grow with the length; a small need says nothing by itself."""
    task = question.task
    if question.family not in THEORY.families or task.readout == "numbers" or automaton_of(task) is not None:
        return []
    if isinstance(task, Formulation) and not isinstance(task, Appending):
        return []
    growth = _growth(task, 1.0 if question.quick else 5.0)
    if not growth.flags:
        return []
    found = growth.explain()
    return [
        question.opinion(
            THEORY,
            "cannot hold",
            " ".join(found[:3]),
            growth.claim(),
            assumptions=(MET,),
            reference=HUANG,
            details=tuple(found),
            changes=(STEPS,),
        )
    ]


@functools.lru_cache(maxsize=256)
def _growth(task: Task, seconds: float) -> CutGrowth:
    return cut_growth(task, budget_seconds=seconds)
