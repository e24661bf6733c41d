"""How large a risk can become when the data shift, by Kantorovich's inequality, term by term.

P is the source, Q the target, W1 their distance in a stated ground metric d, and every Lipschitz constant is with
respect to the same d. A smaller metric makes W1 smaller and the constants larger: their product is what counts.

    realizable_bound    labels come from a function that is itself Lipschitz
    agnostic_bound      any labels; some hypothesis of the class must do well on both
    margin_bound        the 0-1 error of a classifier, through the ramp loss

All are proved in docs/explanation/bounds.md (statements 12 to 15). Only couplings are used, so `distance` may be the
cost of any coupling of P and Q, optimal or not, and the constants need only hold between a point of P and a point of Q.
"""

from __future__ import annotations

import math

from lengthwise.bounds.risk import BoundTerm, Quantity, Read, RiskBound, put_together, read_quantity
from lengthwise.bounds.sampling import NOT_SAMPLED, Sampling
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption

explain(
    {
        "kantorovich.realizable": "target risk (realizable)",
        "kantorovich.agnostic": "target risk (agnostic)",
        "kantorovich.margin": "target 0-1 error",
        "kantorovich.one_metric": "the distance and all Lipschitz constants are in the same metric",
        "kantorovich.this_metric": "the distance and all Lipschitz constants are in the same metric: {metric}",
        "kantorovich.held_out": "sampling terms: items are drawn independently of each other and of the model",
        "kantorovich.smooth_loss": "the loss is {constant:g}-Lipschitz in the prediction and in the label",
        "kantorovich.metric_loss": "the loss is {constant:g} times a metric (triangle inequality)",
        "kantorovich.labels": "labels come from a function within {distance:g} of a Lipschitz one, the same in P and Q",
        "kantorovich.separated": "inputs with different labels are at least {distance:g} apart",
        "kantorovich.same_coupling": "the label disagreement belongs to the coupling whose cost is the distance",
        "kantorovich.off_sample": (
            "a sampled distance bounds W1, but says nothing about labels outside the sample; use label_separation"
        ),
    }
)


def realizable_bound(
    source_risk: float,
    distance: Quantity,
    *,
    model_lipschitz: Quantity,
    target_lipschitz: Quantity,
    loss_lipschitz: float = 1.0,
    loss_range: float = math.inf,
    approximation: float = 0.0,
    sampling: Sampling = NOT_SAMPLED,
    metric: str = "",
) -> RiskBound:
    """R_Q(f) <= R_P(f) + ℓ (L_f + L_*) W1 + 2 ℓ a.

    The loss is ℓ-Lipschitz in the prediction and in the label; a is how far the labelling function is at most from one
    that is L_*-Lipschitz (0: it is itself).
    """
    _check(source_risk, loss_range, loss_lipschitz, approximation, sampling)
    model = read_quantity(model_lipschitz, "the Lipschitz constant of the model")
    target = read_quantity(target_lipschitz, "the Lipschitz constant of the labelling function")
    between = read_quantity(distance, "the distance between source and target")
    slope = loss_lipschitz * ((model.value or 0.0) + (target.value or 0.0))
    terms = _terms(source_risk, sampling, slope, between, "ℓ (L_f + L_*)")
    terms.append(BoundTerm("approximation", 2 * loss_lipschitz * approximation, "2 ℓ a"))
    others = [
        Assumption("kantorovich.smooth_loss", values={"constant": loss_lipschitz}),
        Assumption("kantorovich.labels", values={"distance": approximation}),
        *_usual(metric, sampling),
    ]
    reads = [model, target, between]
    return put_together("kantorovich.realizable", terms, loss_range, reads, others, "statement 12")


def agnostic_bound(
    source_risk: float,
    distance: Quantity,
    *,
    class_lipschitz: Quantity,
    joint_risk: Quantity,
    loss_lipschitz: float = 1.0,
    loss_range: float = math.inf,
    approximation: float = 0.0,
    sampling: Sampling = NOT_SAMPLED,
    metric: str = "",
) -> RiskBound:
    """R_Q(h) <= R_P(h) + 2 ℓ K W1 + λ + 2 ℓ a, for a loss that is ℓ times a metric on labels.

    λ = R_P(h') + R_Q(h') for some hypothesis h' of the class, and K is a Lipschitz constant of h and h'; a is how far
    the model is at most from the class. λ needs labels of the target, or faith.
    """
    _check(source_risk, loss_range, loss_lipschitz, approximation, sampling)
    model = read_quantity(class_lipschitz, "the Lipschitz constant of the class")
    joint = read_quantity(joint_risk, "the joint risk λ of the best hypothesis")
    between = read_quantity(distance, "the distance between source and target")
    slope = 2 * loss_lipschitz * (model.value or 0.0)
    terms = _terms(source_risk, sampling, slope, between, "2 ℓ K")
    terms.append(BoundTerm("joint_risk", joint.value or 0.0, "λ"))
    terms.append(BoundTerm("approximation", 2 * loss_lipschitz * approximation, "2 ℓ a"))
    others = [Assumption("kantorovich.metric_loss", values={"constant": loss_lipschitz}), *_usual(metric, sampling)]
    reads = [model, joint, between]
    return put_together("kantorovich.agnostic", terms, loss_range, reads, others, "statement 13")


