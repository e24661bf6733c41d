"""Forecast every task of an atlas from the other tasks, and score it next to baselines.

Relevances are chosen without the tasks they are used for: the tasks are dealt into five groups, and those of a
group are forecast with relevances chosen on the other four. A forecast itself uses all tasks but its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun
from lengthwise.forecasts.baselines import CURVES, base_rate, curve_forecasts
from lengthwise.forecasts.cases import BEFORE, MULTIPLES, SHOWN, cases_of, pooled
from lengthwise.forecasts.choosing import chosen
from lengthwise.forecasts.conformal import LEVEL, by_task, interval, mixed, scores
from lengthwise.forecasts.coverage import FEWEST_TASKS
from lengthwise.forecasts.distributions import auroc, brier, crps, log_score, steps
from lengthwise.forecasts.kept import Kept, chosen_before
from lengthwise.forecasts.similar import Cases, Relevance, mixtures
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import THRESHOLD
from lengthwise.records import Claim, Record, Table, columns
from lengthwise.seeds import Floats
from lengthwise.statistics import paired_over_tasks

AT = 4.0  # training sizes: where forecasts are scored
SEEN = (1.0, 2.0)  # training sizes that a checkpoint was measured to
OURS, BASE = "similar", "base"
_GROUPS = 5
_HORIZON = MULTIPLES.index(AT)

explain(
    {
        "forecast.similar": "similar cases (ours)",
        "forecast.base": "base rate by class and encoding",
        "forecast.persists": "last value persists",
        "forecast.hazard": "constant hazard",
        "forecast.weibull": "Weibull",
        "forecast.logistic": "logistic in log size",
        "forecast.calibrated": "{name}, calibrated",
        "forecast.brier_difference": "Brier score minus that of {baseline}, {when}",
        "forecast.crps_difference": "CRPS minus that of {baseline}, {when}",
        "forecast.before": "before training",
        "forecast.seen": "measured to {seen:g} x training size",
        "forecast.evaluation": "forecasts of the atlas, each task left out in turn",
        "forecast.evaluated": "{runs:,} runs of {tasks} tasks and {designs} encodings and models.",
        "forecast.wins": "{when}: forecasts from similar cases beat every baseline in Brier score and CRPS; the 95 % "
        "intervals of the differences, over tasks, exclude 0.",
        "forecast.loses": "{when}: forecasts from similar cases are worse than {baseline}.",
        "forecast.draws": "{when}: forecasts from similar cases are not shown to be better than {baseline}.",
        "forecast.scores_note": "each task forecast from the others; exact match at {at:g} times the training size. "
        "Lower is better for Brier score, log score and CRPS, higher for AUROC. Intervals of {level:.0%} are "
        "conformal for every forecaster.",
    }
)


@dataclass(frozen=True, eq=False)
class Forecasts:
    """One forecaster's forecasts for every run of an atlas, each made without its task: the probability of holding and
    the distribution of exact match at the horizon, [runs] and [runs, grid], and intervals [runs, 2] (NaN: none)."""

    holds: Floats
    outcomes: Floats
    intervals: Floats
    relevances: tuple[Relevance, ...] = ()


@dataclass(frozen=True, eq=False)
class Scored:
    """Forecasters compared on the same runs. `exact` and `held` are what happened."""

    runs: tuple[AtlasRun, ...]
    seen: float | None
    exact: Floats
    held: Floats
    by_name: Mapping[str, Forecasts]

    def losses(self, name: str) -> dict[str, Floats]:
        """Scores of each run."""
        one = self.by_name[name]
        inside = (one.intervals[:, 0] - 0.005 <= self.exact) & (self.exact <= one.intervals[:, 1] + 0.005)
        there = ~np.isnan(one.intervals[:, 0])
        return {
            "brier": brier(one.holds, self.held),
            "log_score": log_score(one.holds, self.held),
            "crps": crps(one.outcomes, self.exact),
            "coverage": np.where(there, inside, np.nan),
            "width": one.intervals[:, 1] - one.intervals[:, 0],
        }

    def by_task(self, values: Floats) -> dict[str, float]:
        """Means of each task's runs."""
        tasks = np.array([run.task for run in self.runs])
        return {str(task): float(values[tasks == task].mean()) for task in dict.fromkeys(tasks)}

    @property
    def when(self) -> str:
        return sentence("forecast.before") if self.seen is None else sentence("forecast.seen", {"seen": self.seen})


