"""The contract of subjects: a name, what is known of it, and the capabilities it offers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence

explain(
    {
        "capability.run": "the plan and the history of a run of lengthwise",
        "capability.transformer": "a Transformer of lengthwise",
        "capability.answers": "answers to the items of a task",
        "capability.anatomy": "its weights, layer by layer",
        "capability.predictor": "the probabilities of the next token",
        "capability.tokenizer": "a tokenizer",
    }
)


class Subject(ABC):
    """Something that answers. `facts` are pairs of a label and a text that say what it is.

    A capability is had with `capability`, which says in one sentence why there is none. Costly ones are made when they
    are first asked for, and kept.
    """

    name: str
    facts: tuple[tuple[str, str], ...] = ()

    @abstractmethod
    def capabilities(self) -> Mapping[str, Any]:
        """What the subject offers: for each capability a function without arguments that makes it."""

    def offers(self, name: str) -> bool:
        return name in self.capabilities()

    def capability(self, name: str) -> Any:
        """What is asked for, made once; a usage error that says what the subject lacks."""
        kept: dict[str, Any] = self.__dict__.setdefault("_kept", {})
        if name not in kept:
            makers = self.capabilities()
            if name not in makers:
                raise UsageError(f"{self.name} does not offer {sentence(f'capability.{name}')}{self.lacking(name)}")
            kept[name] = makers[name]()
        return kept[name]

    def lacking(self, name: str) -> str:  # noqa: ARG002
        """Why a capability is missing, as the end of a sentence; empty where there is nothing to add."""
        return ""
