"""Limit transformers to start from, each with what it computes. All but `wave` and `bigram` are exact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.numbers import matrix, vector
from lengthwise.oracle.limit.parts import Head, Layer, Mlp
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.registry import nearest


def majority() -> LimitTransformer:
    """(ones - zeros) / length of a word of bits by uniform attention: positive when the ones are the majority."""
    return _one_layer("01", [[-1, 0], [1, 0]], [[0, 0]], [[0, 0], [0, 0]], [0], [[0, 0], [1, 0]], [[0, 1]])


def wave(omega: float = 1.0) -> LimitTransformer:
    """sin(omega (zeros - ones) / length): the target of `simple_task`, with a Lipschitz constant of omega."""
    layer = Layer(
        (_head([[0] * 3] * 3, [0], [[0] * 3, [1, 0, 0], [0] * 3]),),
        Mlp(matrix([[0, omega, 0]], "inner"), vector([0], "offset"), matrix([[0], [0], [1]], "outer"), "sin"),
    )
    embeddings = matrix([[1, 0, 0], [-1, 0, 0]], "embeddings")
    return LimitTransformer(("0", "1"), embeddings, _zeros(1, 3), (layer,), matrix([[0, 0, 1]], "readout"))


def share_in_class(period: int = 3, residue: int = 0) -> LimitTransformer:
    """The share of ones at the places t with t = residue modulo period, counted from 0: the target of `modp_task`.

    The coordinates: is a one; is of the class; is constant 1; the answer.
    """
    if not 0 <= residue < period:
        raise UsageError(f"a residue lies between 0 and the period less one, not {residue} of {period}")
    positions = [[0, int(phase == residue), 1, 0] for phase in range(period)]
    match = [[0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]]  # key: of the class; query: constant
    value = [[0, 0, 0, 0]] * 3 + [[1, 0, 0, 0]]
    return _one_layer("01", [[0] * 4, [1, 0, 0, 0]], positions, match, [0], value, [[0, 0, 0, 1]])


def previous_token(letters: int = 2) -> LimitTransformer:
    """Which letter stands before the last one, by the positional term alone (locality 1); of a word of one letter, that
    letter."""
    symbols = _letters(letters)
    width = 2 * letters
    embeddings = [[int(i == s) for i in range(width)] for s in range(letters)]
    readout = [[int(i == letters + s) for i in range(width)] for s in range(letters)]
    return _one_layer(symbols, embeddings, [[0] * width], [[0] * width] * width, [0, 1], _shift(letters), readout)


def rare_pair() -> LimitTransformer:
    """The share of a among the letters a and b, however rare they are among the c: attention prefers a and b to c."""
    embeddings = [[1, 1, 1, 0], [0, 1, 1, 0], [0, 0, 1, 0]]
    match = [[0] * 4, [0, 0, 1, 0], [0] * 4, [0] * 4]
    value = [[0] * 4] * 3 + [[1, 0, 0, 0]]
    return _one_layer("abc", embeddings, [[0] * 4], match, [0], value, [[0, 0, 0, 1]])


def bigram(letters: int = 2, strength: float = 6.0) -> LimitTransformer:
    """About how often each letter followed the last one: two layers, infinite precision.

    Layer 1 copies the letter before (phi(1) = 2: position-dominated); layer 2 looks at the places whose letter before
    equals the last letter, exp(strength) times as much as at others. The share of the rest is of order exp(-strength).
    """
    symbols, width = _letters(letters), 3 * letters
    first = _head([[0] * width] * width, [0, 2], _shift(letters, width))
    match = [[0.0] * width for _ in range(width)]
    value = [[0] * width for _ in range(width)]
    for letter in range(letters):
        match[letters + letter][letter] = float(strength)
        value[2 * letters + letter][letter] = 1
    second = _head(match, [0], value)
    embeddings = matrix([[int(i == s) for i in range(width)] for s in range(letters)], "embeddings")
    readout = matrix([[int(i == 2 * letters + s) for i in range(width)] for s in range(letters)], "readout")
    layers = (Layer((first,)), Layer((second,)))
    return LimitTransformer(symbols, embeddings, _zeros(1, width), layers, readout, mode="infinite")


EXAMPLES: dict[str, Callable[[], LimitTransformer]] = {
    "majority": majority,
    "wave": wave,
    "share_in_class": share_in_class,
    "previous_token": previous_token,
    "rare_pair": rare_pair,
    "bigram": bigram,
}


def example(name: str) -> LimitTransformer:
    """An example by its name, with its usual settings."""
    if name not in EXAMPLES:
        raise UsageError(f"unknown example {name!r}; {nearest(name, EXAMPLES)}it is one of {', '.join(EXAMPLES)}")
    return EXAMPLES[name]()


def _one_layer(
    symbols: Sequence[str], embeddings: Any, positions: Any, match: Any, local: Any, value: Any, readout: Any
) -> LimitTransformer:
    layer = Layer((_head(match, local, value),))
    arrays = [matrix(embeddings, "embeddings"), matrix(positions, "positions"), matrix(readout, "readout")]
    return LimitTransformer(tuple(symbols), arrays[0], arrays[1], (layer,), arrays[2])


def _head(match: Any, local: Any, value: Any) -> Head:
    return Head(matrix(match, "match"), vector(local, "local"), matrix(value, "value"))


def _zeros(rows: int, width: int) -> Any:
    return matrix([[0] * width] * rows, "zeros")


def _shift(letters: int, width: int = 0) -> list[list[int]]:
    """A value matrix that writes the letter of a key beside the letter of the query."""
    width = width or 2 * letters
    return [[int(row - letters == column and column < letters) for column in range(width)] for row in range(width)]


def _letters(count: int) -> tuple[str, ...]:
    if not 1 <= count <= 26:
        raise UsageError(f"letters are 1 to 26, not {count}")
    return tuple("abcdefghijklmnopqrstuvwxyz"[:count])
