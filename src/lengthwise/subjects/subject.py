"""The contract of subjects: a name, what is known of it, and the capabilities it offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.seeds import Floats, Ints
from lengthwise.tasks.task import Task

explain(
    {
        "capability.run": "the plan and the history of a run of lengthwise",
        "capability.transformer": "a Transformer of lengthwise",
        "capability.answers": "answers to a task's items",
        "capability.anatomy": "its weights, layer by layer",
        "capability.weights": "its weights by name",
        "capability.predictor": "the probabilities of the next token",
        "capability.states": "the hidden states of its last layer",
        "capability.tokenizer": "a tokenizer",
        "capability.completions": "completions of prompts",
        "capability.gguf": "a GGUF file of its weights",
    }
)


OF_TRANSFORMERS = ("transformer", "anatomy", "states")  # what no other network of ours has


class Subject(ABC):
    """Something that answers, opened with `lengthwise.subjects.open.open_subject`.

    `name` is short, `facts` are pairs of a label and a text that say what it is. A capability is had with
    `capability`, which says in one sentence why there is none; costly ones are made at the first request and kept.

    run          `subjects.run.StoredRun`: plan and history of a run, its task and its recipe
    transformer  `models.transformer.Transformer`, ready for evaluation
    answers      `subjects.subject.Answers`: which of a task's items are answered correctly
    anatomy      `models.parts.Anatomy`: the weights as layers, from which a forward pass can be computed
    weights      `subjects.predictor.ModelWeights`: weights by name, which can be replaced in a copy
    predictor    `subjects.predictor.Predictor`: the same, with the probabilities of the next token
    states       `subjects.predictor.HiddenStates`: the last hidden states of a batch of tokens
    tokenizer    `subjects.tokenizer.TextTokenizer`
    completions  `subjects.completion.Completions`: greedy completions of prompts
    gguf         the path of the GGUF file that the weights come from
    """

    name: str

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        return ()

    @abstractmethod
    def capabilities(self) -> Mapping[str, Callable[[], Any]]:
        """What the subject offers: for each capability a function without arguments that makes it."""

    def offers(self, name: str) -> bool:
        return name in self.capabilities()

    def capability(self, name: str) -> Any:
        """The requested capability, built once; a usage error that says what the subject lacks."""
        kept: dict[str, Any] = vars(self).setdefault("_kept", {})
        if name not in kept:
            makers = self.capabilities()
            if name not in makers:
                why = self.lacking(name)
                raise UsageError(f"{self.name} does not offer {sentence(f'capability.{name}')}{why and ': '}{why}")
            kept[name] = makers[name]()
        return kept[name]

    def lacking(self, name: str) -> str:  # noqa: ARG002
        """Why a capability is missing; empty where there is nothing to add."""
        return ""

    def remarks(self, task: Task) -> tuple[str, ...]:  # noqa: ARG002
        """What a reader of its answers to a task should know, a sentence each."""
        return ()

    def files(self) -> Mapping[str, str]:
        """The SHA-256 of every file that the subject is read from, by name."""
        return {}


@dataclass(frozen=True, eq=False)
class MarkedItems:
    """Items of one size after marking: which are right as a whole, [items], and token by token where that is known,
    [tokens], with the loss of each token in nats where the subject gives probabilities (squared errors for numbers).

    Where they are known, `first_wrong` [items] is how many tokens are right before the first wrong one, -1 where all
    are, and `instead` is the token that the subject gives in its place."""

    items: NDArray[np.bool_]
    tokens: NDArray[np.bool_] | None = None
    losses: Floats | None = None
    first_wrong: Ints | None = None
    instead: tuple[str, ...] | None = None


def first_errors(scored: NDArray[np.bool_], given: Ints, asked: Ints) -> tuple[Ints, Ints]:
    """For each row of `scored` [items, tokens] the number of its first scored place at which the token that is given is
    not the one that was asked for, -1 where there is none, and the token given there. `given` and `asked` are flat."""
    wrong, tokens = np.zeros(scored.shape, bool), np.zeros(scored.shape, np.int64)
    wrong[scored], tokens[scored] = given != asked, given
    rows, column = np.arange(len(scored)), wrong.argmax(axis=1)
    place = scored.cumsum(axis=1)[rows, column] - 1
    return np.where(wrong.any(axis=1), place, -1), tokens[rows, column]


class Answers(Protocol):
    """Anything that can be asked a task's items."""

    def mark(self, task: Task, size: int, items: Sequence[int], seed: int) -> MarkedItems:
        """Mark the answers to the test items of these numbers at one size."""
        ...
