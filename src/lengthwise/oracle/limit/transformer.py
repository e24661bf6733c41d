"""Limit transformers that can be run: one or two layers, periodic positions, local attention terms, three modes.

A token s at position i (counted from 1) begins as y_i = E_s + p_i with p_(i + period) = p_i. A head gives the key
j <= i the logit a_ij = y_j · M y_i + phi(i - j), where M = KᵀQ and phi(t) = 0 for t > locality, and adds the mean of
V y_j under its weights; all heads are added to the residual stream, then B psi(A y + b) is. The answer is U y at the
last position.

    "finite"     weight n^(a - max a) for an input of n tokens (logits times log n), and 0 where that is at most 2^-bits
    "hardmax"    its limit: the plain mean over the keys with the largest logit
    "infinite"   weight exp(y_j · M y_i + log(i) phi(i - j)): only the positional part is scaled, nothing is rounded

"finite" rounds a weight before normalisation, where the largest is 1: after it, the weights 1/n of uniform attention
would themselves vanish at n >= 2^bits. Where every number is rational, "hardmax" is exact, and so is "finite" if the
differences of logits are whole or rounded away, which is always decided exactly. All else is in double precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.seeds import Ints

Number = Fraction | float
Array = NDArray[Any]
TIE = 1e-9  # two floating-point logits this close count as equal; exact numbers need no such rule
Mode = Literal["finite", "hardmax", "infinite"]
Activation = Literal["relu", "step", "sin", "identity"]
CHUNK = 1 << 22  # entries of an attention matrix held at once


def number(value: Any, what: str) -> Number:
    """An int, a fraction or a text such as "2/3" is exact; a float stays a float."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction | np.integer | np.floating):
        raise UsageError(f'{what} must be a number or a text such as "2/3", not {value!r}')
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            raise UsageError(f"{what} must be a finite number, not {value}")
        return float(value)
    try:
        return Fraction(int(value) if isinstance(value, np.integer) else value)
    except (ValueError, ZeroDivisionError):
        raise UsageError(f'{what} must be a number or a text such as "2/3", not {value!r}') from None


def vector(values: Any, what: str) -> Array:
    """A row of numbers, exact if all of them are."""
    if not isinstance(values, Sequence | np.ndarray) or isinstance(values, str):
        raise UsageError(f"{what} must be a list of numbers, not {values!r}")
    entries = [number(value, f"{what}, entry {index + 1},") for index, value in enumerate(values)]
    return _packed(entries, (len(entries),))


def matrix(rows: Any, what: str) -> Array:
    """A list of rows of equal width, exact if all entries are."""
    if not isinstance(rows, Sequence | np.ndarray) or isinstance(rows, str) or not len(rows):
        raise UsageError(f"{what} must be a list of rows of numbers, not {rows!r}")
    lines = [vector(row, f"{what}, row {index + 1}") for index, row in enumerate(rows)]
    for index, line in enumerate(lines):
        if len(line) != len(lines[0]):
            raise UsageError(f"{what}, row {index + 1}, has {len(line)} numbers where {len(lines[0])} are needed")
    return _packed([entry for line in lines for entry in line], (len(lines), len(lines[0])))


def is_exact(array: Array) -> bool:
    return array.dtype == object


def single(value: int, like: Array) -> Array:
    """One number of the array's kind, which broadcasts."""
    if not is_exact(like):
        return np.array(float(value))
    array = np.empty((), dtype=object)
    array[()] = Fraction(value)
    return array


def _packed(entries: list[Number], shape: tuple[int, ...]) -> Array:
    if all(isinstance(entry, Fraction) for entry in entries):
        packed = np.empty(len(entries), dtype=object)
        packed[:] = entries
        return packed.reshape(shape)
    return np.array([float(entry) for entry in entries]).reshape(shape)


@dataclass(frozen=True, eq=False)
class LimitHead:
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

    def activated(self, states: Array) -> Array:
        inner = states @ self.inner.T + self.offset
        if self.activation == "relu":
            return np.maximum(inner, 0)
        if self.activation == "step":
            return np.where(inner > 0, single(1, inner), single(0, inner))
        return np.sin(inner) if self.activation == "sin" else inner


@dataclass(frozen=True, eq=False)
class Layer:
    heads: tuple[LimitHead, ...]
    mlp: Mlp | None = None


