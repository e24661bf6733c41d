"""Whether weights that are found by iteration were there when it ended, for whoever wants to know.

A rule is a frozen record of settings and gives weights alone, so it has no place for such a remark; and a limit on
iterations that nobody hears of is a silent error. The rule notes it here, and the training loop listens.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_errors: ContextVar[list[float] | None] = ContextVar("errors", default=None)


@contextlib.contextmanager
def unsettled() -> Iterator[list[float]]:
    """A list that is given the error of every rule that ends its iteration too early inside the block."""
    heard: list[float] = []
    token = _errors.set(heard)
    try:
        yield heard
    finally:
        _errors.reset(token)


def note_unsettled(error: float) -> None:
    """Called by a rule whose iteration ended too early: the share of attention that is where it should not be."""
    heard = _errors.get()
    if heard is not None:
        heard.append(error)
