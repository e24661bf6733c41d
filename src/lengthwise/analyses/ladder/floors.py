"""What width cannot take away: the floor of risk(width) for every depth, and whether depth lowers it.

The rule: the floor falls with depth if Page's test over tasks and encodings, with depths as conditions, has p < 0.05,
and the floor of the shallowest exceeds that of the deepest on average. It is refuted if the shallowest has the lower
floor, p < 0.05 paired. Otherwise nothing is known. Beyond training only floors count whose models learned their range
at every width: the risk of the others is what they lack in range, not what the shift costs.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.analyses.evidence import (
    BEYOND,
    FARTHEST,
    IN_RANGE,
    LEARNED_VALUES,
    SHARED_ITEMS,
    Climb,
    Evidence,
    by_configuration,
    has_learned,
    place_text,
    risk_at,
)
from lengthwise.analyses.ladder.floor_fit import FEWEST_WIDTHS, fit_floor, floor_interval
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference, Status
from lengthwise.statistics.paired import paired_over_tasks
from lengthwise.statistics.trends import page_trend

PLACES = (IN_RANGE, FARTHEST, BEYOND)
ALPHA = 0.05
FEWEST_BLOCKS = 2  # one block of three depths has no order rarer than 1 in 6
RULE = Assumption("floors.rule", "checked")
ONLY_LEARNED = Assumption("floors.only_learned", "checked", LEARNED_VALUES)
SHAPE = Assumption("floors.shape")

explain(
    {
        "floors.rule": "falls means that Page's p < 0.05, and shallowest minus deepest is above 0 on average",
        "floors.only_learned": "only floors whose models learned at every width are compared (a risk of at most "
        "{learned:g} in range)",
        "floors.shape": "risk is floor + b width^-c with b >= 0 and c between 1/4 and 1; three widths cannot test this",
        "floors.few_widths": "{fewest} widths or more, not {widths}",
        "floors.one_seed": "one seed shows no spread",
        "floors.few_seeds": "an interval from {seeds} seeds covers less than it says",
        "floors.few_blocks": "{fewest} blocks or more of three depths of three widths each, and floors that differ",
        "floors.floor": "floor of the risk, {task}, {position}, depth {depth}, {place}",
        "floors.falls": "the floor falls with depth ({place})",
        "floors.page": "mean rank correlation of the floor with fewer layers ({place})",
        "floors.difference": "floor of the shallowest minus floor of the deepest ({place})",
    }
)


@dataclass(frozen=True)
class Floor:
    """The floor of one task, encoding and depth (layers) at one place (IN_RANGE, FARTHEST, BEYOND).

    `floor`, `scale` (b) and `exponent` (c) are of the best fit, None with fewer than three widths; `low` and `high` are
    the floors that exponents from 1/4 to 1 give; `interval` adds the spread over seeds, None with one seed. `learned`
    is whether the models of every width learned their training range.
    """

    task: str
    position: str
    depth: int
    place: str
    widths: tuple[int, ...]
    risks: tuple[float, ...]  # mean over seeds
    seeds: tuple[int, ...]
    learned: bool
    floor: float | None
    scale: float | None
    exponent: float | None
    residual: float | None
    low: float | None
    high: float | None
    interval: Interval | None

    def risk_at(self, width: float) -> float | None:
        """The fitted curve."""
        if self.floor is None or self.scale is None or self.exponent is None:
            return None
        return self.floor + self.scale * width**-self.exponent

    def claim(self) -> Claim:
        """The floor; without a second seed nobody knows how far it could be off, so it is unknown."""
        known = self.floor is not None and self.interval is not None
        assumptions = [SHAPE]
        if self.floor is None:
            values = {"fewest": FEWEST_WIDTHS, "widths": len(self.widths)}
            assumptions.append(Assumption("floors.few_widths", "violated", values))
        elif self.interval is None:
            assumptions.append(Assumption("floors.one_seed", "violated"))
        else:
            assumptions.append(Assumption("floors.few_seeds", values={"seeds": len(self.seeds)}))
        own = (
            "task",
            "position",
            "depth",
            "widths",
            "risks",
            "seeds",
            "learned",
            "scale",
            "exponent",
            "residual",
            "low",
            "high",
        )
        return Claim(
            "floors.floor",
            self.floor,
            "risk",
            "measured",
            "holds" if known else "unknown",
            self.interval,
            tuple(assumptions),
            Reference("docs/findings.md", "floors"),
            {"place": place_text(self.place), **{name: getattr(self, name) for name in own}},
        )


@dataclass(frozen=True)
class Floors:
    """All floors, and for each place whether they fall with depth: the verdict, Page's test over task and encoding
    (none with fewer than three depths), and shallowest minus deepest, paired."""

    floors: tuple[Floor, ...]
    falling: tuple[tuple[str, Claim], ...]  # place → verdict
    page: tuple[tuple[str, Claim], ...]  # place → Page's test
    difference: tuple[tuple[str, Claim], ...]  # place → shallowest minus deepest

    def at(self, place: str) -> list[Floor]:
        return [floor for floor in self.floors if floor.place == place]

    def verdict(self, place: str) -> Claim:
        return dict(self.falling)[place]

    def claims(self) -> list[Claim]:
        groups = (self.falling, self.page, self.difference)
        return [*(claim for group in groups for _, claim in group), *(floor.claim() for floor in self.floors)]


@functools.lru_cache(maxsize=4)
def floors(evidence: Evidence) -> Floors:
    """The floors of every task, encoding and depth at every place."""
    groups: dict[tuple[str, str, int], dict[int, list[Climb]]] = {}
    for (task, position, depth, width), climbs in by_configuration(evidence.climbs).items():
        groups.setdefault((task, position, depth), {})[width] = climbs
    found = tuple(_floor(*key, place, widths) for place in PLACES for key, widths in groups.items())
    pages, differences, verdicts = [], [], []
    for place in PLACES:
        measured = [floor for floor in found if floor.place == place]
        depths = sorted({floor.depth for floor in measured})
        own = [floor for floor in measured if place == IN_RANGE or floor.learned]
        page, difference = _page(place, own, depths), _difference(place, own, depths)
        pages += [(place, page)] if page else []
        differences.append((place, difference))
        blocks = {f"{floor.task}, {floor.position}" for floor in measured}
        verdict = _verdict(place, page, difference)
        counted = {"blocks": sorted(_complete(own, depths)), "blocks_measured": len(blocks)}
        verdicts.append((place, dataclasses.replace(verdict, evidence={**verdict.evidence, **counted})))
    return Floors(found, tuple(verdicts), tuple(pages), tuple(differences))


def _floor(task: str, position: str, depth: int, place: str, climbs: Mapping[int, Sequence[Climb]]) -> Floor:
    """One fit, to the seeds that all widths have."""
    by_width = {
        width: {climb.seed: risk for climb in group if (risk := risk_at(climb, place)) is not None}
        for width, group in sorted(climbs.items())
    }
    seeds = tuple(sorted(set.intersection(*(set(risks) for risks in by_width.values()))))
    widths = tuple(by_width)
    table = np.array([[by_width[width][seed] for width in widths] for seed in seeds], dtype=np.float64)
    risks = tuple(table.mean(axis=0).tolist()) if seeds else ()
    learned = all(has_learned(group) for group in climbs.values())
    start = (task, position, depth, place, widths if seeds else (), risks, seeds, learned)
    if len(widths) < FEWEST_WIDTHS or not seeds:
        return Floor(*start, None, None, None, None, None, None, None)
    fit = fit_floor(widths, risks)
    interval = floor_interval(widths, table)
    return Floor(*start, fit.floor, fit.scale, fit.exponent, fit.residual, fit.low, fit.high, interval)


def _by_block(floors: Sequence[Floor]) -> dict[str, dict[int, float]]:
    """Task and encoding → depth → floor."""
    blocks: dict[str, dict[int, float]] = {}
    for floor in floors:
        if floor.floor is not None:
            blocks.setdefault(f"{floor.task}, {floor.position}", {})[floor.depth] = floor.floor
    return blocks


def _complete(floors: Sequence[Floor], depths: Sequence[int]) -> dict[str, dict[int, float]]:
    """The blocks that have all depths."""
    return {name: own for name, own in _by_block(floors).items() if set(own) == set(depths)}


def _page(place: str, floors: Sequence[Floor], measured: Sequence[int]) -> Claim | None:
    """Page's test that floors rise from the deepest to the shallowest, over the blocks that have all depths."""
    depths, blocks = sorted(measured, reverse=True), _complete(floors, measured)
    if len(depths) < 3 or len(blocks) < FEWEST_BLOCKS:
        return None
    claim = page_trend(
        "floors.page",
        [[own[depth] for depth in depths] for own in blocks.values()],
        about={"place": place_text(place)},
        conditions=[f"depth {depth}" for depth in depths],
        blocks=list(blocks),
    )
    others = (a for a in claim.assumptions if a.key != "trend.independent_blocks")
    return dataclasses.replace(claim, assumptions=(*others, SHARED_ITEMS))