def margin_bound(
    source_ramp: float,
    distance: Quantity,
    *,
    model_lipschitz: Quantity,
    margin: float,
    label_disagreement: Quantity | None = None,
    label_separation: float | None = None,
    approximation: float = 0.0,
    sampling: Sampling = NOT_SAMPLED,
    metric: str = "",
) -> RiskBound:
    """err_Q <= ramp_P + (√2 L_f / γ) cost + P(labels differ) + 2√2 a / γ, for logits that are L_f-Lipschitz in l2.

    `source_ramp` is the mean of clip(1 - margin / γ, 0, 1) on the source: at least the 0-1 error, as a margin of 0 or
    less is one, and 1/γ-Lipschitz. Nearby inputs may have different labels, and no Lipschitz constant of a model rules
    that out, so give one of

    `label_disagreement`   how much mass the coupling whose cost is `distance` moves between different labels; or
    `label_separation`     s > 0 such that inputs with different labels are at least s apart: then the slope is
                           max(√2 L_f / γ, 1 / s) and no other term is needed.
    """
    _check(source_ramp, 1.0, 1.0, approximation, sampling)
    if not 0 < margin < math.inf:
        raise UsageError(f"the margin γ must be above 0 and finite, not {margin}")
    if (label_disagreement is None) == (label_separation is None):
        raise UsageError(
            "say what becomes of labels: give either label_disagreement (0 where the coupling never pairs different "
            "labels) or label_separation"
        )
    model = read_quantity(model_lipschitz, "the Lipschitz constant of the logits")
    between = read_quantity(distance, "the distance between source and target")
    reads, slope = [model, between], math.sqrt(2) * (model.value or 0.0) / margin
    if label_disagreement is None:
        if label_separation is None or not label_separation > 0:
            raise UsageError(f"the label separation must be above 0, not {label_separation}")
        slope, how = max(slope, 1 / label_separation), "max(√2 L_f / γ, 1 / s)"
        labels = BoundTerm("labels", 0.0, "none: labels are apart")
        others = [Assumption("kantorovich.separated", values={"distance": label_separation})]
    else:
        moved, how = read_quantity(label_disagreement, "the mass moved between different labels"), "√2 L_f / γ"
        reads.append(moved)
        labels = BoundTerm("labels", moved.value or 0.0, "mass moved between different labels")
        others = [Assumption("kantorovich.same_coupling")]
    terms = _terms(source_ramp, sampling, slope, between, how)
    terms += [labels, BoundTerm("approximation", 2 * math.sqrt(2) * approximation / margin, "2√2 a / γ")]
    others += _usual(metric, sampling)
    if sampling.distance and label_separation is None:
        others.append(Assumption("kantorovich.off_sample", "caveat"))
    return put_together("kantorovich.margin", terms, 1.0, reads, others, "statement 15")


def _terms(source: float, sampling: Sampling, slope: float, between: Read, how: str) -> list[BoundTerm]:
    distance = between.value or 0.0
    return [
        BoundTerm("source_risk", source, "as measured"),
        BoundTerm("sampling_risk", sampling.risk, "a finite sample of the source"),
        BoundTerm("shift", slope * distance, f"{how} = {slope:.4g} times {distance:.4g}"),
        BoundTerm("sampling_distance", slope * sampling.distance, f"{slope:.4g} times {sampling.distance:.4g}"),
    ]


def _usual(metric: str, sampling: Sampling) -> list[Assumption]:
    named = Assumption("kantorovich.this_metric", values={"metric": metric})
    held_out = [Assumption("kantorovich.held_out")] if sampling.risk or sampling.distance else []
    return [named if metric else Assumption("kantorovich.one_metric"), *held_out]


def _check(source: float, loss_range: float, loss_lipschitz: float, approximation: float, sampling: Sampling) -> None:
    if not 0 <= source <= loss_range:
        raise UsageError(f"a source risk must lie between 0 and the range of the loss ({loss_range:g}), not {source}")
    if not 0 < loss_lipschitz < math.inf:
        raise UsageError(f"the Lipschitz constant of a loss must be above 0 and finite, not {loss_lipschitz}")
    if not all(0 <= value < math.inf for value in (approximation, sampling.risk, sampling.distance)):
        raise UsageError("approximation and sampling terms are finite numbers of 0 or more")
