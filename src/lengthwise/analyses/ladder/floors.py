"""What width cannot take away: the floor of risk(width) for every depth, and whether depth lowers it.

The rule: the floor falls with depth if Page's test over tasks and encodings, with depths as conditions, has p < 0.05,
and the floor of the shallowest exceeds that of the deepest on average. It is refuted if the shallowest has the lower
floor, p < 0.05 paired. Otherwise nothing is known. Beyond training only floors count whose models learned their range
at every width: the risk of the others is what they lack in range, not what the shift costs.

With four widths and two seeds or more the exponent is fitted too (`floor_profile`), else it is not (`floor_fit`).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.analyses.analysis import analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.evidence import (
    BEYOND,
    FARTHEST,
    IN_RANGE,
    LEARNED_VALUES,
    SHARED_ITEMS,
    Climb,
    Evidence,
    has_learned,
    layers_text,
    place_text,
)
from lengthwise.analyses.ladder.floor_fit import FEWEST_WIDTHS, FloorFit, fit_floor, floor_interval
from lengthwise.analyses.ladder.floor_profile import FREE_WIDTHS, profile_floor
from lengthwise.analyses.ladder.floor_steps import floor_steps
from lengthwise.analyses.ladder.section import LadderAnalysis, encoding_colour, layers_dash, task_panels
from lengthwise.analyses.layout import PageLayout, arranged, menu_of
from lengthwise.figures.style import alt, ends_of, hover, template_of
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Claim, Figure, Interval, Record, Reference, Status, Table, columns
from lengthwise.statistics.paired import paired_over_tasks
from lengthwise.statistics.trends import page_trend

PLACES = (IN_RANGE, FARTHEST, BEYOND)
ALPHA = 0.05
FEWEST_BLOCKS = 2  # one block of three depths has no order rarer than 1 in 6
RULE = Assumption("floors.rule", "checked")
ONLY_LEARNED = Assumption("floors.only_learned", "checked", LEARNED_VALUES)
SHAPE = Assumption("floors.shape")
FREE_SHAPE = Assumption("floors.free_shape")
_STEPS = 12

explain(
    {
        "floors.rule": "falls means that Page's p < 0.05, and shallowest minus deepest is above 0 on average",
        "floors.only_learned": "only floors whose models learned at every width are compared (a risk of at most "
        "{learned:g} in range)",
        "floors.shape": "risk is floor + b width^-c with b >= 0 and c between 1/4 and 1; three widths cannot test this",
        "floors.free_shape": "risk is floor + b width^-a with b >= 0 and a between 0.1 and 3, with noise alike at all "
        "widths",
        "floors.few_widths": "there are at least {fewest} widths, not {widths}",
        "floors.one_seed": "one seed shows no spread",
        "floors.few_seeds": "an interval from {seeds} seeds covers less than it says",
        "floors.few_blocks": (
            "there are at least {fewest} blocks of three depths with three widths each, and their floors differ"
        ),
        "floors.floor": "floor of the risk, {task}, {position}, depth {depth}, {place}",
        "floors.falls": "the floor falls with depth ({place})",
        "floors.page": "mean rank correlation of the floor with fewer layers ({place})",
        "floors.difference": "floor of the shallowest minus floor of the deepest ({place})",
        "floors.title": "Depth against width: floors",
        "floors.link": "Floors",
        "floors.text": (
            "Beyond training, the claim about depth is made only from models that learned their range at "
            "every width (a risk of {learned:g} or less there): the risk of the others comes from what they "
            "did not learn in range, not from the shift."
        ),
        "floors.note": (
            "Points: the measured risk by width, averaged over seeds. Lines: the fit floor + b / width^c. On "
            "the right: the floor, which the fit leaves at any width, with a bar over all possible floors: "
            "those that some c from ¼ to 1 gives, or the 95 % interval where c is fitted too (four widths or "
            "more){seeds}. Dotted: K / width with the smallest K that is nowhere below a point, the shape "
            "that Barron's bound has for the answers of a fixed target; it has no floor."
        ),
        "floors.no_fit": "With fewer than three widths no floor can be fitted; points are the measured risk by width.",
        "floors.menu": "Risk",
        "floors.words": "Risk of {task} ({place}) against the width of the model, one line per encoding and number of "
        "layers.",
        "floors.fits": "Floors, depth by depth",
        "floors.fits_note": "risk = floor + b / width^c. A floor is found where its interval begins above 0; where "
        "that begins at 0, a slow decay fits as well. K: the least of K / width, the shape of Barron's bound, that is "
        "nowhere below a measured risk.",
        "floors.table": "Does the floor fall with depth?",
        "floors.table_note": (
            "Over problems and encodings for which every depth and width learned; with fewer than two, "
            "nothing can be concluded."
        ),
    }
)


@analyses.register("floors")
@dataclass(frozen=True)
class FloorsAnalysis(LadderAnalysis):
    """What width cannot take away, and whether depth lowers it."""

    def found(self, evidence: Evidence, study: StudyContent) -> Record:
        result = floors(evidence)
        figures = floor_panels(result, study.encodings) if study.pictures else []
        shown = [floor for floor in result.floors if len(floor.widths) > 1]
        several = any(len(floor.seeds) > 1 for floor in shown)
        seeds = "; where there are several seeds the claims have an interval" if several else " (one seed)"
        fitted = any(floor.fit for floor in shown)
        note = sentence("floors.note", {"seeds": seeds}) if fitted else sentence("floors.no_fit")
        menus = menu_of(figures, "place", "floors.menu", place_text)
        leading = len(result.falling) + len(result.difference) + len(result.steps)
        layout = PageLayout(notes=(note,), claims=leading, columns=3, menus=menus)
        text = [sentence("floors.text", LEARNED_VALUES)] if fitted else []
        return arranged("floors", layout, text, result.claims(), [_table(result), *_fits(result)], figures)

    def says(self, evidence: Evidence) -> bool:
        """Whether a task and encoding has models of one depth and two widths."""
        configurations = {climb.configuration for climb in evidence.climbs}
        return len({configuration[:3] for configuration in configurations}) < len(configurations)


@dataclass(frozen=True)
class Floor:
    """The floor of one task, encoding and depth (layers) at one place (IN_RANGE, FARTHEST, BEYOND).

    `fit` is None with fewer than three widths. `interval` is the profile of the floor where the exponent is `free`;
    else it adds the spread over seeds to the floors that exponents from 1/4 to 1 give. It is None with one seed.
    `learned` is whether the models of every width learned their training range.
    """

    task: str
    position: str
    depth: int
    place: str
    widths: tuple[int, ...]
    risks: tuple[float, ...]  # mean over seeds
    seeds: tuple[int, ...]
    learned: bool
    fit: FloorFit | None = None
    interval: Interval | None = None
    free: bool = False

    @property
    def floor(self) -> float | None:
        return self.fit.floor if self.fit else None

    @property
    def found(self) -> bool | None:
        """Whether the interval excludes a floor of 0; None without an interval."""
        return None if self.interval is None else self.interval.low > 0

    @property
    def barron(self) -> float | None:
        """The least K with K / width nowhere below the measured risks: Barron's bound for answers of 0 and 1 is
        16 r² C² / units (`oracle.depth.barron_error`), and the units of an MLP are a multiple of the width."""
        return max((width * risk for width, risk in zip(self.widths, self.risks, strict=True)), default=None)

    def claim(self) -> Claim:
        """The floor; without a second seed nobody knows how far it could be off, so it is unknown."""
        if self.fit is None:
            values = {"fewest": FEWEST_WIDTHS, "widths": len(self.widths)}
            doubt = Assumption("floors.few_widths", "violated", values)
        elif self.interval is None:
            doubt = Assumption("floors.one_seed", "caveat")
        else:
            doubt = Assumption("floors.few_seeds", values={"seeds": len(self.seeds)})
        own = ("task", "position", "depth", "widths", "risks", "seeds", "learned", "found", "barron")
        fitted = ("scale", "exponent", "residual", "low", "high")
        evidence = {name: getattr(self, name) for name in own} | {n: getattr(self.fit, n, None) for n in fitted}
        return Claim(
            "floors.floor",
            self.floor,
            "risk",
            "measured",
            "unknown" if self.interval is None else "holds",
            self.interval,
            (FREE_SHAPE if self.free else SHAPE, doubt),
            Reference("docs/findings/findings.md", "floors"),
            {"place": place_text(self.place), **evidence},
        )


@dataclass(frozen=True)
class Floors:
    """All floors, and for each place whether they fall with depth: the verdict, Page's test over task and encoding
    (none with fewer than three depths), and shallowest minus deepest, paired; `steps` are the same for each task and
    encoding alone."""

    floors: tuple[Floor, ...]
    falling: Mapping[str, Claim]
    page: Mapping[str, Claim]
    difference: Mapping[str, Claim]
    steps: tuple[Claim, ...] = ()

    def at(self, place: str) -> list[Floor]:
        return [floor for floor in self.floors if floor.place == place]

    def verdict(self, place: str) -> Claim:
        return self.falling[place]

    def claims(self) -> list[Claim]:
        first, page = (*self.falling.values(), *self.difference.values()), self.page.values()
        return [*first, *self.steps, *page, *(floor.claim() for floor in self.floors)]


@functools.lru_cache(maxsize=4)
def floors(evidence: Evidence) -> Floors:
    """The floors of every task, encoding and depth at every place."""
    groups: dict[tuple[str, str, int], dict[int, list[Climb]]] = {}
    for (task, position, depth, width), climbs in evidence.configurations.items():
        groups.setdefault((task, position, depth), {})[width] = climbs
    found = tuple(_floor(*key, place, widths) for place in PLACES for key, widths in groups.items())
    pages, differences, verdicts = {}, {}, {}
    for place in PLACES:
        measured = [floor for floor in found if floor.place == place]
        depths = sorted({floor.depth for floor in measured})
        own = [floor for floor in measured if place == IN_RANGE or floor.learned]
        page, differences[place] = _page(place, own, depths), _difference(place, own, depths)
        pages |= {place: page} if page else {}
        blocks = {(floor.task, floor.position) for floor in measured}
        counted = {"blocks": sorted(_complete(own, depths)), "blocks_measured": len(blocks)}
        verdict = _verdict(place, page, differences[place])
        verdicts[place] = dataclasses.replace(verdict, evidence={**verdict.evidence, **counted})
    return Floors(found, verdicts, pages, differences, tuple(floor_steps(found)))


def _floor(task: str, position: str, depth: int, place: str, climbs: Mapping[int, Sequence[Climb]]) -> Floor:
    """One fit, to the seeds that all widths have."""
    by_width = {
        width: {climb.seed: risk for climb in group if (risk := climb.risk_at(place)) is not None}
        for width, group in sorted(climbs.items())
    }
    seeds = tuple(sorted(set.intersection(*(set(risks) for risks in by_width.values()))))
    widths = tuple(by_width) if seeds else ()
    table = np.array([[by_width[width][seed] for width in widths] for seed in seeds], dtype=np.float64)
    risks = tuple(table.mean(axis=0).tolist()) if seeds else ()
    learned = all(has_learned(group) for group in climbs.values())
    if len(widths) >= FREE_WIDTHS and len(seeds) > 1:
        profiled = profile_floor(widths, table)
        return Floor(task, position, depth, place, widths, risks, seeds, learned, *profiled, free=True)
    enough = len(widths) >= FEWEST_WIDTHS
    fit, interval = (fit_floor(widths, risks), floor_interval(widths, table)) if enough else (None, None)
    return Floor(task, position, depth, place, widths, risks, seeds, learned, fit, interval)


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


def _table(result: Floors) -> Table:
    described = columns(
        "place:text | blocks:text problems and encodings | falls:text falls with depth | p_value Page's p | "
        "difference shallowest minus deepest | low from | high to"
    )
    rows = []
    for place, verdict in result.falling.items():
        known, difference = verdict.evidence, result.difference[place]
        blocks = f"{len(known['blocks'])} of {known['blocks_measured']}"
        ends = (difference.interval.low, difference.interval.high) if difference.interval else (None, None)
        value = difference.value if isinstance(difference.value, float) else None
        rows.append((place_text(place), blocks, verdict.status, known.get("p_value"), value, *ends))
    title, note = sentence("floors.table"), sentence("floors.table_note")
    return Table("floors.falling", described, tuple(rows), title, note, detail=True)


def _fits(result: Floors) -> list[Table]:
    """Every floor that was fitted."""
    described = columns(
        "task:text | encoding:text | layers:whole | place:text | widths:whole | seeds:whole | floor | low from | "
        "high to | found:truth above 0 | exponent | residual | barron K | learned:truth all learned"
    )
    rows = []
    for one in result.floors:
        if one.fit is not None:
            ends = (one.interval.low, one.interval.high) if one.interval else (None, None)
            start = (one.task, one.position, one.depth, place_text(one.place), len(one.widths), len(one.seeds))
            fitted = (one.fit.exponent, one.fit.residual, one.barron, one.learned)
            rows.append((*start, one.floor, *ends, one.found, *fitted))
    title, note = sentence("floors.fits"), sentence("floors.fits_note")
    free = any(one.free for one in result.floors)
    return [Table("floors.fits", described, tuple(rows), title, note, detail=not free)] if rows else []


def floor_panels(result: Floors, encodings: Sequence[str]) -> list[Figure]:
    """One panel per task and place; none where no model was trained at two widths."""
    shown = [floor for floor in result.floors if len(floor.widths) > 1]
    if not shown:
        return []
    widths = sorted({width for floor in shown for width in floor.widths})
    behind = 2.6 * max(widths)  # where the floors stand on the axis of widths
    template = _template(widths, behind, sorted({floor.depth for floor in shown}), encodings)
    panels = []
    for place in PLACES:
        tasks = {floor.task: [one for one in shown if (one.task, one.place) == (floor.task, place)] for floor in shown}
        data = {task: _data(own, behind) for task, own in tasks.items()}
        values = {"place": place_text(place)}
        panels += task_panels(f"floors.{place}", "floors.words", template, data, values)
    return panels


def _data(own: Sequence[Floor], behind: float) -> dict[str, list[dict[str, Any]]]:
    """Measured risks, fitted curves, and floors next to each other behind the largest width."""
    data: dict[str, list[dict[str, Any]]] = {"measured": [], "fitted": [], "floors": [], "barron": []}
    for order, floor in enumerate(own):
        layers, fit = layers_text(floor.depth), floor.fit
        model = f"{floor.position}, {layers}" + ("" if floor.learned else " (not all learned)")
        held = {"encoding": floor.position, "layers": layers, "model": model}
        points = zip(floor.widths, floor.risks, strict=True)
        data["measured"] += [{**held, "width": width, "risk": risk} for width, risk in points]
        if fit is not None:
            low, high = min(floor.widths), max(floor.widths)
            between = [low * (high / low) ** (step / _STEPS) for step in range(_STEPS + 1)]  # the axis is logarithmic
            data["fitted"] += [{**held, "width": width, "risk": fit.risk_at(width)} for width in between]
            curve = [{**held, "width": width, "risk": (floor.barron or 0.0) / width} for width in between]
            data["barron"] += [row for row in curve if row["risk"] <= 1]
            at = behind * 1.09 ** (order - (len(own) - 1) / 2)
            span = {"low": min(fit.low, fit.floor), "high": max(fit.high, fit.floor)}
            data["floors"].append({**held, "width": at, "risk": fit.floor, **span})
    return data


def _template(widths: Sequence[int], behind: float, layers: Sequence[int], encodings: Sequence[str]) -> dict[str, Any]:
    label = f"datum.value > {max(widths)} ? 'floor' : datum.label"
    look = {
        "x": alt.X(
            "width:Q",
            title="width of the model",
            scale=alt.Scale(type="log", base=2, domain=[0.8 * min(widths), 1.5 * behind], nice=False),
            axis=alt.Axis(values=[*widths, behind], grid=False, labelExpr=label),
        ),
        "y": alt.Y("risk:Q", title="risk (share of wrong tokens)", axis=alt.Axis(format="%", tickCount=5)),
        "color": encoding_colour(encodings),
    }
    dash = layers_dash(layers)
    told = hover("model:N", ("width:Q", "", ".0f"), ("risk:Q", "", ".1%"))
    span = hover("model:N", ("risk:Q", "floor", ".1%"), *ends_of(".1%"))
    fitted, measured, floors, barron = (
        alt.Chart(alt.NamedData(name)).encode(**look) for name in ("fitted", "measured", "floors", "barron")
    )
    layers = [
        barron.mark_line(strokeWidth=0.8, strokeDash=[1, 3], opacity=0.6).encode(detail="model:N"),
        fitted.mark_line(strokeWidth=1.6).encode(strokeDash=dash),
        measured.mark_point(filled=True, size=32, opacity=0.85).encode(tooltip=told),
        floors.mark_rule(strokeWidth=2.5).encode(y=alt.Y("low:Q"), y2="high:Q", strokeDash=dash, tooltip=span),
        floors.mark_point(shape="diamond", filled=True, size=60, opacity=1).encode(tooltip=span),
    ]
    return template_of(alt.layer(*layers).properties(width=330, height=210))
