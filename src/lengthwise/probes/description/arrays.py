"""A model taken apart, as the arrays and the header that a message of it holds, and put together again from them.

Keys and values that several heads share are stored once, and angles go into the header with the other settings: they
follow from the architecture and must not be rounded as weights are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.models.parts import Anatomy, AttentionPart, TablePart

SHARED = ("wk", "wv", "bk", "bv")  # stored once for the heads that share them
ANGLES = "rotary"
Arrays = Mapping[str, NDArray[np.float32]]


def arrays_of(anatomy: Anatomy) -> dict[str, NDArray[np.float32]]:
    """Every weight once, by its place in the anatomy."""
    found = {}
    for name, tensor in anatomy.tensors():
        last = name.rpartition(".")[2]
        if last == ANGLES:
            continue
        if last in SHARED:
            tensor = tensor[:: _sharing(_block(anatomy, name))]
        found[name] = tensor.detach().to(torch.float32).numpy()
    return found


def with_arrays(anatomy: Anatomy, arrays: Arrays) -> Anatomy:
    """The same model with these weights; what is not among them stays as it is."""
    rebuilt = _rebuilt(anatomy, "", anatomy, arrays)
    return replace(rebuilt, head=rebuilt.embed) if anatomy.head is anatomy.embed else rebuilt


def header_of(anatomy: Anatomy, facts: tuple[tuple[str, str], ...] = ()) -> dict[str, Any]:
    """The settings of the parts, JSON-ready; those of blocks once where all blocks have the same."""
    settings = _settings(anatomy)
    blocks = settings.pop("blocks")
    alike = all(block == blocks[0] for block in blocks)
    return {
        "parts": settings,
        "blocks": blocks[:1] if alike else blocks,
        "depth": len(blocks),
        "tied": anatomy.head is anatomy.embed,
        "facts": [list(fact) for fact in facts],
    }


def _block(anatomy: Anatomy, name: str) -> AttentionPart:
    return anatomy.blocks[int(name.split(".")[1])].attention


def _sharing(part: AttentionPart) -> int:
    """How many heads share one of keys and values; the parts repeat each so many times in a row."""
    return part.heads // (part.key_heads or part.heads)


def _rebuilt(part: Any, place: str, anatomy: Anatomy, arrays: Arrays) -> Any:
    if isinstance(part, Tensor):
        name = place.removeprefix(".")
        if name not in arrays:
            return part
        tensor = torch.from_numpy(np.array(arrays[name])).to(part.dtype)
        shared = name.rpartition(".")[2] in SHARED
        return tensor.repeat_interleave(_sharing(_block(anatomy, name)), dim=0) if shared else tensor
    if isinstance(part, tuple):
        return tuple(_rebuilt(inner, f"{place}.{number}", anatomy, arrays) for number, inner in enumerate(part))
    if not is_dataclass(part) or isinstance(part, type):
        return part
    made = {
        field.name: _rebuilt(getattr(part, field.name), f"{place}.{field.name}", anatomy, arrays)
        for field in fields(part)
    }
    if isinstance(part, TablePart) and part.rows is not None:
        rows = made["rows"]
        made["vectors"] = lambda at: rows[at]  # a stored table is read from its rows
    return replace(part, **made)


def _settings(part: Any) -> Any:
    """What is no weight: numbers, words, angles, and the kind of what is a formula."""
    if is_dataclass(part) and not isinstance(part, type):
        inside = {field.name: _settings(getattr(part, field.name)) for field in fields(part)}
        angles = getattr(part, ANGLES, None)
        if isinstance(angles, Tensor):
            inside[ANGLES] = [float(angle) for angle in angles]
        return {name: value for name, value in inside.items() if value is not None}
    if isinstance(part, tuple):
        return [_settings(inner) for inner in part]
    if part is None or isinstance(part, str | int | float | bool):
        return part
    return None if isinstance(part, Tensor) else type(part).__qualname__
