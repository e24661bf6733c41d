"""Which files of code may run: those that the user names, and those that data names where the user trusts the data.

A task can be a Python file, `mytask.py::Repeat`, and importing a file runs it. The record of a run, a study file, the
index of a study and a summary hold such names too, and come from other people. So a name is not enough: a file runs
if the user named it, on the command line or in Python (`Registry.make`), or inside `with trusting():`, which is what
`--trust` and `load_run(..., trust=True)` enter.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path

from lengthwise.errors import UsageError


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
    _allowed.add(Path(path).resolve())


def check_allowed(path: str) -> None:
    """Refuse to run a file of code that nobody allowed. Every import of a file asks this first."""
    if Path(path).resolve() in _allowed:
        return
    shown = path if path.isprintable() else ascii(path)  # a name from data may hold what a terminal obeys
    if (trust := _trust.get()) is not None and shown not in trust.refused:
        trust.refused.append(shown)
    raise UsageError(
        f"the Python file {shown} is named by stored data, not by you, so it was not run; "
        "if you trust it, give --trust (in Python: `with lengthwise.trusting():`)"
    )
