"""A user's own limit transformer, from a JSON file.

    {"symbols": ["a", "b"], "embeddings": [[1, 0], [0, 1]], "positions": [[0, 0]],
     "layers": [{"heads": [{"match": [[0, 0], [0, 0]], "local": [0, "1/2"], "value": [[1, 0], [0, 1]]}]}],
     "readout": [[1, 0]], "mode": "finite", "bits": 8}

Whole numbers and texts such as "2/3" are exact, numbers with a point are floats. A layer may have
"mlp": {"inner", "offset", "outer", "activation"}; mode and bits may be left out ("hardmax", 16).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.numbers import matrix, vector
from lengthwise.oracle.limit.parts import Head, Layer, Mlp
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.registry import nearest


def load_limit(path: str | Path) -> LimitTransformer:
    """The limit transformer a JSON file describes."""
    path = Path(path)
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is not JSON: {error}") from error
    try:
        return limit_from(content)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def limit_from(content: Any) -> LimitTransformer:
    """The limit transformer that plain data describe; the inverse of `LimitTransformer.plain`."""
    needed = ("symbols", "embeddings", "positions", "layers", "readout")
    given = _fields(content, "a limit transformer", needed, ("mode", "bits"))
    symbols = given["symbols"]
    if not isinstance(symbols, list) or not all(isinstance(symbol, str) and symbol for symbol in symbols):
        raise UsageError(f"symbols is a list of texts, not {symbols!r}")
    if not isinstance(given["layers"], list):
        raise UsageError(f"layers is a list of one or two layers, not {given['layers']!r}")
    bits = given.get("bits", 16)
    if not isinstance(bits, int) or isinstance(bits, bool):
        raise UsageError(f"bits is a whole number, not {bits!r}")
    return LimitTransformer(
        tuple(symbols),
        matrix(given["embeddings"], "embeddings"),
        matrix(given["positions"], "positions"),
        tuple(_layer(layer, number) for number, layer in enumerate(given["layers"], start=1)),
        matrix(given["readout"], "readout"),
        given.get("mode", "hardmax"),
        bits,
    )


def _layer(content: Any, number: int) -> Layer:
    given = _fields(content, f"layer {number}", ("heads",), ("mlp",))
    if not isinstance(given["heads"], list):
        raise UsageError(f"layer {number}: heads is a list, not {given['heads']!r}")
    heads = tuple(_head(head, f"layer {number}, head {index}") for index, head in enumerate(given["heads"], start=1))
    if given.get("mlp") is None:
        return Layer(heads)
    mlp = _fields(given["mlp"], f"layer {number}, mlp", ("inner", "offset", "outer"), ("activation",))
    parts = matrix(mlp["inner"], "inner"), vector(mlp["offset"], "offset"), matrix(mlp["outer"], "outer")
    return Layer(heads, Mlp(*parts, mlp.get("activation", "relu")))


def _head(content: Any, what: str) -> Head:
    given = _fields(content, what, ("match", "local", "value"), ())
    local = vector(given["local"], f"{what}: local")
    return Head(matrix(given["match"], f"{what}: match"), local, matrix(given["value"], f"{what}: value"))


def _fields(content: Any, what: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> Mapping[str, Any]:
    """A JSON object with these keys and no others."""
    if not isinstance(content, dict):
        raise UsageError(f"{what} is a JSON object with {', '.join(needed)}, not {type(content).__name__}")
    if missing := [key for key in needed if key not in content]:
        raise UsageError(f"{what} has no {missing[0]!r}; it needs {', '.join(needed)}")
    if unknown := [key for key in content if key not in needed + optional]:
        near = nearest(unknown[0], needed + optional)
        raise UsageError(f"{what} has an unknown {unknown[0]!r}; {near}it has {', '.join(needed + optional)}")
    return content