@dataclass(frozen=True, eq=False)
class LimitTransformer:
    """`positions` has one row per phase, the first for the first position; `bits` is for the mode "finite"."""

    symbols: tuple[str, ...]
    embeddings: Array
    positions: Array
    layers: tuple[Layer, ...]
    readout: Array
    mode: Mode = "hardmax"
    bits: int = 16

    def __post_init__(self) -> None:
        _check(self)

    @property
    def period(self) -> int:
        return len(self.positions)

    @property
    def locality(self) -> int:
        """The largest distance at which some head has a positional term."""
        reach = [t for layer in self.layers for head in layer.heads for t, phi in enumerate(head.local) if phi != 0]
        return max(reach, default=0)

    @property
    def exact(self) -> bool:
        """Whether every number is rational and the mode keeps them so where it can."""
        smooth = any(layer.mlp is not None and layer.mlp.activation == "sin" for layer in self.layers)
        parts = [self, *(part for layer in self.layers for part in (*layer.heads, layer.mlp) if part is not None)]
        arrays = [value for part in parts for value in vars(part).values() if isinstance(value, np.ndarray)]
        return self.mode != "infinite" and not smooth and all(map(is_exact, arrays))

    @property
    def exact_logits(self) -> bool:
        """Whether the logits of the first layer are rational."""
        heads = [array for head in self.layers[0].heads for array in (head.match, head.local)]
        return all(is_exact(array) for array in (self.embeddings, self.positions, *heads))

    def in_mode(self, mode: Mode, bits: int | None = None) -> LimitTransformer:
        return replace(self, mode=mode, bits=self.bits if bits is None else bits)

    def in_floats(self) -> LimitTransformer:
        """The same transformer in double precision, which is many times faster on long inputs."""
        layers = tuple(
            Layer(tuple(map(_floating, layer.heads)), layer.mlp and _floating(layer.mlp)) for layer in self.layers
        )
        return replace(_floating(self), layers=layers)

    def read(self, word: Sequence[str]) -> Ints:
        """A word as numbers of symbols, one row."""
        if not len(word):
            raise UsageError("a limit transformer answers a word of at least one symbol, not the empty one")
        if unknown := [symbol for symbol in word if symbol not in self.symbols]:
            raise UsageError(f"the symbols are {' '.join(self.symbols)}; {unknown[0]!r} is not one of them")
        return np.array([[self.symbols.index(symbol) for symbol in word]], dtype=np.int64)

    def spelled(self, word: Ints) -> tuple[str, ...]:
        """Numbers of symbols as symbols."""
        return tuple(self.symbols[symbol] for symbol in word)

    def answer(self, word: Sequence[str]) -> tuple[Any, ...]:
        """The output vector for one word of symbols."""
        return tuple(self.answers(self.read(word))[0])

    def answers(self, words: Ints) -> Array:
        """The outputs for words of one length, [words, outputs]. O(length) for one layer, O(length²) for two."""
        model = self if self.exact else self.in_floats()
        length = words.shape[1]
        states = model.embeddings[words] + model.positions[np.arange(length) % model.period]
        for layer in model.layers[:-1]:
            states = _through(layer, states, np.arange(length), model)
            if is_exact(states) and any(isinstance(entry, float) for entry in states.flat):
                model, states = model.in_floats(), states.astype(float)  # the mode "finite" had weights with roots
        last = _through(model.layers[-1], states, np.array([length - 1]), model)
        return last[:, 0] @ model.readout.T


def head_weights(head: LimitHead, states: Array, queries: Ints, mode: Mode, bits: int) -> Array:
    """The attention weights of a head, [words, queries, keys]; rows add up to 1."""
    length, zero = states.shape[1], single(0, states)
    distance = queries[:, None] - np.arange(length)
    near = (distance >= 0) & (distance < len(head.local))
    local = np.broadcast_to(zero, distance.shape).copy()
    local[near] = head.local[distance[near]]
    if mode == "infinite":
        local = local * np.log(queries + 1.0)[:, None]
    logits = (states[:, queries] @ head.match.T) @ np.swapaxes(states, 1, 2) + local
    seen = distance >= 0
    top = np.where(seen, logits, logits[:, np.arange(len(queries)), queries][..., None]).max(axis=2, keepdims=True)
    gaps = np.where(seen, top - logits, zero)
    weights = np.where(seen, _weights(gaps, mode, bits, length), single(0, gaps))
    return weights / weights.sum(axis=2, keepdims=True)


