"""Which files of code may run: those that the user names, and those that data names where the user trusts the data.

Whatever has a registry can be a Python file, `mytask.py::Repeat`, and importing a file runs it. The record of a run, a
study file, the index of a study and a summary hold such names too, and come from other people. So a name is not enough:
a file runs if the user named it, on the command line or in Python (`Registry.make`), or inside `with trusting():`,
which is what `load_run(..., trust=True)` enters. `module_in` is the only place that runs a file.
"""

from __future__ import annotations

import contextlib
import hashlib
import sys
import traceback
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

from lengthwise.errors import OutOfReach, UntrustedCode, UsageError
from lengthwise.limits import USER_SECONDS, time_limit
from lengthwise.reading import MOST_TEXT, place_of, read_bytes


@dataclass(frozen=True)
class _Trust:
    """Whether data may name files of code, and the files that were refused."""

    data: bool = False
    refused: list[str] = field(default_factory=list)


_trust: ContextVar[_Trust | None] = ContextVar("trust", default=None)
_allowed: set[Path] = set()


@contextlib.contextmanager
def trusting(data: bool = True) -> Iterator[list[str]]:
    """Inside, stored data may name files of code, which then run. Gives the list of files that were refused inside.

    `trusting(False)` trusts no more and no less than what is around it.

    >>> with lw.trusting():                                      # doctest: +SKIP
    ...     lw.inspect("runs/of-a-colleague")
    """
    outer = _trust.get()
    inner = _Trust(data, []) if outer is None else _Trust(data or outer.data, outer.refused)
    token = _trust.set(inner)
    try:
        yield inner.refused
    finally:
        _trust.reset(token)


def data_is_trusted() -> bool:
    """Whether files that stored data names may run here."""
    trust = _trust.get()
    return trust is not None and trust.data


def allow(path: str) -> None:
    """Let a file of code run in this process from now on."""
    _allowed.add(place_of(path))


def check_allowed(path: str) -> None:
    """Refuse to run a file of code that nobody allowed. Every import of a file asks this first."""
    if place_of(path) in _allowed:
        return
    shown = path if path.isprintable() else ascii(path)  # a name from data may hold what a terminal obeys
    if (trust := _trust.get()) is not None and shown not in trust.refused:
        trust.refused.append(shown)
    raise UntrustedCode(
        f"the Python file {shown} is named by stored data, not by you, so it was not run; "
        "if you trust it, open the data inside `with lengthwise.trusting():`"
    )


def module_in(path: str) -> ModuleType:
    """The file as a module, if it may run.

    Its name is a digest of its place and its text, so that unchanged text keeps its classes. It stays in `sys.modules`,
    where dataclasses look up the types of their fields. No bytecode is written or read: its check looks at whole
    seconds, and an edit within one would be missed.
    """
    check_allowed(path)
    try:
        source, place = read_bytes(path, MOST_TEXT), place_of(path)
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
        with time_limit(f"the Python file {path}", USER_SECONDS):
            exec(compile(source, str(place), "exec", dont_inherit=True), vars(module))
    except OutOfReach:
        del sys.modules[name]
        raise
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


def said_in(error: BaseException, code: Any) -> str:
    """The same with the line at which it left the file of a class or function, where that has one."""
    file = _file_of(code)
    return f"{said(error)} (line {line_of(error, file)})" if file else said(error)


def passed_through(error: BaseException, code: Any) -> bool:
    """Whether an exception came out of the file of a class or function."""
    file = _file_of(code)
    return bool(file) and any(frame.filename == file for frame in traceback.extract_tb(error.__traceback__))


def _file_of(code: Any) -> str | None:
    return getattr(sys.modules.get(getattr(code, "__module__", "")), "__file__", None)
