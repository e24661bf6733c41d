"""Limit transformers to start from, and those that you describe in JSON.

    {"symbols": ["a", "b"], "embeddings": [[1, 0], [0, 1]], "positions": [[0, 0]],
     "layers": [{"heads": [{"match": [[0, 0], [0, 0]], "local": [0, "1/2"], "value": [[1, 0], [0, 1]]}]}],
     "readout": [[1, 0]], "mode": "finite", "bits": 8}

Whole numbers and texts such as "2/3" are exact, numbers with a decimal point are floats. A layer may have
"mlp": {"inner", "offset", "outer", "activation"}; mode and bits may be left out ("hardmax", 16).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.transformer import Layer, LimitHead, LimitTransformer, Mlp, matrix, vector
from lengthwise.reading import MOST_TEXT, read_json_file
from lengthwise.registry import nearest, parse_spec
from lengthwise.seeds import Ints


def load_limit(path: str | Path) -> LimitTransformer:
    """The limit transformer that a JSON file describes."""
    content = read_json_file(path, MOST_TEXT)
    try:
        return limit_from(content)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from None


def limit_from(content: Any) -> LimitTransformer:
    """The limit transformer that plain data describe."""
    needed = ("symbols", "embeddings", "positions", "layers", "readout")
    given = _fields(content, "a limit transformer", needed, ("mode", "bits"))
    symbols = given["symbols"]
    if not isinstance(symbols, list) or not all(isinstance(symbol, str) and symbol for symbol in symbols):
        raise UsageError(f"symbols must be a list of texts, not {symbols!r}")
    if not isinstance(given["layers"], list):
        raise UsageError(f"layers must be a list of one or two layers, not {given['layers']!r}")
    bits = given.get("bits", 16)
    if not isinstance(bits, int) or isinstance(bits, bool):
        raise UsageError(f"bits must be a whole number, not {bits!r}")
    layers = tuple(_layer(layer, number) for number, layer in enumerate(given["layers"], start=1))
    embeddings, positions, readout = (matrix(given[name], name) for name in ("embeddings", "positions", "readout"))
    return LimitTransformer(tuple(symbols), embeddings, positions, layers, readout, given.get("mode", "hardmax"), bits)


def _layer(content: Any, number: int) -> Layer:
    given = _fields(content, f"layer {number}", ("heads",), ("mlp",))
    if not isinstance(given["heads"], list):
        raise UsageError(f"layer {number}: heads must be a list, not {given['heads']!r}")
    heads = tuple(_head(head, f"layer {number}, head {index}") for index, head in enumerate(given["heads"], start=1))
    if given.get("mlp") is None:
        return Layer(heads)
    mlp = _fields(given["mlp"], f"layer {number}, mlp", ("inner", "offset", "outer"), ("activation",))
    parts = matrix(mlp["inner"], "inner"), vector(mlp["offset"], "offset"), matrix(mlp["outer"], "outer")
    return Layer(heads, Mlp(*parts, mlp.get("activation", "relu")))


def _head(content: Any, what: str) -> LimitHead:
    given = _fields(content, what, ("match", "local", "value"), ())
    local = vector(given["local"], f"{what}: local")
    return LimitHead(matrix(given["match"], f"{what}: match"), local, matrix(given["value"], f"{what}: value"))


def _fields(content: Any, what: str, needed: tuple[str, ...], optional: tuple[str, ...]) -> Mapping[str, Any]:
    """A JSON object with these keys and no others."""
    if not isinstance(content, dict):
        raise UsageError(f"{what} must be a JSON object with {', '.join(needed)}, not {type(content).__name__}")
    if missing := [key for key in needed if key not in content]:
        raise UsageError(f"{what} has no {missing[0]!r}; it needs {', '.join(needed)}")
    if unknown := [key for key in content if key not in needed + optional]:
        near = nearest(unknown[0], needed + optional)
        raise UsageError(f"{what} has an unknown {unknown[0]!r}; {near}it has {', '.join(needed + optional)}")
    return content


def majority() -> LimitTransformer:
    """(ones - zeros) / length of a word of bits by uniform attention: positive when the ones are the majority."""
    return _one_layer("01", [[-1, 0], [1, 0]], [[0, 0]], [[0] * 2] * 2, [0], [[0, 0], [1, 0]], [[0, 1]])


def wave(omega: float = 1.0) -> LimitTransformer:
    """sin(omega (zeros - ones) / length): the target of `simple_task`, with a Lipschitz constant of omega."""
    mlp = {"inner": [[0, omega, 0]], "offset": [0], "outer": [[0], [0], [1]], "activation": "sin"}
    value = [[0] * 3, [1, 0, 0], [0] * 3]
    return _one_layer("01", [[1, 0, 0], [-1, 0, 0]], [[0] * 3], [[0] * 3] * 3, [0], value, [[0, 0, 1]], mlp)


def share_in_class(period: int = 3, residue: int = 0) -> LimitTransformer:
    """The share of ones at the positions t with t = residue modulo period, counted from 0: the target of `modp_task`.
    The coordinates: is a one; is of the class; is constant 1; the answer."""
    if not 0 <= residue < period:
        raise UsageError(f"a residue must lie between 0 and the period less one, not {residue} of {period}")
    positions = [[0, int(phase == residue), 1, 0] for phase in range(period)]
    match = [[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]  # key: of the class; query: constant
    value = [[0, 0, 0, 0]] * 3 + [[1, 0, 0, 0]]
    return _one_layer("01", [[0] * 4, [1, 0, 0, 0]], positions, match, [0], value, [[0, 0, 0, 1]])


def previous_token(letters: int = 2) -> LimitTransformer:
    """Which letter precedes the last one (of one letter, that letter), by the positional term alone: locality 1."""
    symbols, width = _letters(letters), 2 * letters
    embeddings, readout = np.eye(letters, width, dtype=int), np.eye(letters, width, letters, dtype=int)
    value, match = _shift(letters, width, letters), [[0] * width] * width
    return _one_layer(symbols, embeddings, [[0] * width], match, [0, 1], value, readout)


def rare_pair() -> LimitTransformer:
    """The share of a among the letters a and b, however rare they are among the c: attention prefers a and b to c."""
    embeddings = [[1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0]]
    match = [[0] * 4, [0, 0, 1, 0], [0] * 4, [0] * 4]
    value = [[0] * 4] * 3 + [[1, 0, 0, 0]]
    return _one_layer("abc", embeddings, [[0] * 4], match, [0], value, [[0, 0, 0, 1]])


def bigram(letters: int = 2, strength: float = 6.0) -> LimitTransformer:
    """About how often each letter followed the last one; two layers, infinite precision.

    Layer 1 copies the letter before (phi(1) = 2: position-dominated); layer 2 attends to the positions whose letter
    before equals the last letter, exp(strength) times as much as to others. The rest has a share
    of order exp(-strength)."""
    if not math.isfinite(strength):
        raise UsageError(f"the strength must be a finite number, not {strength}")
    symbols, width = _letters(letters), 3 * letters
    before = _shift(letters, width, letters)  # writes the letter of a key next to the letter of the query
    copies = {"match": [[0] * width] * width, "local": [0, 2], "value": before}
    looks = {"match": before * float(strength), "local": [0], "value": _shift(letters, width, 2 * letters)}
    return limit_from(
        {
            "symbols": symbols,
            "embeddings": np.eye(letters, width, dtype=int),
            "positions": [[0] * width],
            "layers": [{"heads": [copies]}, {"heads": [looks]}],
            "readout": np.eye(letters, width, 2 * letters, dtype=int),
            "mode": "infinite",
        }
    )


EXAMPLES: dict[str, Callable[..., LimitTransformer]] = {
    make.__name__: make for make in (majority, wave, share_in_class, previous_token, rare_pair, bigram)
}


def example(spec: str) -> LimitTransformer:
    """An example by its name, with settings where they differ from the usual ones: `wave:omega=4`. All but `wave` and
    `bigram` are exact."""
    name, given = parse_spec(spec)
    if name not in EXAMPLES:
        raise UsageError(f"unknown example {name!r}; {nearest(name, EXAMPLES)}it is one of {', '.join(EXAMPLES)}")
    kinds = {key: type(one.default) for key, one in inspect.signature(EXAMPLES[name]).parameters.items()}
    if unknown := [key for key in given if key not in kinds]:
        takes = f"it takes {', '.join(kinds)}" if kinds else "it takes none"
        raise UsageError(f"{name} has no setting {unknown[0]!r}; {nearest(unknown[0], kinds)}{takes}")
    try:
        settings = {key: kinds[key](text) for key, text in given.items()}
    except ValueError as error:
        raise UsageError(f"{spec}: {error}") from None
    return EXAMPLES[name](**settings)


def opened(text: str) -> LimitTransformer:
    """The limit transformer of a JSON file or, where there is no such file, the example of that name."""
    if text.endswith(".json") or Path(text).is_file():
        return load_limit(text)
    return example(text)


def _one_layer(
    symbols: Sequence[str],
    embeddings: Any,
    positions: Any,
    match: Any,
    local: Any,
    value: Any,
    readout: Any,
    mlp: Any = None,
) -> LimitTransformer:
    layer = {"heads": [{"match": match, "local": local, "value": value}], "mlp": mlp}
    arrays = {"embeddings": embeddings, "positions": positions, "readout": readout}
    return limit_from({"symbols": list(symbols), "layers": [layer], **arrays})


def _shift(letters: int, width: int, by: int) -> Ints:
    """A matrix that writes the coordinates of the letters `by` coordinates further on."""
    return np.pad(np.eye(width, letters, -by, dtype=np.int64), ((0, 0), (0, width - letters)))


def _letters(count: int) -> list[str]:
    if not 1 <= count <= 26:
        raise UsageError(f"letters must be 1 to 26, not {count}")
    return list("abcdefghijklmnopqrstuvwxyz"[:count])
