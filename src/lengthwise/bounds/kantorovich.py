"""What a risk can grow to when the data shift, by Kantorovich's inequality, with every term shown.

P is the source, Q the target, W1 their distance in a stated ground metric d, and every Lipschitz constant is with
respect to the same d. A smaller metric makes W1 smaller and the constants larger: their product is what counts.

    realizable_bound    labels come from a function that is itself Lipschitz
    agnostic_bound      any labels; some hypothesis of the class must do well on both
    margin_bound        the 0-1 error of a classifier, through the ramp loss

All are proved in docs/bounds.md (statements 12 to 15). Only couplings are used, so `distance` may be the cost of any
coupling of P and Q, optimal or not, and the constants need only hold between a point of one and a point of the other.
"""

from __future__ import annotations

import math

from lengthwise.bounds.risk import Quantity, Read, RiskBound, Term, put_together, read_quantity
from lengthwise.errors import UsageError
from lengthwise.records import Assumption

ONE_METRIC = "the distance and all Lipschitz constants are in one and the same metric"
HELD_OUT = Assumption("sampling terms: items are drawn independently of each other and of the model")


def realizable_bound(
    source_risk: float,
    distance: Quantity,
    *,
    model_lipschitz: Quantity,
    target_lipschitz: Quantity,
    loss_lipschitz: float = 1.0,
    loss_range: float = math.inf,
    approximation: float = 0.0,
    source_sampling: float = 0.0,
    distance_sampling: float = 0.0,
    metric: str = "",
) -> RiskBound:
    """R_Q(f) <= R_P(f) + ℓ (L_f + L_*) W1 + 2 ℓ a.

    The loss is ℓ-Lipschitz in the prediction and in the label; a is how far the labelling function is at most from one
    that is L_*-Lipschitz (0: it is itself). Sampling terms are those of `bounds.sampling`.
    """
    _check(source_risk, loss_range, loss_lipschitz, approximation, source_sampling, distance_sampling)
    model = read_quantity(model_lipschitz, "the Lipschitz constant of the model")
    target = read_quantity(target_lipschitz, "the Lipschitz constant of the labelling function")
    between = read_quantity(distance, "the distance between source and target")
    slope = loss_lipschitz * ((model.value or 0.0) + (target.value or 0.0))
    terms = _terms(source_risk, source_sampling, slope, between, distance_sampling, "ℓ (L_f + L_*)")
    terms.append(Term("approximation", 2 * loss_lipschitz * approximation, "2 ℓ a"))
    others = [
        _metric(metric),
        Assumption(f"the loss is {loss_lipschitz:g}-Lipschitz in the prediction and in the label"),
        Assumption(f"labels come from a function within {approximation:g} of a Lipschitz one, the same in P and Q"),
    ]
    others += _sampled(source_sampling, distance_sampling)
    reads = [model, target, between]
    return put_together("target risk (realizable)", terms, loss_range, reads, others, "statement 12")


def agnostic_bound(
    source_risk: float,
    distance: Quantity,
    *,
    class_lipschitz: Quantity,
    joint_risk: Quantity,
    loss_lipschitz: float = 1.0,
    loss_range: float = math.inf,
    approximation: float = 0.0,
    source_sampling: float = 0.0,
    distance_sampling: float = 0.0,
    metric: str = "",
) -> RiskBound:
    """R_Q(h) <= R_P(h) + 2 ℓ K W1 + λ + 2 ℓ a, for a loss that is ℓ times a metric on labels.

    λ = R_P(h') + R_Q(h') for some hypothesis h' of the class, and K is a Lipschitz constant of h and h'; a is how far
    the model is at most from the class. λ needs labels of the target, or faith.
    """
    _check(source_risk, loss_range, loss_lipschitz, approximation, source_sampling, distance_sampling)
    model = read_quantity(class_lipschitz, "the Lipschitz constant of the class")
    joint = read_quantity(joint_risk, "the joint risk λ of the best hypothesis")
    between = read_quantity(distance, "the distance between source and target")
    slope = 2 * loss_lipschitz * (model.value or 0.0)
    terms = _terms(source_risk, source_sampling, slope, between, distance_sampling, "2 ℓ K")
    terms.append(Term("joint risk", joint.value or 0.0, "λ"))
    terms.append(Term("approximation", 2 * loss_lipschitz * approximation, "2 ℓ a"))
    others = [_metric(metric), Assumption(f"the loss is {loss_lipschitz:g} times a metric (triangle inequality)")]
    others += _sampled(source_sampling, distance_sampling)
    reads = [model, joint, between]
    return put_together("target risk (agnostic)", terms, loss_range, reads, others, "statement 13")


