"""Subjects in Python: a file that the user names, `my.py::build`, or an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch

from lengthwise.errors import UnknownName, UsageError
from lengthwise.files import sha256
from lengthwise.models.transformer import Transformer
from lengthwise.registry import nearest
from lengthwise.subjects.answers import FunctionAnswers
from lengthwise.subjects.hub import HubSubject
from lengthwise.subjects.run import OwnSubject
from lengthwise.subjects.subject import Subject
from lengthwise.trust import allow, line_of, module_in, said

BUILD = "build"  # the function of a file that is called where none is named


class ObjectSubject(Subject):
    """An object with `answer(prompts)`, or a module of torch about which nothing else is known."""

    def __init__(self, name: str, thing: Any) -> None:
        self.name, self.thing = name, thing

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        kind = type(self.thing)
        found = [("kind", kind.__qualname__)]
        if isinstance(self.thing, torch.nn.Module):
            found.append(("parameters", f"{sum(one.numel() for one in self.thing.parameters()):,}"))
        return tuple(found)

    def capabilities(self) -> Mapping[str, Callable[[], Any]]:
        answer = getattr(self.thing, "answer", None)
        return {"answers": lambda: FunctionAnswers(self.name, answer)} if callable(answer) else {}

    def lacking(self, name: str) -> str:
        if name == "answers":
            return f"its class {type(self.thing).__name__} has no method answer(prompts)"
        if name in ("run", "transformer"):
            return "it was not trained here"
        return f"the layout of the class {type(self.thing).__name__} is not known"


def subject_of_object(thing: Any, name: str = "the model") -> Subject:
    """The subject of a Transformer of ours, a model of `transformers`, or an object with `answer(prompts)`."""
    if isinstance(thing, Subject):
        return thing
    if isinstance(thing, Transformer):
        return OwnSubject(name, thing)
    if isinstance(thing, torch.nn.Module) and hasattr(getattr(thing, "config", None), "model_type"):
        return HubSubject(None, thing, name)
    if isinstance(thing, torch.nn.Module) or callable(getattr(thing, "answer", None)):
        return ObjectSubject(name, thing)
    raise UsageError(
        f"a subject is a path, a model, or an object with a method answer(prompts), not a {type(thing).__name__}"
    )


def open_python(spec: str) -> Subject:
    """The subject that a file makes: `my.py::build` calls its function `build`, `my.py` alone as well.

    The file runs, so this is called with what a user wrote and never with what was read from stored data.
    """
    path, _, wanted = spec.partition("::")
    allow(path)
    module = module_in(path)
    name = wanted or BUILD
    if not hasattr(module, name):
        names = [key for key, value in vars(module).items() if callable(value) and value.__module__ == module.__name__]
        raise UnknownName(f"{path} defines no {name!r}; {nearest(name, names)}write it as in {path}::{BUILD}")
    thing = getattr(module, name)
    if callable(thing) and not isinstance(thing, torch.nn.Module):
        try:
            thing = thing()
        except UsageError:
            raise
        except Exception as error:
            place = str(Path(path).resolve())
            raise UsageError(f"{path}, line {line_of(error, place)}: {name}() failed, {said(error)}") from error
    found = subject_of_object(thing, f"{Path(path).name}::{name}")
    found.files = lambda: {Path(path).name: sha256(Path(path))}
    return found
