"""Tables of numbers, read from files of the user's and written to files."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.outputs import replace_output
from lengthwise.seeds import Floats


def read_numbers(path: Path, option: str = "the command", endings: tuple[str, ...] = (".npy", ".csv")) -> Floats:
    """A table of finite numbers, one row per line of a .csv or .jsonl file or a .npy array, neither dimension empty."""
    kind = path.suffix.lower()
    if kind not in endings:
        raise UsageError(f"{path} is not a file that ends in {' or '.join(endings)}")
    try:
        if kind == ".npy":
            found = np.load(path, allow_pickle=False)
        elif kind == ".csv":
            found = np.loadtxt(path, delimiter=",", ndmin=2, encoding="utf-8")
        else:
            lines = path.read_text(encoding="utf-8").splitlines()
            found = [json.loads(line) for line in lines if line.strip()]
        table = np.asarray(found, dtype=np.float64)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}; give {option} a file that exists") from error
    except (ValueError, TypeError, EOFError) as error:
        raise UsageError(f"{path} is no table of numbers, one row per line and all of one length: {error}") from error
    if table.ndim != 2 or 0 in table.shape:
        raise UsageError(f"{path} has the shape {list(table.shape)}; {option} takes a table with rows and columns")
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise UsageError(f"row {row + 1} of {path} holds a number that is not finite")
    return table


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