def _weights(gaps: Array, mode: Mode, bits: int, length: int) -> Array:
    """The weight of a key whose logit is `gaps` below the largest, which has weight 1."""
    if is_exact(gaps):
        weigh = np.frompyfunc(lambda gap: exact_weight(gap, mode, bits, length), 1, 1)
        return np.asarray(weigh(gaps), dtype=object)
    if mode == "hardmax":
        return (gaps <= TIE).astype(np.float64)
    if mode == "infinite":
        return np.exp(-gaps)
    weights = np.exp(-math.log(length) * np.where(gaps <= TIE, 0.0, gaps))
    return np.where(weights <= 2.0**-bits * (1 + TIE), 0.0, weights)


def exact_weight(gap: Fraction, mode: Mode, bits: int, length: int) -> Fraction | float:
    """length^-gap, rounded to 0 where it is at most 2^-bits: that is decided by whole numbers."""
    if gap == 0:
        return Fraction(1)
    if mode == "hardmax" or length**gap.numerator >= 2 ** (bits * gap.denominator):
        return Fraction(0)
    return Fraction(1, length**gap.numerator) if gap.denominator == 1 else float(length) ** -float(gap)


def _through(layer: Layer, states: Array, queries: Ints, model: LimitTransformer) -> Array:
    """The states at the queried positions (0-based) after a layer, [words, queries, width]."""
    step = max(1, CHUNK // (states.shape[0] * states.shape[1]))
    parts = []
    for begin in range(0, len(queries), step):
        some = queries[begin : begin + step]
        mixed = states[:, some]
        for head in layer.heads:
            mixed = mixed + head_weights(head, states, some, model.mode, model.bits) @ (states @ head.value.T)
        parts.append(mixed)
    result = np.concatenate(parts, axis=1)
    return result if layer.mlp is None else result + layer.mlp.activated(result) @ layer.mlp.outer.T


Part = TypeVar("Part", LimitHead, Mlp, LimitTransformer)


def _floating(part: Part) -> Part:
    """A part with all its arrays in double precision."""
    arrays = {name: value.astype(float) for name, value in vars(part).items() if isinstance(value, np.ndarray)}
    return replace(part, **arrays)


def _check(model: LimitTransformer) -> None:
    """Known modes, at most two layers, and shapes that fit."""
    if not model.symbols or len(set(model.symbols)) != len(model.symbols):
        raise UsageError(f"there must be at least one symbol, all different, not {list(model.symbols)}")
    if not 1 <= len(model.layers) <= 2 or not all(layer.heads for layer in model.layers):
        raise UsageError(
            f"a limit transformer here must have one or two layers, each with a head, not {len(model.layers)}"
        )
    if model.mode not in get_args(Mode):
        raise UsageError(f"mode must be one of {', '.join(get_args(Mode))}, not {model.mode!r}")
    if not 1 <= model.bits <= 4096:
        raise UsageError(f"bits must lie between 1 and 4096, not {model.bits}")
    width = model.embeddings.shape[-1]
    _fits("embeddings", model.embeddings, len(model.symbols), width)
    _fits("positions", model.positions, None, width)
    _fits("readout", model.readout, None, width)
    for number, layer in enumerate(model.layers, start=1):
        for head in layer.heads:
            _fits(f"layer {number}: match", head.match, width, width)
            _fits(f"layer {number}: value", head.value, width, width)
            _fits(f"layer {number}: local", head.local, None)
        if (mlp := layer.mlp) is not None:
            _fits(f"layer {number}: inner", mlp.inner, None, width)
            _fits(f"layer {number}: offset", mlp.offset, len(mlp.inner))
            _fits(f"layer {number}: outer", mlp.outer, width, len(mlp.inner))
            if mlp.activation not in get_args(Activation):
                raise UsageError(f"activation must be one of {', '.join(get_args(Activation))}, not {mlp.activation!r}")


def _fits(name: str, array: Array, *shape: int | None) -> None:
    """The array has this shape; None stands for any size of one or more."""
    fits = array.ndim == len(shape) and all(
        have >= 1 if want is None else have == want for have, want in zip(array.shape, shape, strict=True)
    )
    if not fits:
        need = " x ".join("any" if want is None else str(want) for want in shape)
        raise UsageError(f"{name} has the shape {' x '.join(map(str, array.shape))} where {need} is needed")
