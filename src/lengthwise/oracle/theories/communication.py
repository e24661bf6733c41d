"""Tasks that need memory in proportion to the length: no program of the theory has it."""

from __future__ import annotations

import functools

from lengthwise.messages import explain
from lengthwise.oracle.communication import CutGrowth, cut_growth
from lengthwise.oracle.opinion import Advice, Opinion
from lengthwise.oracle.question import HUANG, MET, Question, decoder_theory
from lengthwise.oracle.theories.regular import automaton_of
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.formulations.layouts import Appending
from lengthwise.tasks.task import Task

THEORY = decoder_theory("cuts", "memory across a cut")
STEPS = Advice("steps", "advice.pointer_steps")
explain(
    {
        "advice.pointer_steps": "write the task as reasoning steps that carry a pointer or align their columns "
        "(`lengthwise tasks` lists such layouts)"
    }
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
    rests = {"assumptions": (MET,), "reference": HUANG, "details": tuple(found), "changes": (STEPS,)}
    return [question.opinion(THEORY, "cannot hold", " ".join(found[:3]), growth.claim(), **rests)]


@functools.lru_cache(maxsize=256)
def _growth(task: Task, seconds: float) -> CutGrowth:
    return cut_growth(task, budget_seconds=seconds)
