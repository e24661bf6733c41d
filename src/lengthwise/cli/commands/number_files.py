"""Tables of numbers, read from files of the user's and written to files."""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.outputs import replace_output
from lengthwise.reading import ARRAY_FAULTS, open_file, parse_json, read_lines
from lengthwise.seeds import Floats


def read_numbers(path: Path, option: str = "the command", endings: tuple[str, ...] = (".npy", ".csv")) -> Floats:
    """A table of finite numbers, one row per line of a .csv or .jsonl file or a .npy array, neither dimension empty."""
    kind = path.suffix.lower()
    if kind not in endings:
        raise UsageError(f"{path} is not a file that ends in {' or '.join(endings)}")
    try:
        if kind == ".npy":
            found = _array(path)
        elif kind == ".csv":
            found = np.loadtxt((line for _, line in read_lines(path)), delimiter=",", ndmin=2)
        else:
            found = [parse_json(line) for _, line in read_lines(path) if line.strip()]
        table = np.asarray(found, dtype=np.float64)
    except UsageError:
        raise
    except ARRAY_FAULTS as error:
        raise UsageError(
            f"{path} is not a table of numbers with one row per line, all of the same length: {error}"
        ) from error
    if table.ndim != 2 or 0 in table.shape:
        raise UsageError(f"{path} has the shape {list(table.shape)}; {option} takes a table with rows and columns")
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise UsageError(f"row {row + 1} of {path} holds a number that is not finite")
    return table


def _array(path: Path) -> np.ndarray:
    """The array of a .npy file, whose header may claim no more than the file holds."""
    with open_file(path) as file:
        version = np.lib.format.read_magic(file)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(file)
        claimed, there = math.prod(shape) * dtype.itemsize, os.fstat(file.fileno()).st_size - file.tell()
        if claimed > there:
            raise ValueError(f"its header says {claimed:,} bytes of numbers, and {there:,} are there")
        file.seek(0)
        return np.load(file, allow_pickle=False)


def write_numbers(
    path: Path, head: Sequence[str], rows: Iterable[Sequence[Any]], arrays: Mapping[str, np.ndarray] = {}
) -> None:
    """Write rows below their head as .csv, or the arrays by their names as .npz."""
    with replace_output(path) as part:
        if path.suffix.lower() == ".npz":
            with part.open("wb") as file:
                np.savez_compressed(file, **arrays)  # pyright: ignore[reportArgumentType]
            return
        with part.open("w", encoding="utf-8", newline="") as file:
            table = csv.writer(file)
            table.writerow(head)
            table.writerows(rows)
