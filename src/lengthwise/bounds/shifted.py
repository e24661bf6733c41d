"""The 0-1 error under a shift, from two samples: the ramp loss, what a pair of items can cost, and the bound.

An item has inputs x, labels y and a margin s: the least by which the score of a right label exceeds that of every other
one. It is answered wrongly exactly where s <= 0 (ties count as errors). The ramp loss at γ > 0 is clip(1 - s/γ, 0, 1),
at least that error. Statement 17 of docs/explanation/bounds.md: if margins of equal labels are L-Lipschitz in a
distance d, then for *every* coupling π of the samples

    err_Q <= Σ_i a_i ramp(s_i) + Σ_ij π_ij min(1, (L/γ) d_ij + [y_i ≠ y_j]) + √(ln(1/δ) / 2m)

with probability 1 - δ over the m target items, at every γ at once. Nothing is assumed of the source sample, and neither
its risk nor the distance has a sampling term of its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.risk import BoundTerm, Quantity, RiskBound, put_together, read_quantity
from lengthwise.bounds.sampling import uniform_deviation
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption
from lengthwise.rounding import Upper
from lengthwise.seeds import Floats

SHARES = (0.05, 0.1, 0.2, 0.35, 0.5, 0.75)  # of the source margins that lie below the values of γ that are tried

explain(
    {
        "shifted.error": "0-1 error under the shift",
        "shifted.fresh": "the target items are independent draws, and the model was not chosen by them",
        "shifted.labels_seen": "labels of the target sample are known, and enter by the mass moved between labels",
        "shifted.unlabelled": "target inputs whose labels differ from those of a source input are {separation:g} apart",
        "term.sampling_target": "sampling, target",
    }
)


def ramp(margins: Floats, margin: float) -> Floats:
    """clip(1 - s/γ, 0, 1): at least the error [s <= 0], and 1/γ-Lipschitz in s."""
    if not 0 < margin < np.inf:
        raise UsageError(f"the margin γ must be above 0 and finite, not {margin}")
    return np.clip(1.0 - np.asarray(margins) / margin, 0.0, 1.0)


def margins_to_try(margins: Floats, shares: Sequence[float] = SHARES) -> list[float]:
    """Values of γ at which this share of the positive source margins lies below γ; 1 where none is positive."""
    right = np.asarray(margins)[np.asarray(margins) > 0]
    return sorted({float(g) for g in np.quantile(right, shares)}) if len(right) else [1.0]


def pair_costs(
    distances: Floats, slope: float, other_label: NDArray[np.bool_], separation: float | None = None
) -> Floats:
    """min(1, slope d + [labels differ]) of every pair: what the ramp loss can change by from a source item to a target
    item. `slope` is L/γ, infinite where no constant is known: then only equal inputs (distance 0) cost nothing, and
    the cheapest coupling is the total variation of the samples. A pair at infinite distance costs 1.

    With a `separation`, labels of the target are not looked at: inputs whose labels differ are at least that far apart,
    and the cost is min(1, max(slope, 1/separation) d)."""
    apart = np.asarray(distances, dtype=np.float64)
    if separation is not None:
        if not separation > 0:
            raise UsageError(f"the separation of labels must be above 0, not {separation}")
        slope, other_label = max(slope, 1 / separation), np.zeros(apart.shape, bool)
    if not slope >= 0:
        raise UsageError(f"a slope must be 0 or more, not {slope}")
    known = (apart > 0) & (apart < np.inf)
    moved = np.where(apart == 0, 0.0, 1.0)
    moved[known] = np.minimum(1.0, (Upper(apart[known]) * slope).value)
    return np.where(other_label, 1.0, moved)


def shift_bound(
    source_ramp: float,
    shift: float,
    labels: float,
    *,
    constant: Quantity | None,
    margin: float,
    items: int,
    delta: float,
    separation: float | None = None,
) -> RiskBound:
    """The bound from its terms: the mean ramp loss of the source sample, what a coupling of the samples costs where
    labels agree (`shift`) and where they do not (`labels`), and what the `items` of the target hide at any γ.

    `constant` is L, by which `shift` was computed; a measured one makes the bound heuristic, and None says that no
    constant is known, so that `shift` rests on equal inputs alone.
    """
    if not (0 <= source_ramp <= 1 and shift >= 0 and labels >= 0):
        raise UsageError(f"terms of a bound must be 0 or more, not {source_ramp}, {shift} and {labels}")
    reads = [] if constant is None else [read_quantity(constant, "the Lipschitz constant of the margin")]
    how = f"L / γ = {(reads[0].value or 0.0) / margin:.4g}" if reads else "no constant: inputs that are not equal"
    terms = [
        BoundTerm("source_risk", source_ramp, f"mean ramp loss at γ = {margin:.4g}"),
        BoundTerm("shift", shift, how),
        BoundTerm("labels", labels, "mass moved between different labels"),
        BoundTerm("sampling_target", uniform_deviation(items, delta), f"{items} items, δ = {delta:g}, any γ"),
    ]
    known = Assumption("shifted.labels_seen", "checked")
    if separation is not None:
        known = Assumption("shifted.unlabelled", values={"separation": separation})
    return put_together("shifted.error", terms, 1.0, reads, [Assumption("shifted.fresh"), known], "statement 17")