def scored(atlas: Atlas, seen: float | None = None) -> Scored:
    """All forecasters on the runs of an atlas that were measured far enough. O(groups x runs^2)."""
    runs = [run for run in atlas.runs if run.exact_at(AT) is not None and (seen is None or _was_seen(run, seen))]
    cases = cases_of(runs, seen=seen)
    rare = [one for one in np.unique(cases.stratum) if len(set(cases.task[cases.stratum == one])) < FEWEST_TASKS]
    runs = tuple(run for run, stratum in zip(runs, cases.stratum, strict=True) if stratum not in rare)
    if not runs:
        raise UsageError(
            f"an evaluation forecasts each task from the others; it takes {FEWEST_TASKS} tasks or more that were "
            f"measured to {AT:g} times the training size"
        )
    cases = cases_of(runs, seen=seen)
    exact = np.array([run.exact_at(AT) for run in runs], dtype=float)
    found = {OURS: _nested(cases, exact, BEFORE if seen is None else BEFORE + SHOWN, seen)}
    anywhere = replace(cases, stratum=np.full(len(cases), ""))  # the base rate knows nothing of a checkpoint
    found[BASE] = _forecasts(anywhere, exact, [(np.arange(len(cases)), base_rate(cases))], None)
    if seen is not None:
        held_so_far = cases.stratum == "yes"
        for name, values in curve_forecasts(runs, seen, AT).items():
            holds = ((values >= THRESHOLD) & held_so_far).astype(float)
            found[name] = Forecasts(holds, steps(values), np.full((len(runs), 2), np.nan))
            alone = replace(cases, features={name: (2 * np.arcsin(np.sqrt(values))).round(2)})
            found[f"{name}.calibrated"] = _nested(alone, exact, (name,), seen)
    return Scored(runs, seen, exact, cases.holds[:, _HORIZON], found)


def _was_seen(run: AtlasRun, seen: float) -> bool:
    """Whether a run was measured at two sizes or more up to there, and beyond."""
    return sum(size <= seen * run.train_size for size in run.sizes) > 1 and run.sizes[-1] > seen * run.train_size


def _nested(cases: Cases, exact: Floats, features: tuple[str, ...], seen: float | None) -> Forecasts:
    """Forecasts with relevances that were chosen on other tasks."""
    groups = cases.task % _GROUPS
    parts = []
    for group in np.unique(groups):
        rest = cases.part(groups != group)
        relevance = chosen(pooled(rest), features)
        parts.append((np.flatnonzero(groups == group), relevance))
    return _forecasts(cases, exact, parts, seen)


def _forecasts(
    cases: Cases, exact: Floats, chosen_for: Sequence[tuple[NDArray, Relevance]], seen: float | None
) -> Forecasts:
    """Forecasts for the cases asked about, each with the relevance that was chosen for it."""
    outcomes, holds = np.zeros((len(cases), cases.outcomes.shape[-1])), np.zeros(len(cases))
    ends = np.full((len(cases), 2), np.nan)
    alike = cases.features["design"] if seen is None else cases.stratum  # intervals are valid for each value of it
    for asked, relevance in chosen_for:
        weights = relevance.weights(cases, cases)
        outcomes[asked] = mixtures(weights[asked], cases.outcomes[:, _HORIZON])
        holds[asked] = mixtures(weights[asked], cases.holds[:, [_HORIZON]])[:, 0]
        parts = by_task(weights, cases, _HORIZON)
        total = parts.sum(axis=1)
        for task in np.unique(cases.task[asked]):
            known = scores(mixed(total - parts[:, task]), exact)  # of all other tasks, as if this one did not exist
            for run in asked[cases.task[asked] == task]:
                compared = (cases.task != task) & (alike == alike[run])
                found = interval(mixed(total[run] - parts[run]), known[compared], cases.task[compared])
                if found is not None:
                    ends[run] = found.low, found.high
    return Forecasts(holds, outcomes, ends, tuple(relevance for _, relevance in chosen_for))


# --- the record -----------------------------------------------------------------------------------------------------

_SCORES = columns(
    "forecaster:text | brier:number Brier score | log_score:number log score | auroc:number AUROC | crps:number CRPS | "
    "coverage:share | width"
)
_CLASSES = columns(
    "oracle_class:text class | tasks:whole | runs:whole | holds:share holds | brier:number Brier score | "
    "base_brier:number of base rate | crps:number CRPS | base_crps:number of base rate | coverage:share | width"
)


