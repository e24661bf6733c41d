"""Forecast every task of an atlas from the other tasks, and score it next to baselines. All forecasters are made and
calibrated in the same way, from all tasks but the one that is forecast."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun
from lengthwise.forecasts.baselines import BaseRate
from lengthwise.forecasts.cases import MULTIPLES, cases_of, even, seen_to
from lengthwise.forecasts.conformal import LEVEL
from lengthwise.forecasts.coverage import FEWEST_TASKS
from lengthwise.forecasts.curves import CURVES, curve_forecasts
from lengthwise.forecasts.distributions import GRID, auroc, brier, crps, log_score, steps
from lengthwise.forecasts.predicting import Forecaster, forecaster, outlook
from lengthwise.forecasts.regression import Regression
from lengthwise.forecasts.similar import Cases
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import THRESHOLD
from lengthwise.progress import Progress, silent
from lengthwise.records import Claim, Record, Table, columns
from lengthwise.seeds import Floats
from lengthwise.statistics import paired_over_tasks

AT = 4.0  # training sizes: where forecasts are scored
SEEN = (1.0, 2.0)  # training sizes that a checkpoint was measured to
OURS, BASE = "regression", "base"
_HORIZON = MULTIPLES.index(AT)

explain(
    {
        "forecast.regression": "regression (ours)",
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
        "forecast.wins": "{when}: our forecasts beat every baseline in Brier score and CRPS; the 95 % "
        "intervals of the differences, over tasks, exclude 0.",
        "forecast.loses": "{when}: our forecasts are worse than {baseline}.",
        "forecast.draws": "{when}: our forecasts are not shown to be better than {baseline}.",
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


def scored(atlas: Atlas, seen: float | None = None, progress: Progress = silent) -> Scored:
    """All forecasters on the runs of an atlas that were measured far enough. O(tasks^2 x runs)."""
    runs = [run for run in atlas.runs if run.exact_at(AT) is not None and (seen is None or _was_seen(run, seen))]
    tasks = list(dict.fromkeys(run.task for run in runs))
    if len(tasks) < FEWEST_TASKS:
        raise UsageError(
            f"an evaluation forecasts each task from the others; it takes {FEWEST_TASKS} tasks or more that were "
            f"measured to {AT:g} times the training size"
        )
    cases = cases_of(runs, seen=seen)
    exact = np.array([run.exact_at(AT) for run in runs], dtype=float)
    compared: dict[str, Forecaster] = {OURS: forecaster(seen), BASE: BaseRate()}
    found = {}
    if seen is not None:
        shown, held_so_far = [seen_to(run, seen) for run in runs], cases.features["held"] == "yes"
        for name in CURVES:
            values = curve_forecasts(name, shown, MULTIPLES)
            calibrated = f"{name}.calibrated"
            cases = replace(cases, features={**cases.features, calibrated: even(values)})
            compared[calibrated] = Regression(("held", calibrated), calibrated)
            holds = ((values[:, _HORIZON] >= THRESHOLD) & held_so_far).astype(float)
            found[name] = Forecasts(holds, steps(values[:, _HORIZON]), np.full((len(runs), 2), np.nan))
    for name, one in compared.items():
        found[name] = _left_out(one, cases, name, progress)
    order = [OURS, BASE, *(f"{name}{end}" for name in CURVES for end in ("", ".calibrated"))]
    by_name = {name: found[name] for name in order if name in found}
    return Scored(tuple(runs), seen, exact, cases.holds[:, _HORIZON], by_name)


def _was_seen(run: AtlasRun, seen: float) -> bool:
    """Whether a run was measured at two sizes or more up to there, and beyond."""
    return sum(size <= seen * run.train_size for size in run.sizes) > 1 and run.sizes[-1] > seen * run.train_size


def _left_out(one: Forecaster, cases: Cases, name: str, progress: Progress) -> Forecasts:
    """Each task forecast from the others."""
    holds, outcomes = np.zeros(len(cases)), np.zeros((len(cases), len(GRID)))
    ends = np.full((len(cases), 2), np.nan)
    tasks = np.unique(cases.task)
    for number, task in enumerate(tasks, start=1):
        asked = np.flatnonzero(cases.task == task)
        found = outlook(one, cases.part(asked), cases.part(cases.task != task), _HORIZON)
        holds[asked], outcomes[asked] = found.holds, found.outcomes
        for place, own in zip(asked, found.intervals, strict=True):
            if own is not None:
                ends[place] = own.low, own.high
        progress(f"forecasting tasks from the others: {_name(name)}", number, len(tasks))
    return Forecasts(holds, outcomes, ends)


# --- the record -----------------------------------------------------------------------------------------------------

_SCORES = columns(
    "forecaster:text | brier:number Brier score | log_score:number log score | auroc:number AUROC | crps:number CRPS | "
    "coverage:share | width"
)
_CLASSES = columns(
    "oracle_class:text class | tasks:whole | runs:whole | holds:share holds | brier:number Brier score | "
    "base_brier:number of base rate | crps:number CRPS | base_crps:number of base rate | coverage:share | width"
)


def evaluate(atlas: Atlas, progress: Progress = silent) -> Record:
    """The table of every forecaster before training and for checkpoints, ours by class, and its difference to the best
    baseline with a bootstrap over tasks. A few minutes for 1,500 runs."""
    found = [scored(atlas, seen, progress) for seen in (None, *SEEN)]
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
    settings = {"at": AT, "level": LEVEL, **about}
    return Record("forecast", settings, sentence("forecast.evaluation"), text, tuple(claims), tuple(tables))


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
