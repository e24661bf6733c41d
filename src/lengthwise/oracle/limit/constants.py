"""Constants of a limit transformer that theorems name: the positional margin, and L, which bounds a simulation's error.

Positional margin (Theorem 5.2 of Izzo, Nichani and Lee, as secondary sources report it). At infinite precision a key at
distance t has a weight of the order i^phi(t), and all far keys together have i. With P the values of phi up to the
locality and 1, everything that does not have the largest value of P vanishes like i^-gamma, gamma being the distance
from the largest to the second largest (docs/explanation/limit.md, statement 3).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.transformer import Array, LimitHead, LimitTransformer, Number, head_weights
from lengthwise.seeds import Ints

Regime = Literal["tokens", "balanced", "positions"]


@dataclass(frozen=True)
class HeadRegime:
    """What a head attends to on long inputs: `largest` is its largest positional term; below 1 the far tokens decide,
    above 1 the nearest positions, at 1 both. `margin` is None where all keys are of one order."""

    layer: int  # counted from 1, and so is the head
    head: int
    largest: Number
    margin: Number | None

    @property
    def regime(self) -> Regime:
        return "tokens" if self.largest < 1 else "positions" if self.largest > 1 else "balanced"


def regimes(model: LimitTransformer) -> tuple[HeadRegime, ...]:
    """The regime and the positional margin of every head."""
    found = []
    for layer, part in enumerate(model.layers, start=1):
        for number, head in enumerate(part.heads, start=1):
            reach = max((t for t, phi in enumerate(head.local) if phi != 0), default=0)
            near = [phi if isinstance(phi, Fraction) else float(phi) for phi in head.local[: reach + 1]]
            first, *rest = sorted({*near, Fraction(1)}, reverse=True)
            found.append(HeadRegime(layer, number, max(near), first - rest[0] if rest else None))
    return tuple(found)


def positional_margin(model: LimitTransformer) -> Number | None:
    """gamma of Theorem 5.2: the smallest margin of a head; None where no head has two orders of weights."""
    return min((one.margin for one in regimes(model) if one.margin is not None), default=None)


def lipschitz(model: LimitTransformer) -> float:
    """L = |U| (1 + m |A| |B|) sum over heads of |V| (max |E| + max |p|), with spectral norms; m = 1 is the Lipschitz
    constant of the activation. Infinite for an MLP of steps (docs/explanation/limit.md, statement 4)."""
    return _scale(model) * sum(_norm(head.value) for head in _heads(model))


def stand_in_bound(model: LimitTransformer, word: Ints, short: Ints) -> float:
    """The largest difference that two answers can have when the words end in the same symbol and phase: the scale of L
    times the sum over heads of |V| d, d the total change of a head's weights on symbols at phases (statement 4)."""
    same = word[-1] == short[-1] and (len(word) - len(short)) % model.period == 0
    if not same:
        raise UsageError("the bound compares words that end in the same symbol at the same phase")
    model, moved = model if model.exact else model.in_floats(), 0.0
    for head in _heads(model):
        one, other = (_spent(model, head, x) for x in (word, short))
        moved += _norm(head.value) * float(np.abs(one - other).sum())
    return _scale(model) * moved if moved else 0.0


def _heads(model: LimitTransformer) -> tuple[LimitHead, ...]:
    if len(model.layers) != 1:
        raise UsageError("the constant L is defined for one layer")
    return model.layers[0].heads


def _scale(model: LimitTransformer) -> float:
    """What a change of a head's mean by |V| d is multiplied by on the way to the answer, with the size of states."""
    mlp = model.layers[0].mlp
    gain = 1.0 if mlp is None else 1 + _norm(mlp.inner) * _norm(mlp.outer)
    if mlp is not None and mlp.activation == "step":
        gain = math.inf
    states = sum(
        float(np.linalg.norm(part.astype(float), axis=1).max()) for part in (model.embeddings, model.positions)
    )
    return _norm(model.readout) * gain * states


def _norm(array: Array) -> float:
    return float(np.linalg.norm(array.astype(float), 2))


def _spent(model: LimitTransformer, head: LimitHead, word: Ints) -> Array:
    """How much weight the last position gives to each symbol at each phase, [period, symbols]."""
    phases = np.arange(len(word)) % model.period
    states = (model.embeddings[word] + model.positions[phases])[None]
    weights = head_weights(head, states, np.array([len(word) - 1]), model.mode, model.bits)[0, 0]
    spent = np.zeros((model.period, len(model.symbols)))
    np.add.at(spent, (phases, word), weights.astype(float))
    return spent
