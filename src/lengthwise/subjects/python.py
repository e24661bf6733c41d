"""Subjects in Python: a file that the user names, `my.py::build`, or an object."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.files import sha256
from lengthwise.models.architecture import Interface
from lengthwise.models.network import GivenNetwork, ModuleNetwork, check_network
from lengthwise.models.placed import placed
from lengthwise.models.transformer import Transformer
from lengthwise.reading import place_of
from lengthwise.registry import thing_in_file
from lengthwise.seeds import Floats, Ints
from lengthwise.subjects.hub import HubSubject
from lengthwise.subjects.run import NetworkAnswers, OwnSubject
from lengthwise.subjects.subject import MarkedItems, Subject
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.task import Task
from lengthwise.trust import line_of, passed_through, said, said_in

BUILD = "build"  # the function of a file that is called where none is named
_TRIED = 64  # tokens, at most, on which a network of the user's is tried


@contextlib.contextmanager
def _blamed(name: str, size: int, code: Any) -> Iterator[None]:
    """An error that comes out of the user's code is a sentence about it; one of ours stays what it is."""
    try:
        yield
    except LengthwiseError:
        raise
    except Exception as error:
        if not passed_through(error, code):
            raise
        raise UsageError(f"{name} failed on items of size {size}: {said_in(error, code)}") from error


@dataclass(frozen=True, eq=False)
class FunctionAnswers:
    """The answers of an object with `answer(prompts)`, where prompts are lists of symbols.

    It returns one answer per prompt: a list of symbols, or a text with spaces between them; for a task whose answers
    are numbers, a list of numbers.
    """

    name: str
    answer: Any

    def mark(self, task: Task, size: int, items: Sequence[int], seed: int) -> MarkedItems:
        drawn = task.draw(size, seed, items, role="test")
        with _blamed(self.name, size, self.answer):
            given = self.answer([list(task.spelled(row)) for row in drawn.prompts])
        if not isinstance(given, Sequence) or len(given) != len(drawn.prompts):
            raise UsageError(f"{self.name} was asked {len(drawn.prompts)} prompts and did not return a list of as many")
        right = self._close if task.readout == "numbers" else self._same
        return MarkedItems(np.array([right(one, row, task) for one, row in zip(given, drawn.answers, strict=True)]))

    def _same(self, given: Any, wanted: Ints, task: Task) -> bool:
        if not isinstance(given, Sequence):
            raise UsageError(
                f"an answer of {self.name} must be a text or a list of symbols, not a {type(given).__name__}"
            )
        symbols = given.split() if isinstance(given, str) else map(str, given)
        return tuple(symbols) == task.spelled(wanted[wanted != NOTHING])

    def _close(self, given: Any, wanted: Floats, task: Task) -> bool:
        try:
            numbers = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise UsageError(f"an answer of {self.name} must be a list of numbers, not {str(given)[:40]!r}") from None
        return numbers.shape == wanted.shape and bool((np.abs(numbers - wanted) <= task.tolerance).all())


@dataclass(frozen=True, eq=False)
class ModuleAnswers:
    """The answers of a module of torch that was trained elsewhere: `forward` takes tokens [items, tokens], numbered as
    in the vocabulary of the task, and gives [items, tokens, outputs]. It is tried before it is first marked."""

    name: str
    module: torch.nn.Module
    tried: set[tuple[int, int]] = field(default_factory=set)

    def mark(self, task: Task, size: int, items: Sequence[int], seed: int) -> MarkedItems:
        with self.network(task, size) as network:
            return NetworkAnswers(network).mark(task, size, items, seed)

    @contextlib.contextmanager
    def network(self, task: Task, size: int) -> Iterator[ModuleNetwork]:
        """The module as a network for this task and size, ready for evaluation."""
        model = GivenNetwork(self.module)
        tokens = task.width(size, model.causal)
        network = ModuleNetwork(model, Interface(len(task.vocabulary), task.outputs, tokens, tokens), self.module)
        modes = [(module, module.training) for module in self.module.modules()]
        self.module.eval()
        try:
            if (case := (len(task.vocabulary), task.outputs)) not in self.tried:
                check_network(network, self.name, min(tokens, _TRIED), trains=False)
                self.tried.add(case)
            with _blamed(self.name, size, type(self.module)):
                yield network
        finally:
            for module, training in modes:
                module.training = training


class ObjectSubject(Subject):
    """An object with `answer(prompts)`, or a module of torch about which nothing else is known."""

    def __init__(self, name: str, thing: Any) -> None:
        self.name, self.thing = name, thing

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        found = [("kind", type(self.thing).__qualname__)]
        if isinstance(self.thing, torch.nn.Module):
            found.append(("parameters", f"{sum(one.numel() for one in self.thing.parameters()):,}"))
        return tuple(found)

    def capabilities(self) -> Mapping[str, Callable[[], Any]]:
        answer = getattr(self.thing, "answer", None)
        if callable(answer):
            return {"answers": lambda: FunctionAnswers(self.name, answer)}
        network = self.thing
        return {"answers": lambda: ModuleAnswers(self.name, network)} if isinstance(network, torch.nn.Module) else {}

    def lacking(self, name: str) -> str:
        if name in ("run", "transformer"):
            return "it was not trained here"
        return f"the layout of the class {type(self.thing).__name__} is not known"


def subject_of_object(thing: Any, name: str = "the model") -> Subject:
    """The subject of a Transformer of ours, a model of `transformers`, another network, or an object with
    `answer(prompts)`."""
    if isinstance(thing, Subject):
        return thing
    if isinstance(thing, torch.nn.Module):
        placed(thing)
    if isinstance(thing, Transformer | ModuleNetwork):
        return OwnSubject(name, thing.eval())
    if isinstance(thing, torch.nn.Module) and hasattr(getattr(thing, "config", None), "model_type"):
        return HubSubject(None, thing, name)
    if isinstance(thing, torch.nn.Module) or callable(getattr(thing, "answer", None)):
        return ObjectSubject(name, thing)
    raise UsageError(
        f"a subject must be a path, a model, or an object with a method answer(prompts), not a {type(thing).__name__}"
    )


def is_python(spec: str) -> bool:
    """Whether a text names a file of code rather than a folder or a file of data."""
    return spec.partition("::")[0].endswith(".py")


def open_python(spec: str) -> Subject:
    """The subject that a file makes: `my.py::build` calls its function `build`, `my.py` alone as well.

    The file runs, so this is called with what a user wrote and never with what was read from stored data.
    """
    path, _, wanted = spec.partition("::")
    name = wanted or BUILD
    thing = thing_in_file(path, name, BUILD)
    if callable(thing) and not isinstance(thing, torch.nn.Module):
        try:
            thing = thing()
        except UsageError:
            raise
        except Exception as error:
            place = str(place_of(path))
            raise UsageError(f"{path}, line {line_of(error, place)}: {name}() failed, {said(error)}") from error
    found = subject_of_object(thing, f"{Path(path).name}::{name}")
    found.files = lambda: {Path(path).name: sha256(Path(path))}
    return found