def evaluate(atlas: Atlas) -> Record:
    """The table of every forecaster before training and for checkpoints, ours by class, and its difference to the best
    baseline with a bootstrap over tasks. About half a minute for 1,200 runs."""
    found = [scored(atlas, seen) for seen in (None, *SEEN)]
    note = sentence("forecast.scores_note", {"at": AT, "level": LEVEL})
    tables, claims = [], []
    for one in found:
        key = "before" if one.seen is None else f"seen_{one.seen:g}"
        tables.append(Table(f"forecast.scores_{key}", _SCORES, tuple(_score_rows(one)), one.when, note))
        tables.append(Table(f"forecast.classes_{key}", _CLASSES, tuple(_class_rows(one)), f"by class, {one.when}"))
        claims += [_difference(one, score) for score in ("brier", "crps")]
    tasks, designs = (len({getattr(run, name) for run in atlas.runs}) for name in ("task", "design"))
    about = {"runs": len(atlas.runs), "tasks": tasks, "designs": designs}
    text = (sentence("forecast.evaluated", about), *(_verdict(one, claims) for one in found))
    settings, kept = {"at": AT, "level": LEVEL, **about}, _kept(atlas, found)
    data = {"kept": kept.plain(atlas)}
    return Record("forecast", settings, sentence("forecast.evaluation"), text, tuple(claims), tuple(tables), data=data)


def _kept(atlas: Atlas, found: Sequence[Scored]) -> Kept:
    """What forecasts are to be made with: all features, or the baseline of fewer features that scored better."""

    def total(name: str, some: Sequence[Scored]) -> float:
        return sum(float((one.losses(name)["brier"] + one.losses(name)["crps"]).mean()) for one in some)

    before, seen = found[:1], found[1:]
    better = total(BASE, before) < total(OURS, before)
    relevance = base_rate(pooled(cases_of(atlas.runs))) if better else chosen_before(atlas)
    last = total(f"{CURVES[0]}.calibrated", seen) < total(OURS, seen)
    return Kept(relevance, ("last",)) if last else Kept(relevance)


def _name(key: str) -> str:
    name, _, calibrated = key.partition(".")
    said = sentence(f"forecast.{name}")
    return sentence("forecast.calibrated", {"name": said}) if calibrated else said


def _score_rows(one: Scored) -> list[tuple[str | float | None, ...]]:
    rows = []
    for name, forecasts in one.by_name.items():
        mean = {score: _mean(values) for score, values in one.losses(name).items()}
        area = auroc(forecasts.holds, one.held)
        rows.append(
            (_name(name), mean["brier"], mean["log_score"], area, mean["crps"], mean["coverage"], mean["width"])
        )
    return rows


def _class_rows(one: Scored) -> list[tuple[str | float | None, ...]]:
    rows, ours, base = [], one.losses(OURS), one.losses(BASE)
    classes = np.array([run.facts.oracle_class for run in one.runs])
    tasks = np.array([run.task for run in one.runs])
    for name in sorted(set(classes)):
        here = classes == name
        pairs = [_mean(losses[score][here]) for score in ("brier", "crps") for losses in (ours, base)]
        ends = [_mean(ours[score][here]) for score in ("coverage", "width")]
        rows.append((str(name), len(set(tasks[here])), int(here.sum()), _mean(one.held[here]), *pairs, *ends))
    return rows


def best_baseline(one: Scored, score: str) -> str:
    """The baseline with the lowest mean score."""
    return min((name for name in one.by_name if name != OURS), key=lambda name: float(one.losses(name)[score].mean()))


def _difference(one: Scored, score: str) -> Claim:
    baseline = best_baseline(one, score)
    first, second = (one.by_task(one.losses(name)[score]) for name in (OURS, baseline))
    about = {"baseline": _name(baseline), "when": one.when, "score": score, "seen": one.seen}
    return paired_over_tasks(f"forecast.{score}_difference", first, second, about=about)


def _verdict(one: Scored, claims: Sequence[Claim]) -> str:
    """Whether ours is better than the best baseline in both scores, by intervals that leave 0 out."""
    own = [claim for claim in claims if claim.evidence["seen"] == one.seen]
    ends = [claim.interval for claim in own if claim.interval is not None]
    wins = len(ends) == len(own) and all(end.high < 0 for end in ends)
    loses = any(end.low > 0 for end in ends)
    key = "forecast.wins" if wins else "forecast.loses" if loses else "forecast.draws"
    when = f"{one.when[:1].upper()}{one.when[1:]}"
    return sentence(key, {"when": when, "baseline": own[0].evidence["baseline"]})


def _mean(values: Floats) -> float | None:
    there = values[~np.isnan(values)]
    return float(there.mean()) if len(there) else None
