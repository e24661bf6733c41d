"""Numbers that stay exact where they can: arrays of fractions if every entry is rational, of floats otherwise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError

Number = Fraction | float
Array = NDArray[Any]
TIE = 1e-9  # two floating-point logits this close count as equal; exact numbers need no such rule


def number(value: Any, what: str) -> Number:
    """An int, a fraction or a text such as "2/3" is exact; a float stays a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction | np.integer | np.floating):
        raise UsageError(f'{what} is a number or a text such as "2/3", not {value!r}')
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            raise UsageError(f"{what} is a finite number, not {value}")
        return float(value)
    try:
        return Fraction(int(value) if isinstance(value, np.integer) else value)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f'{what} is a number or a text such as "2/3", not {value!r}') from None


def vector(values: Any, what: str) -> Array:
    """A row of numbers, exact if all of them are."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        raise UsageError(f"{what} is a list of numbers, not {values!r}")
    entries = [number(value, f"{what}, entry {index + 1},") for index, value in enumerate(values)]
    return _packed(entries, (len(entries),))


def matrix(rows: Any, what: str) -> Array:
    """A list of rows of equal width, exact if all entries are."""
    if not isinstance(rows, Sequence | np.ndarray) or isinstance(rows, str) or not len(rows):
        raise UsageError(f"{what} is a list of rows of numbers, not {rows!r}")
    lines = [vector(row, f"{what}, row {index + 1}") for index, row in enumerate(rows)]
    for index, line in enumerate(lines):
        if len(line) != len(lines[0]):
            raise UsageError(f"{what}, row {index + 1}, has {len(line)} numbers where {len(lines[0])} are needed")
    return _packed([entry for line in lines for entry in line], (len(lines), len(lines[0])))


def is_exact(array: Array) -> bool:
    return array.dtype == object


def as_floats(array: Array) -> Array:
    return array.astype(np.float64)


def single(value: int, like: Array) -> Array:
    """One number of the array's kind, which broadcasts."""
    if not is_exact(like):
        return np.array(float(value))
    array = np.empty((), dtype=object)
    array[()] = Fraction(value)
    return array


def _packed(entries: list[Number], shape: tuple[int, ...]) -> Array:
    if all(isinstance(entry, Fraction) for entry in entries):
        packed = np.empty(len(entries), dtype=object)
        packed[:] = entries
        return packed.reshape(shape)
    return np.array([float(entry) for entry in entries]).reshape(shape)
