"""What describes a task before any training: its class by theory, its automaton, its alphabet and its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from lengthwise.oracle.check import check, model_verdict
from lengthwise.oracle.horizons import memory_of
from lengthwise.oracle.theories.regular import asked_of, automaton_of
from lengthwise.tasks import haystack, retrieval
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.languages.random_language import RandomLanguage
from lengthwise.tasks.sizes import default_test_size, default_train_size
from lengthwise.tasks.task import Task

OracleClass = Literal["counting", "positions", "neither", "unknown"]
AnswerForm = Literal["tag", "answer", "sequence", "number"]
Group = Literal["language", "named", "retrieval", "steps"]
Outcome = Literal["can", "cannot", "unknown"]
_OUTCOMES: dict[str, Outcome] = {"can hold": "can", "cannot hold": "cannot", "unknown": "unknown"}
_ITEMS = 64


@dataclass(frozen=True)
class TaskFacts:
    """What a forecast knows of a task.

    oracle_class    by the oracle's verdicts: "counting": it can hold without positions, by counting alone; "positions":
                    it can hold with learned+offset; "neither": it cannot; "unknown": no theory decides
    states          of the minimal automaton; None where the task is not known to be a regular language
    alphabet        symbols that prompts hold
    readout         "tag" (a label at every prefix), "answer" (one symbol), "sequence" (several) or "number"
    answer_length   answer tokens per unit of size at large sizes; 0 where the answer does not grow
    memory          last symbols that settle every answer of a regular language; 0 where no number does, None where it
                    is not known (docs/horizons.md)
    """

    oracle_class: OracleClass
    states: int | None
    alphabet: int
    readout: AnswerForm
    answer_length: float
    memory: int | None = None

    @property
    def local(self) -> bool | None:
        """Whether some number of last symbols settles every answer, where that is known."""
        return None if self.memory is None else self.memory > 0


def facts_of(task: Task) -> TaskFacts:
    """The facts of a task, a user's own included. A second or two where the oracle has to search."""
    sizes = task.sizes(1, default_test_size(task, default_train_size(task)))
    samples = {size: task.draw(size, seed=0, items=range(_ITEMS)) for size in (sizes[len(sizes) // 2], sizes[-1])}
    first, last = samples
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


def group_of(task: Task) -> Group:
    """What kind of task it is, for tables: drawn at random, made of reasoning steps, retrieval, or another."""
    if isinstance(task, RandomLanguage):
        return "language"
    if isinstance(task, Formulation):
        return "steps"
    return "retrieval" if type(task).__module__ in (retrieval.__name__, haystack.__name__) else "named"


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
