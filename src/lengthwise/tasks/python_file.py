"""A user's own task from a Python file: `mytask.py`, `mytask.py::Repeat`, `mytask.py::Repeat:letters=3`."""

from __future__ import annotations

import hashlib
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import TypeVar

from lengthwise.errors import UnknownName, UsageError
from lengthwise.registry import nearest, parse_spec
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task
from lengthwise.trust import check_allowed

B = TypeVar("B")


def load_task_file(spec: str) -> Task:
    """The task a spec describes: a Python file, the class in it (needed if it has several), and settings."""
    name, _ = parse_spec(spec)
    if not name.partition("::")[0].endswith(".py"):
        raise UsageError(f"{spec!r} names no Python file; write mytask.py or mytask.py::ClassName")
    return tasks.make(spec)


@tasks.finder
def task_in_file(name: str) -> tuple[str, type[Task]] | None:
    """`path.py` or `path.py::Class` → the name with the class, and the class; None if the name is not of this form."""
    return class_in_file(name, Task, "task")


def class_in_file(name: str, base: type[B], kind: str) -> tuple[str, type[B]] | None:
    """The subclass of `base` that a name `path.py` or `path.py::Class` leads to, with its full name; None if the name
    is not of this form. The file must be allowed to run."""
    path, colons, wanted = name.partition("::")
    if not path.endswith(".py"):
        return None
    found = _classes(module_in(path), base)
    if not found:
        raise UsageError(f"{path} defines no subclass of {base.__module__}.{base.__qualname__}")
    if colons and wanted not in found:
        raise UnknownName(f"{path} has no {kind} {wanted!r}; {nearest(wanted, found)}it has {', '.join(found)}")
    # A base class that leaves methods open is no rival to the class that fills them in.
    choice = [wanted] if colons else [key for key, cls in found.items() if not inspect.isabstract(cls)] or list(found)
    if len(choice) > 1:
        raise UsageError(f"{path} has several {kind}s ({', '.join(choice)}); choose one as in {path}::{choice[0]}")
    cls = found[choice[0]]
    if inspect.isabstract(cls):
        raise UsageError(f"{path}: the {kind} {choice[0]} lacks {', '.join(sorted(cls.__abstractmethods__))}")
    return f"{path}::{choice[0]}", cls


def _classes(module: ModuleType, base: type[B]) -> dict[str, type[B]]:
    """The subclasses that a module defines itself, in the order of the file; those it imports do not count."""
    return {
        thing.__name__: thing
        for thing in vars(module).values()
        if isinstance(thing, type) and issubclass(thing, base) and thing.__module__ == module.__name__
    }


def module_in(path: str) -> ModuleType:
    """The file as a module, if it may run: see `lengthwise.trust`.

    Its name is a digest of its place and its text, so that unchanged text keeps its classes. It stays in `sys.modules`,
    where dataclasses look up the types of their fields. No bytecode is written or read: its check looks at whole
    seconds, and an edit within one would be missed.
    """
    check_allowed(path)
    try:
        source = Path(path).read_bytes()
        place = Path(path).resolve()
    except FileNotFoundError:
        raise UsageError(f"{path}: there is no such file") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from None
    digest = hashlib.blake2b(str(place).encode() + b"\0" + source, digest_size=8).hexdigest()
    name = f"lengthwise_file_{digest}"
    if name in sys.modules:
        return sys.modules[name]
    module = ModuleType(name)
    module.__file__ = str(place)
    sys.modules[name] = module
    try:
        exec(compile(source, str(place), "exec", dont_inherit=True), vars(module))
    except (Exception, SystemExit) as error:
        del sys.modules[name]
        raise UsageError(f"{path}, line {line_of(error, str(place))}: {said(error)}") from error
    return module


def line_of(error: BaseException, place: str) -> int:
    """The line of the user's file at which an exception left it."""
    if isinstance(error, SyntaxError) and error.filename == place:
        return error.lineno or 1
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno or 1 for frame in reversed(frames) if frame.filename == place), 1)


def said(error: BaseException) -> str:
    """An exception in one line, without the place that some exceptions repeat."""
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__
