"""Columns for the sparsity of attention, beside the other columns of a run and size."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.studies.record import RunRecord

_NUMBERS = ("entropy", "uniform", "best")


def sparsity_columns(runs: Sequence[RunRecord], sizes: Sequence[Sequence[int]]) -> dict[str, list[Any]]:
    """`attention_items`, and for each layer `attention_entropy_1` and so on, a value a run and size.

    `sizes` are those measured of each run. Attention is looked at in few of them, and a run may have fewer layers than
    another: what was not looked at is empty. There is no column where no run was looked at.
    """
    found = [{(one.size, one.layer): one for one in run.sparsity or ()} for run in runs]
    rows = [(own, size) for own, measured in zip(found, sizes, strict=True) for size in measured]
    layers = sorted({layer for own in found for _, layer in own})
    columns: dict[str, list[Any]] = {}
    for layer in layers:
        at = [own.get((size, layer)) for own, size in rows]
        # All layers are looked at on the same items, and every run has a first layer.
        columns.setdefault("attention_items", [getattr(one, "items", None) for one in at])
        for name in _NUMBERS:
            columns[f"attention_{name}_{layer}"] = [getattr(one, name, None) for one in at]
    return columns
