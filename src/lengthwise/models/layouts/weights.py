"""The weights of a model by their names, each taken at most once, so that none is dropped without a word."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.parts import NormPart

# What the layouts call the activations of `lengthwise.models.parts.ACTIVATIONS`.
_ACTIVATIONS = {
    "relu": "relu",
    "gelu": "gelu",
    "gelu_python": "gelu",
    "gelu_new": "gelu_tanh",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_python_tanh": "gelu_tanh",
    "silu": "silu",
    "swish": "silu",
}


class Weights:
    """Named tensors of a model, converted when they are taken."""

    def __init__(self, name: str, tensors: Mapping[str, Tensor], dtype: torch.dtype) -> None:
        self.name, self.tensors, self.dtype = name, tensors, dtype
        self.left = set(tensors)

    def take(self, key: str) -> Tensor:
        """The tensor of this name; a layout that needs one that is not there does not fit the model."""
        if key not in self.tensors:
            raise UsageError(f"{self.name} has no weights {key!r}, which its layout needs; the file is not complete")
        self.left.discard(key)
        return self.tensors[key].detach().to(self.dtype)

    def maybe(self, key: str) -> Tensor | None:
        """The tensor of this name, if there is one: a bias that some models have and others have not."""
        return self.take(key) if key in self.tensors else None

    def norm(self, place: str, eps: float) -> NormPart:
        """A LayerNorm."""
        return NormPart("layer", self.take(f"{place}.weight"), self.maybe(f"{place}.bias"), eps)

    def skipped(self, known: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
        """What nobody took: modules by the beginning of their names, each with its reason in `known`. Weights without
        a reason mean that the model computes something that the layout does not know, and are refused."""
        unknown = sorted(key for key in self.left if not any(key.startswith(start) for start in known))
        if unknown:
            raise UsageError(
                f"{self.name} has weights that its layout does not know ({_some(unknown)}), so it cannot be run from "
                "its parts; a model without them could be"
            )
        return tuple(
            (start.rstrip("."), reason)
            for start, reason in known.items()
            if any(key.startswith(start) for key in self.left)
        )


def activation(name: str, asked: object) -> str:
    """Our name of an activation."""
    if not isinstance(asked, str) or asked not in _ACTIVATIONS:
        raise UsageError(
            f"{name} uses the activation {asked!r}, which cannot be run from parts; {', '.join(_ACTIVATIONS)} can"
        )
    return _ACTIVATIONS[asked]


def _some(names: list[str]) -> str:
    return ", ".join(names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 else "")
