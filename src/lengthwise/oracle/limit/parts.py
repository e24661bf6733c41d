"""The parts of a limit transformer: heads, an MLP, layers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from lengthwise.oracle.limit.numbers import Array, as_floats, ones_like, written_rows, zeros_like

Mode = Literal["finite", "hardmax", "infinite"]
Activation = Literal["relu", "step", "sin", "identity"]


@dataclass(frozen=True, eq=False)
class Head:
    """`match` is KᵀQ, `local` is phi(0), phi(1), ... up to the last that is not 0, `value` is V."""

    match: Array
    local: Array
    value: Array


@dataclass(frozen=True, eq=False)
class Mlp:
    """y + outer · activation(inner · y + offset)."""

    inner: Array
    offset: Array
    outer: Array
    activation: Activation = "relu"


@dataclass(frozen=True, eq=False)
class Layer:
    heads: tuple[Head, ...]
    mlp: Mlp | None = None


def activated(mlp: Mlp, states: Array) -> Array:
    inner = states @ mlp.inner.T + mlp.offset
    if mlp.activation == "relu":
        return np.maximum(inner, 0)
    if mlp.activation == "step":
        return np.where(inner > 0, ones_like(inner), zeros_like(inner))
    return np.sin(inner) if mlp.activation == "sin" else inner


def float_head(head: Head) -> Head:
    return Head(as_floats(head.match), as_floats(head.local), as_floats(head.value))


def float_mlp(mlp: Mlp | None) -> Mlp | None:
    if mlp is None:
        return None
    return Mlp(as_floats(mlp.inner), as_floats(mlp.offset), as_floats(mlp.outer), mlp.activation)


def plain_layer(layer: Layer) -> dict[str, Any]:
    heads = [{name: written_rows(getattr(head, name)) for name in ("match", "local", "value")} for head in layer.heads]
    if layer.mlp is None:
        return {"heads": heads}
    mlp = {name: written_rows(getattr(layer.mlp, name)) for name in ("inner", "offset", "outer")}
    return {"heads": heads, "mlp": {**mlp, "activation": layer.mlp.activation}}
