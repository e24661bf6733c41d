"""Distances between items of two samples, and the constants of the margin in the same distance: certified and attacked.

In each ground two items with the same labels have margins that differ by at most the certified constant times their
distance; the distance is infinite where nothing is claimed of a pair.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from lengthwise.bounds.lipschitz.attention import behind_norm
from lengthwise.bounds.lipschitz.bound import ARITHMETIC, Norm
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.models.forward import embed
from lengthwise.models.parts import Anatomy
from lengthwise.probes.lipschitz.attack import has_derivative, lower_bound_near
from lengthwise.probes.lipschitz.certificate import certify, certify_near
from lengthwise.probes.lipschitz.parts import array
from lengthwise.probes.shift_bound.samples import AskedItem, ShiftSide
from lengthwise.records import Claim, Reference
from lengthwise.rounding import Upper, distances_above, gamma, lengths
from lengthwise.seeds import Floats

explain(
    {
        "shift_bound.head": "Lipschitz constant of the margin in the last hidden state",
        "shift_bound.head_seen": "steepest margin in the last hidden state, at the source items",
        "shift_bound.states": "Euclidean distance of the last hidden states at one place per item",
        "shift_bound.token": "longest difference of two embeddings at the same place",
        "shift_bound.frobenius": "Euclidean distance of all embeddings",
        "shift_bound.measure": "W1 of the tokens before a place that is asked for, as the first attention reads them",
    }
)

_NORMS: tuple[Norm, ...] = ("token", "frobenius")
_NEAR_CELLS = 30_000_000  # sequences times squared length up to which a certificate near them is computed
_ATTACKED, _STEPS = 8, 15  # sequences that are attacked, and steps of the attack


@dataclass(frozen=True, eq=False)
class BoundGround:
    """A distance [n, m] between the items of two samples, and the constants of the margin in it."""

    key: str
    distances: Floats
    certified: Claim
    attacked: Claim | None


def steepest_difference(anatomy: Anatomy, labels: Sequence[int]) -> tuple[float, Tensor]:
    """The largest norm of the difference between the row of a label and any other row of the head, as functions of what
    the final norm gives before its weights; and that difference [1, W]. Every margin of these labels is a minimum of
    such differences, so its constant is that of the steepest (statement 14). Both are rounded up: the difference is
    enlarged by what rounding can have hidden of a steeper one."""
    assert anatomy.head is not None
    head, norm = array(anatomy.head), anatomy.norm_final
    weight = None if norm is None else array(norm.weight)
    folded = behind_norm(head, weight, norm is not None and norm.kind == "layer")
    best, pair = -1.0, (0, 0)
    for label in sorted(set(labels)):
        apart = np.asarray(lengths(folded.values - folded.values[label]).value)
        if apart.max() > best:
            best, pair = float(apart.max()), (label, int(apart.argmax()))
    steepest = float(Upper(best) + Upper(folded.error) * 2.0)
    enlarged = steepest / best * (1.0 + gamma(head.shape[1] + 20)) if best > 0 else 1.0
    return steepest, (anatomy.head[pair[0]] - anatomy.head[pair[1]])[None] * enlarged


# --- last hidden states ---------------------------------------------------------------------------------------------


def states_ground(anatomy: Anatomy, source: ShiftSide, target: ShiftSide) -> BoundGround:
    """States behind the final norm, of which the scores are linear functions."""
    assert anatomy.head is not None
    head = array(anatomy.head)
    labels = sorted({item.labels[0] for side in (source, target) for item in side.items})
    constant = max(float(lengths(head - head[label]).largest()) for label in labels)
    one, two = (np.stack([item.states[0] for item in side.items]) for side in (source, target))
    scores, own = one @ head.T, np.array([item.labels[0] for item in source.items])
    scores[np.arange(len(own)), own] = -np.inf
    seen = float(np.linalg.norm(head[own] - head[scores.argmax(axis=1)], axis=1).max())
    unit = "in the Euclidean norm of a state"
    certified = Claim(
        "shift_bound.head", constant, f"at most, {unit}", "certified",
        assumptions=ARITHMETIC, reference=Reference("docs/explanation/bounds.md", "statement 14"),
        evidence={"labels": len(labels)},
    )  # fmt: skip
    attacked = Claim("shift_bound.head_seen", seen, f"at least, {unit}", "measured", evidence={"items": len(own)})
    return BoundGround("states", distances_above(one, two), certified, attacked)


# --- all embeddings, at equal length --------------------------------------------------------------------------------


def sequence_grounds(anatomy: Anatomy, source: ShiftSide, target: ShiftSide, seed: int) -> list[BoundGround]:
    """Both norms of the embeddings. Items of different lengths, or asked at different places, are infinitely far apart;
    the constant is the largest over the lengths that both sides have."""
    if anatomy.embed.dtype != torch.float64:
        raise UsageError("certificates are computed from float64 weights, and those of so large a model are float32")
    labels = [label for side in (source, target) for item in side.items for label in item.labels]
    margin = replace(anatomy, head=steepest_difference(anatomy, labels)[1])
    shape = (len(source.items), len(target.items))
    distances = {norm: np.full(shape, math.inf) for norm in _NORMS}
    certified: dict[Norm, list[Claim]] = {norm: [] for norm in _NORMS}
    attacked: dict[Norm, list[Claim]] = {norm: [] for norm in _NORMS}
    lengths = {len(item.tokens) for item in source.items}
    shared = sorted(lengths & {len(item.tokens) for item in target.items})
    for length in shared or sorted(lengths)[-1:]:
        rows, columns = (
            np.array([i for i, item in enumerate(side.items) if len(item.tokens) == length], dtype=int)
            for side in (source, target)
        )
        x, y = (
            _embedded(anatomy, [side.items[i] for i in some], length)
            for side, some in ((source, rows), (target, columns))
        )
        far = _apart(x, y) if len(columns) else {norm: np.zeros((len(rows), 0)) for norm in _NORMS}
        for norm in _NORMS:
            distances[norm][np.ix_(rows, columns)] = far[norm]
        widening = float(far["token"].max()) if len(columns) else 0.0
        tokens = torch.tensor(sorted({source.items[i].tokens for i in rows}))
        both = [certify(margin, length, "tokens")]
        if len(columns) and tokens.numel() * length <= _NEAR_CELLS:
            both.append(certify_near(margin, tokens, widening))
        for norm in _NORMS:
            certified[norm].append(min((getattr(one, norm) for one in both), key=_value))
            if len(columns) and widening > 0 and has_derivative(margin):
                attacked[norm].append(lower_bound_near(margin, tokens[:_ATTACKED], widening, norm, _STEPS, seed))
    for norm in _NORMS:
        for item_row, one in enumerate(source.items):
            other = [j for j, two in enumerate(target.items) if two.places != one.places]
            distances[norm][item_row, other] = math.inf
    return [
        BoundGround(
            norm, distances[norm], max(certified[norm], key=_value), max(attacked[norm], key=_value, default=None)
        )
        for norm in _NORMS
    ]


def _value(claim: Claim) -> float:
    """Its number; infinite where it has none."""
    return float(claim.value) if isinstance(claim.value, int | float) and claim.status == "holds" else math.inf


def _embedded(anatomy: Anatomy, items: Sequence[AskedItem], length: int) -> Floats:
    if not items:
        return np.zeros((0, length, anatomy.width))
    with torch.no_grad():
        return array(embed(anatomy, torch.tensor([item.tokens for item in items]), anatomy.places(length)))


def _apart(x: Floats, y: Floats) -> dict[Norm, Floats]:
    """Distances of all pairs of x [n, T, W] and y [m, T, W] in both norms, none below the true one."""
    longest, together = np.zeros((len(x), len(y))), Upper(np.zeros((len(x), len(y))))
    for place in range(x.shape[1]):
        far = distances_above(x[:, place], y[:, place])
        np.maximum(longest, far, out=longest)
        together = together.hypot(far)
    return {"token": longest, "frobenius": np.asarray(together.value)}


def constant_of(claim: Claim | None) -> float:
    """The number of a constant, infinite where there is none."""
    return math.inf if claim is None else _value(claim)
