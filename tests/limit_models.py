"""Random limit transformers, which several tests share."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from lengthwise.oracle.limit.transformer import Layer, LimitHead, LimitTransformer, Mlp, matrix, vector


def random_limit(seed: int, layers: int = 1, mode: str = "hardmax", bits: int = 4, denominator: int = 2):
    """A small transformer with random rational entries."""
    draw = random.Random(seed)
    width, letters, period, units = 2, draw.randint(1, 3), draw.randint(1, 3), 2

    def numbers(rows: int, columns: int):
        return matrix([[Fraction(draw.randint(-3, 3), denominator) for _ in range(columns)] for _ in range(rows)], "x")

    def head() -> LimitHead:
        local = vector([Fraction(draw.randint(-3, 3), denominator) for _ in range(draw.randint(1, 3))], "x")
        return LimitHead(numbers(width, width), local, numbers(width, width))

    def mlp() -> Mlp | None:
        activation = draw.choice([None, "relu", "step", "identity"])
        inner, offset, outer = numbers(units, width), numbers(1, units)[0], numbers(width, units)
        return None if activation is None else Mlp(inner, offset, outer, activation)

    built = tuple(Layer(tuple(head() for _ in range(draw.randint(1, 2))), mlp()) for _ in range(layers))
    symbols = tuple("abc"[:letters])
    return LimitTransformer(
        symbols, numbers(letters, width), numbers(period, width), built, numbers(2, width), mode, bits
    )


def plain(model: LimitTransformer) -> dict[str, Any]:
    """The JSON-ready data from which `limit_from` makes an equal transformer."""
    layers = []
    for layer in model.layers:
        heads = [{name: _rows(getattr(head, name)) for name in ("match", "local", "value")} for head in layer.heads]
        layers.append({"heads": heads})
        if layer.mlp is not None:
            arrays = {name: _rows(getattr(layer.mlp, name)) for name in ("inner", "offset", "outer")}
            layers[-1]["mlp"] = {**arrays, "activation": layer.mlp.activation}
    arrays = {name: _rows(getattr(model, name)) for name in ("embeddings", "positions", "readout")}
    return {"symbols": list(model.symbols), **arrays, "layers": layers, "mode": model.mode, "bits": model.bits}


def _rows(array: Any) -> Any:
    if getattr(array, "ndim", 0):
        return [_rows(part) for part in array]
    return str(array) if isinstance(array, Fraction) else float(array)
