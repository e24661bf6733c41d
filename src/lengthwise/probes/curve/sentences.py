"""The sentences about one curve that the terminal and the README.md of a run share, and their one way of rounding."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lengthwise.probes.curve.standard import ADVICE, THRESHOLD
from lengthwise.records import Claim

if TYPE_CHECKING:
    from lengthwise.probes.curve.curve import Curve


def rounded_percent(share: float) -> str:
    """A share in per cent with one decimal; 100.0 only for a share that is one, 0.0 only for one that is nought."""
    text = f"{100 * share:.1f}"
    if text == "100.0" and share < 1:
        return "99.9"
    return "<0.1" if text == "0.0" and share > 0 else text


def reach_sentence(reach: Claim) -> str:
    """The one number, in words, with its kind. A reach that ends where the measurement does is a lower bound."""
    evidence, interval = reach.evidence, reach.interval
    bar = f"{evidence['threshold']:.0%}"
    if not reach.value:
        return f"reach 0 ({reach.kind}): exact match is below {bar} at the smallest size already"
    assert interval is not None
    if evidence["censored"]:
        sure = "" if interval.low == reach.value else f"; 95% interval from {interval.low:.0f}"
        return (
            f"reach at least {reach.value}, not measured further ({reach.kind}{sure}): "
            f"exact match is {bar} or more at every size up to {reach.value}"
        )
    ends = f"{interval.low:.0f} to {interval.high:.0f}"
    if interval.is_open:
        ends = f"from {interval.low:.0f}, with no upper end in the sizes measured"
    return (
        f"reach {reach.value} ({reach.kind}; 95% interval {ends}): "
        f"exact match is {bar} or more at every size up to {reach.value}"
    )


def learned_sentence(curve: Curve) -> str:
    """What must be said before anything else: that the run has not learned its training range, with what to try, or
    that exact match cannot tell. Empty where the run has learned."""
    if not curve.certain:
        return (
            f"exact match is not meaningful: {curve.task} draws its answers at random, so no model has them all right; "
            "look at the loss"
        )
    if curve.standing().learned is None:
        return f"not known to be learned: no size up to the training size {curve.train_size} was measured"
    if curve.standing().learned:
        return ""
    first = next(point for point in curve.points if point.exact < THRESHOLD)
    return (
        f"not learned: exact match is {rounded_percent(first.exact)}% at size {first.size}, inside the training range, "
        f"where it should be {THRESHOLD:.0%} at every size up to {curve.train_size}. The rest of the curve therefore "
        f"says nothing about longer inputs: {ADVICE}"
    )