def margin_bound(
    source_ramp: float,
    distance: Quantity,
    *,
    model_lipschitz: Quantity,
    margin: float,
    label_disagreement: Quantity | None = None,
    label_separation: float | None = None,
    approximation: float = 0.0,
    source_sampling: float = 0.0,
    distance_sampling: float = 0.0,
    metric: str = "",
) -> RiskBound:
    """err_Q <= ramp_P + (√2 L_f / γ) cost + P(labels differ) + 2√2 a / γ, for logits that are L_f-Lipschitz in l2.

    `source_ramp` is the mean of clip(1 - margin / γ, 0, 1) on the source. What becomes of labels must be said, for
    inputs that are near may have other labels, and no Lipschitz constant of a model forbids that:

    `label_disagreement`   how much mass the coupling whose cost is `distance` moves between different labels; or
    `label_separation`     s > 0 such that inputs with different labels are at least s apart: then the slope is
                           max(√2 L_f / γ, 1 / s) and no other term is needed.
    """
    _check(source_ramp, 1.0, 1.0, approximation, source_sampling, distance_sampling)
    if not 0 < margin < math.inf:
        raise UsageError(f"the margin γ is above 0 and finite, not {margin}")
    if (label_disagreement is None) == (label_separation is None):
        raise UsageError(
            "say what becomes of labels: give either label_disagreement (0 where the coupling never pairs different "
            "labels) or label_separation"
        )
    model = read_quantity(model_lipschitz, "the Lipschitz constant of the logits")
    between = read_quantity(distance, "the distance between source and target")
    reads, slope = [model, between], math.sqrt(2) * (model.value or 0.0) / margin
    labels = Term("labels", 0.0, "none: labels are apart")
    if label_separation is not None:
        if not label_separation > 0:
            raise UsageError(f"the label separation is above 0, not {label_separation}")
        slope = max(slope, 1 / label_separation)
        others = [Assumption(f"inputs with different labels are at least {label_separation:g} apart")]
    else:
        assert label_disagreement is not None
        moved = read_quantity(label_disagreement, "the mass moved between different labels")
        reads.append(moved)
        labels = Term("labels", moved.value or 0.0, "mass moved between different labels")
        others = [Assumption("the label disagreement is of the very coupling whose cost is the distance")]
    how = "√2 L_f / γ" if label_separation is None else "max(√2 L_f / γ, 1 / s)"
    terms = _terms(source_ramp, source_sampling, slope, between, distance_sampling, how)
    terms += [labels, Term("approximation", 2 * math.sqrt(2) * approximation / margin, "2√2 a / γ")]
    others += [_metric(metric), *_sampled(source_sampling, distance_sampling)]
    if distance_sampling and label_separation is None:
        text = "a sampled distance bounds W1, but says nothing of labels off the sample; use label_separation"
        others.append(Assumption(text, "violated"))
    return put_together("target 0-1 error", terms, 1.0, reads, others, "statement 15")


def ramp(margin: float, width: float) -> float:
    """clip(1 - margin / width, 0, 1): at least the 0-1 error (a margin of 0 or less is one), 1/width-Lipschitz."""
    return min(1.0, max(0.0, 1.0 - margin / width))


def _terms(source: float, sampled: float, slope: float, between: Read, slack: float, how: str) -> list[Term]:
    distance = between.value or 0.0
    terms = [
        Term("source risk", source, "as measured"),
        Term("sampling, risk", sampled, "a finite sample of the source"),
    ]
    terms.append(Term("Lipschitz x W1", slope * distance, f"{how} = {slope:.4g} times {distance:.4g}"))
    terms.append(Term("sampling, W1", slope * slack, f"{slope:.4g} times {slack:.4g}"))
    return terms


def _metric(metric: str) -> Assumption:
    return Assumption(f"{ONE_METRIC}: {metric}" if metric else ONE_METRIC)


def _sampled(*terms: float) -> list[Assumption]:
    return [HELD_OUT] if any(terms) else []


def _check(source: float, loss_range: float, loss_lipschitz: float, *others: float) -> None:
    if not 0 <= source <= loss_range:
        raise UsageError(f"a source risk lies between 0 and the range of the loss ({loss_range:g}), not at {source}")
    if not 0 < loss_lipschitz < math.inf:
        raise UsageError(f"the Lipschitz constant of a loss is above 0 and finite, not {loss_lipschitz}")
    if not all(0 <= value < math.inf for value in others):
        raise UsageError("approximation and sampling terms are finite numbers of 0 or more")
