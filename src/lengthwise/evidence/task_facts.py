"""What describes a task before any training: its class by theory, its automaton, its alphabet and its answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from lengthwise.tasks import haystack, retrieval
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.languages.random_language import RandomLanguage
from lengthwise.tasks.task import Task

OracleClass = Literal["counting", "positions", "neither", "unknown"]
AnswerForm = Literal["tag", "answer", "sequence", "number"]
Group = Literal["language", "named", "retrieval", "steps"]
Outcome = Literal["can", "cannot", "unknown"]


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
                    is not known (docs/explanation/horizons.md)
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


def group_of(task: Task) -> Group:
    """What kind of task it is, for tables: drawn at random, made of reasoning steps, retrieval, or another."""
    if isinstance(task, RandomLanguage):
        return "language"
    if isinstance(task, Formulation):
        return "steps"
    return "retrieval" if type(task).__module__ in (retrieval.__name__, haystack.__name__) else "named"