def _difference(place: str, floors: Sequence[Floor], depths: Sequence[int]) -> Claim:
    """The floor of the shallowest minus that of the deepest, pair by pair of task and encoding."""
    blocks = _by_block(floors) if len(depths) > 1 else {}
    first, second = (
        {name: own[depth] for name, own in blocks.items() if depth in own}
        for depth in (min(depths, default=0), max(depths, default=0))
    )
    about = {"place": place_text(place)}
    claim = paired_over_tasks("floors.difference", first, second, about=about, unit="risk")
    return dataclasses.replace(claim, assumptions=(*claim.assumptions, SHAPE, SHARED_ITEMS))


def _verdict(place: str, page: Claim | None, difference: Claim) -> Claim:
    key, about = "floors.falls", {"place": place_text(place)}
    assumptions = (RULE, SHAPE, SHARED_ITEMS, *(() if place == IN_RANGE else (ONLY_LEARNED,)))
    if page is None or page.value is None or not isinstance(difference.value, float):
        why = Assumption("floors.few_blocks", "violated", {"fewest": FEWEST_BLOCKS})
        return Claim(key, None, "", "measured", "unknown", None, (*assumptions, why), evidence=about)
    p_value = page.evidence["p_value"]
    status: Status = "unknown"
    if p_value < ALPHA and difference.value > 0:
        status = "holds"
    elif difference.evidence["p_value"] < ALPHA and difference.value < 0:
        status = "refuted"
    evidence = {
        **about,
        "p_value": p_value,
        "shallowest_minus_deepest": difference.value,
        "interval": difference.interval and (difference.interval.low, difference.interval.high),
    }
    value = None if status == "unknown" else status == "holds"
    return Claim(key, value, "", "measured", status, None, assumptions, page.reference, evidence)
