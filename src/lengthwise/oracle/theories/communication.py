"""Tasks that need memory in proportion to the length: no program of the theory has it."""

from __future__ import annotations

import functools

from lengthwise.oracle.communication import CutGrowth, cut_growth
from lengthwise.oracle.opinion import Opinion
from lengthwise.oracle.theories.question import HUANG, LEARNED, Question
from lengthwise.oracle.theories.regular import automaton_of
from lengthwise.tasks.formulations.appending import Appending
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.task import Task

THEORY = "memory across a cut"
MOVES = (
    "write the task as steps that carry a pointer or stand in aligned columns (`lengthwise tasks` lists such layouts)"
)


def opinions(question: Question) -> list[Opinion]:
    """Will fail, if the need was seen or proved to grow with the length; a small need says nothing by itself."""
    task = question.task
    if question.family not in ("none", "absolute") or task.readout == "numbers" or automaton_of(task) is not None:
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
            assumptions=(LEARNED,),
            reference=HUANG,
            details=tuple(found),
            changes=(MOVES,),
        )
    ]


@functools.lru_cache(maxsize=256)
def _growth(task: Task, seconds: float) -> CutGrowth:
    return cut_growth(task, budget_seconds=seconds)
