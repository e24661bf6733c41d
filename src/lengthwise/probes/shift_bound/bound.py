"""The bound: two samples, a ground distance with its constants, the cheapest coupling, and every term of the sum."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.risk import RiskBound
from lengthwise.bounds.shifted import margins_to_try, pair_costs, ramp, shift_bound
from lengthwise.errors import UsageError
from lengthwise.figures.plots import waterfall_figure
from lengthwise.limits import check_reach
from lengthwise.messages import explain, sentence
from lengthwise.models.parts import Anatomy
from lengthwise.probes.probe import Context
from lengthwise.probes.shift_bound import ShiftBoundProbe
from lengthwise.probes.shift_bound.grounds import BoundGround, constant_of, sequence_grounds, states_ground
from lengthwise.probes.shift_bound.measures import measure_ground
from lengthwise.probes.shift_bound.samples import ShiftSide, drawn_side, is_file, one_place
from lengthwise.records import Cell, Claim, Record, Table, columns
from lengthwise.subjects.subject import Subject
from lengthwise.transport.problem import MatrixCost, TransportProblem
from lengthwise.transport.solving import Transported, solve

explain(
    {
        "shift_bound.certified": "0-1 error under the shift, by the certified constant",
        "shift_bound.attacked": "0-1 error under the shift, if nothing is steeper than what an attack found",
        "shift_bound.source_error": "0-1 error measured on the source sample",
        "shift_bound.target_error": "0-1 error measured on the target sample",
        "shift_bound.fresh_error": "0-1 error measured on fresh draws of the target",
        "shift_bound.w1": "W1 of the samples: {metric}",
        "shift_bound.cost": "cost of the cheapest coupling of the samples, min(1, L/γ d + [labels differ]) for a pair",
        "shift_bound.says_vacuous": (
            "The certified bound is vacuous: it is {total:.3g}, and an error is never above 1; measured on "
            "{sample}: {measured}."
        ),
        "shift_bound.says_holds": (
            "On {target}, the error is at most {total:.3g} with probability {level:g} (certified); measured on "
            "{sample}: {measured}."
        ),
        "shift_bound.says_broken": "BOUND VIOLATED: on {sample} the error is {measured}, above {total:.3g}.",
        "shift_bound.states_risk": (
            "An error is a wrong token at one place per item, drawn from the places that are scored: its mean is the "
            "share of wrong tokens per item."
        ),
        "shift_bound.items_risk": "An error is an item with any wrong token.",
        "shift_bound.given": "the target sample",
        "shift_bound.fresh": "fresh items",
        "shift_bound.figure": "Terms of the bound on the error under the shift",
        "shift_bound.words": (
            "Bars are stacked from left to right; a bound at or beyond the dashed line says nothing."
        ),
    }
)

_PAIR_BYTES = 48.0  # a distance, its cost, and what computing both takes

_SHAPES = {"certified": "shift_bound.certified", "attacked": "shift_bound.attacked"}


@dataclass(frozen=True, eq=False)
class ShiftedRisk:
    """One bound: which constant it uses (`certified` or `attacked`), in which ground, at which γ. `capped`: no pair
    costs more than 1; else the plain product of constant and W1."""

    which: str
    ground: BoundGround
    margin: float
    bound: RiskBound
    found: Transported | None
    capped: bool = True

    @property
    def constant(self) -> float:
        return constant_of(getattr(self.ground, self.which))


def bound_shift(probe: ShiftBoundProbe, subject: Subject, context: Context) -> Record:
    """The record of a bound: claims, the terms by constant, and their waterfall."""
    if not probe.target:
        raise UsageError("say what the shift leads to: a level, a size or a file")
    if not (is_file(probe.source) or is_file(probe.target)):
        _check_pairs(probe.items, probe.items)
    source = drawn_side(subject, context, probe.source, probe.items, "source")
    target = drawn_side(subject, context, probe.target, probe.items, "target")
    _check_pairs(len(source.items), len(target.items))
    fresh = None if target.from_file else drawn_side(subject, context, probe.target, probe.items, "fresh")
    if probe.metric == "states":
        source, target = (
            one_place(side, context.seed, role) for side, role in ((source, "source"), (target, "target"))
        )
        fresh = None if fresh is None else one_place(fresh, context.seed, "fresh")
    grounds = grounds_of(probe.metric, subject.capability("anatomy"), source, target, context.seed)
    tried = margins_to_try(source.margins)
    differ = _differ(source, target)
    grounds = _separated(grounds, differ, probe.separation)
    known = ("certified", *(["attacked"] if any(ground.attacked for ground in grounds) else []))
    bounds = {which: best_bound(which, grounds, source, target, tried, differ, probe) for which in known}
    return _record(
        probe,
        bounds,
        product_bound(bounds["certified"], source, target, differ, probe),
        source,
        target,
        fresh,
    )


def _check_pairs(first: int, second: int) -> None:
    """Refuse samples whose pairs do not fit into memory."""
    check_reach(f"a distance for each pair of {first:,} and {second:,} items", memory=_PAIR_BYTES * first * second)


def grounds_of(metric: str, anatomy: Anatomy, source: ShiftSide, target: ShiftSide, seed: int) -> list[BoundGround]:
    if metric == "states":
        return [states_ground(anatomy, source, target)]
    if metric == "measure":
        return [measure_ground(anatomy, source, target, seed)]
    return sequence_grounds(anatomy, source, target, seed)


def _differ(source: ShiftSide, target: ShiftSide) -> NDArray[np.bool_]:
    numbers = {labels: number for number, labels in enumerate({i.labels for s in (source, target) for i in s.items})}
    one, two = (np.array([numbers[item.labels] for item in side.items]) for side in (source, target))
    return one[:, None] != two[None, :]


def _separated(grounds: list[BoundGround], differ: NDArray[np.bool_], separation: float | None) -> list[BoundGround]:
    """The grounds in which the samples themselves do not refute that different labels are this far apart."""
    if separation is None or not differ.any():
        return grounds
    nearest = [float(ground.distances[differ].min()) for ground in grounds]
    if max(nearest) < separation:
        raise UsageError(
            f"items of the samples with different labels are only {max(nearest):.4g} apart, so inputs with different "
            f"labels are not {separation:g} or more apart; give a smaller separation, or none"
        )
    return [ground for ground, apart in zip(grounds, nearest, strict=True) if apart >= separation]


def best_bound(
    which: str,
    grounds: list[BoundGround],
    source: ShiftSide,
    target: ShiftSide,
    tried: list[float],
    differ: NDArray[np.bool_],
    probe: ShiftBoundProbe,
) -> ShiftedRisk:
    """The smallest bound over grounds and over the values of γ: they all hold at once."""
    found = []
    for ground in grounds:
        claim: Claim | None = getattr(ground, which)
        for margin in tried:
            costs = pair_costs(ground.distances, constant_of(claim) / margin, differ, probe.separation)
            plan = None if costs.min() == 1.0 else solve(TransportProblem(MatrixCost(costs)))
            labels = _labels_moved(plan, differ, probe)
            moved = 1.0 if plan is None else plan.certificate.upper
            known = claim if math.isfinite(constant_of(claim)) else None
            bound = shift_bound(
                float(ramp(source.margins, margin).mean()),
                max(0.0, moved - labels),
                labels,
                constant=known,
                margin=margin,
                items=len(target.items),
                delta=probe.delta,
                separation=probe.separation,
            )
            found.append(ShiftedRisk(which, ground, margin, bound, plan))
    return min(found, key=lambda one: one.bound.total)


def _labels_moved(plan: Transported | None, differ: NDArray[np.bool_], probe: ShiftBoundProbe) -> float:
    if plan is None or probe.separation is not None:
        return 0.0
    return float(plan.solution.mass @ differ[plan.solution.rows, plan.solution.columns])


def product_bound(
    best: ShiftedRisk,
    source: ShiftSide,
    target: ShiftSide,
    differ: NDArray[np.bool_],
    probe: ShiftBoundProbe,
) -> ShiftedRisk | None:
    """The same with the plain product L/γ x W1 of the samples; None where some pairs have no distance."""
    distances, slope = best.ground.distances, best.constant / best.margin
    if not (np.isfinite(distances).all() and math.isfinite(slope)):
        return None
    plan = solve(TransportProblem(MatrixCost(distances)))
    slope = slope if probe.separation is None else max(slope, 1 / probe.separation)
    bound = shift_bound(
        float(ramp(source.margins, best.margin).mean()),
        slope * plan.certificate.upper,
        _labels_moved(plan, differ, probe),
        constant=getattr(best.ground, best.which),
        margin=best.margin,
        items=len(target.items),
        delta=probe.delta,
        separation=probe.separation,
    )
    return replace(best, bound=bound, found=plan, capped=False)


# --- what is said ---------------------------------------------------------------------------------------------------


def _record(
    probe: ShiftBoundProbe,
    bounds: dict[str, ShiftedRisk],
    product: ShiftedRisk | None,
    source: ShiftSide,
    target: ShiftSide,
    fresh: ShiftSide | None,
) -> Record:
    best = bounds["certified"]
    measured = [_error("source_error", source), _error("target_error", target)]
    measured += [] if fresh is None else [_error("fresh_error", fresh)]
    last = measured[-1]
    broken = last.evidence["low"] > best.bound.total
    key = "broken" if broken else "vacuous" if best.bound.status == "vacuous" else "holds"
    about = {
        "total": best.bound.total,
        "target": target.name,
        "level": 1 - probe.delta,
        "sample": sentence(f"shift_bound.{'given' if fresh is None else 'fresh'}"),
        "measured": f"{last.value:.3g} ({last.evidence['items']} items)",
    }
    risk = "states_risk" if probe.metric == "states" else "items_risk"
    claims = [replace(one.bound.claim(), key=_SHAPES[which]) for which, one in bounds.items()]
    if broken:
        claims[0] = replace(claims[0], status="refuted")
    claims += [claim for claim in (best.ground.certified, best.ground.attacked) if claim is not None]
    claims += [] if best.found is None else [best.found.claim("shift_bound.cost")]
    if product is not None and product.found is not None:
        metric = sentence(f"shift_bound.{best.ground.key}")
        claims.append(product.found.claim("shift_bound.w1", about={"metric": metric}))
    shown = [*bounds.values(), *([product] if product else [])]
    series = {
        f"{one.which} constant {one.constant:.3g}": [(term.name, term.value) for term in one.bound.terms]
        for one in bounds.values()
    }
    return Record(
        "shift_bound",
        title=f"Error under the shift from {source.name} to {target.name}",
        text=(sentence(f"shift_bound.says_{key}", about), sentence(f"shift_bound.{risk}")),
        claims=(*claims, *measured),
        tables=(Table("shift_bound.terms", _COLUMNS, tuple(map(_row, shown)), "Terms"),),
        figures=(
            waterfall_figure(
                "shift_bound.waterfall", sentence("shift_bound.figure"), sentence("shift_bound.words"), series, 1.0
            ),
        ),
        data={"metric": best.ground.key, "margin": best.margin, "source": source.name, "target": target.name},
    )


_COLUMNS = columns(
    "constant:text | form:text | lipschitz L | margin γ | source_risk source risk | shift | labels | "
    "sampling | bound | status:text"
)


def _row(one: ShiftedRisk) -> tuple[Cell, ...]:
    form = ("capped" if one.capped else "product") + f", {one.ground.key}"
    terms = [term.value for term in one.bound.terms]
    constant = one.constant if math.isfinite(one.constant) else None
    return one.which, form, constant, one.margin, *terms, one.bound.total, one.bound.status


def _error(key: str, side: ShiftSide) -> Claim:
    """The share of errors; `low` is exceeded by the true share with probability 0.999 (Hoeffding)."""
    share, items = float((side.margins <= 0).mean()), len(side.items)
    low = share - math.sqrt(math.log(1000) / (2 * items))
    return Claim(
        f"shift_bound.{key}", share, "", "measured", evidence={"items": items, "low": low, "sample": side.name}
    )
