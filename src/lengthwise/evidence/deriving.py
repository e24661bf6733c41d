"""The facts of a task and the verdicts on it, derived by the oracle, which takes as long to load as a forecast."""

from __future__ import annotations

import numpy as np

from lengthwise.evidence.task_facts import AnswerForm, OracleClass, Outcome, TaskFacts
from lengthwise.oracle.check import check, model_verdict
from lengthwise.oracle.horizons import memory_of
from lengthwise.oracle.theories.regular import asked_of, automaton_of
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.sizes import default_test_size, default_train_size
from lengthwise.tasks.task import Task

_OUTCOMES: dict[str, Outcome] = {"can hold": "can", "cannot hold": "cannot", "unknown": "unknown"}
_ITEMS = 64


def facts_of(task: Task) -> TaskFacts:
    """The facts of a task, a user's own included. A second or two where the oracle has to search."""
    sizes = task.sizes(1, default_test_size(task, default_train_size(task)))
    first, last = sizes[len(sizes) // 2], sizes[-1]  # one and the same where a task has one size
    samples = {size: task.draw(size, seed=0, items=range(_ITEMS)) for size in (first, last)}
    lengths = {size: float((drawn.answers != NOTHING).sum(axis=1).mean()) for size, drawn in samples.items()}
    dfa = automaton_of(task)
    prompts = samples[last].prompts
    return TaskFacts(
        oracle_class=_class_of(task),
        states=None if dfa is None else len(dfa.transitions),
        alphabet=len(np.unique(prompts[prompts != NOTHING])) if dfa is None else len(dfa.alphabet),
        readout=_readout(task, lengths[last]),
        answer_length=round((lengths[last] - lengths[first]) / (last - first), 3) if last > first else 0.0,
        memory=None if dfa is None else memory_of(asked_of(dfa, task)).symbols or 0,
    )


def verdict_of(task: Task, position: str, model: str, train_size: int, test_size: int) -> Outcome:
    """What the oracle says of a task with an encoding or another model, trained to one size and used at another."""
    if model != "transformer":
        return _OUTCOMES[model_verdict(task, model, train_size, test_size).outlook]
    card = check(task, [position], train_size=train_size, test_size=test_size, quick=True)
    return _OUTCOMES[card.verdicts[position].outlook]


def _class_of(task: Task) -> OracleClass:
    verdicts = check(task, ["none", "learned+offset"], quick=True).verdicts
    if verdicts["none"].outlook == "can hold":
        return "counting"
    if verdicts["learned+offset"].outlook == "can hold":
        return "positions"
    return "neither" if verdicts["learned+offset"].outlook == "cannot hold" else "unknown"


def _readout(task: Task, length: float) -> AnswerForm:
    if task.readout == "tags":
        return "tag"
    if task.readout == "numbers":
        return "number"
    return "answer" if length <= 1 else "sequence"
