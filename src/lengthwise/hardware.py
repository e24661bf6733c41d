"""Where networks compute, in which precision, and whether they are compiled: how fast a result comes, not what it is,
except that bf16 rounds. Needs no torch; `models/placed.py` puts a network where this says."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Literal, get_args

from lengthwise.errors import UsageError

Precision = Literal["float32", "bf16"]
PRECISION_WORDS = "float32, or bf16: matrix products in bfloat16, the weights stay float32"
_DEVICE = re.compile(r"auto|cpu|mps|cuda(:\d+)?")


@dataclass(frozen=True)
class Computing:
    """How networks compute. Without a `device`, those that are read from files are on the processor, and those that
    are given stay where they are."""

    device: str | None = None
    precision: Precision = "float32"
    compile: bool = False

    def __post_init__(self) -> None:
        if self.device is not None and not _DEVICE.fullmatch(str(self.device)):
            raise UsageError(f"a device is auto, cpu, cuda, one of several such as cuda:1, or mps, not {self.device!r}")
        check_precision(self.precision)


def check_precision(precision: str) -> None:
    if precision not in get_args(Precision):
        raise UsageError(f"precision must be one of {', '.join(get_args(Precision))}, not {precision!r}")


_now: ContextVar[Computing | None] = ContextVar("computing", default=None)


@contextlib.contextmanager
def computing(
    device: str | None = None, precision: Precision = "float32", compile: bool = False
) -> Iterator[Computing]:
    """Inside, networks are trained and measured on `device`: "auto" (a GPU if there is one), "cpu", "cuda", "cuda:1" or
    "mps". With `precision="bf16"` models are measured with matrix products in bfloat16; training has a setting of that
    name, which is part of its plan. `compile` has torch compile each network, which pays off for long work only.

    >>> with lw.computing("cuda"):                                      # doctest: +SKIP
    ...     run = lw.train("sort", "rope", precision="bf16")
    """
    now = Computing(device, precision, compile)
    token = _now.set(now)
    try:
        yield now
    finally:
        _now.reset(token)


def current() -> Computing:
    """How networks compute here."""
    return _now.get() or Computing()
