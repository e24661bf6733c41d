"""One forecast: distributions of exact match at several multiples of the training size, with what they rest on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from lengthwise.evidence import AtlasRun
from lengthwise.forecasts.cases import (
    BEFORE,
    CURVED,
    MULTIPLES,
    SHOWN,
    cases_of,
    family_of,
    holds_at,
    reach_of,
    seen_to,
)
from lengthwise.forecasts.conformal import LEVEL, interval, least_tasks, scores
from lengthwise.forecasts.coverage import condition, violations
from lengthwise.forecasts.distributions import GRID, mean
from lengthwise.forecasts.regression import Regression
from lengthwise.forecasts.similar import Cases, distances
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import THRESHOLD
from lengthwise.records import Assumption, Claim, Interval, Reference, Table, columns
from lengthwise.seeds import Floats, Ints

CONFORMAL = Reference("lee2023", "hierarchical jackknife+")
_NEAREST = 8  # tasks shown
_COLLAPSED = 0.05
_RUNS = columns(
    "task:text | design:text encoding or model | seed:whole | distance:number | seen:share last seen | "
    "exact:share exact match at 4 x | reach:number reach / training size"
)
_HORIZONS = columns(
    "multiple:number x training size | size:whole | holds:share P(holds) | exact:share mean exact match | "
    "low:share from | high:share to | collapsed:share P(≤5%) | right:share P(≥95%)"
)
_TASKS = columns(
    "task:text | oracle_class:text class | design:text encoding or model | distance:number | learned:text | "
    "held:text held at 4 x | exact:share exact match at 4 x"
)

explain(
    {
        "forecast.holds": "P(exact match of 95 % or more at every size up to {size})",
        "forecast.exact": "exact match at size {size}",
        "forecast.exchangeable_tasks": "the task is exchangeable with those of the atlas",
        "forecast.fixed_ridge": (
            "features and ridge penalty, which were chosen on some of the same tasks, are treated as fixed"
        ),
        "forecast.enough_for_interval": "there are enough comparable tasks for an interval",
        "forecast.enough_for_interval_not": (
            "no interval of {level:.0%}: that takes {least} tasks, and only {tasks} are comparable"
        ),
        "forecast.several_seeds": "the spread over seeds is part of the forecast",
        "forecast.several_seeds_not": "the atlas has one seed of each task and encoding, so the spread over seeds is "
        "not known",
    }
)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What the runs of an atlas say about one run.

    `holds` [multiples] are probabilities, `outcomes` [multiples, grid] distributions; `gaps` [known] say how far each
    known run is from the one asked about. `compared` is the number of tasks that the intervals are calibrated on.
    """

    asked: AtlasRun
    known: tuple[AtlasRun, ...]
    multiples: tuple[float, ...]
    holds: Floats
    outcomes: Floats
    intervals: tuple[Interval | None, ...]
    gaps: Floats
    compared: int
    level: float
    seen: float | None = None

    def size(self, multiple: float) -> int:
        """A multiple of the training size, as a size."""
        return round(multiple * self.asked.train_size)

    def claims(self, conditions: Sequence[Assumption]) -> list[Claim]:
        """The probability of holding, and exact match, at each multiple."""
        found = []
        resting = (*conditions, Assumption("forecast.exchangeable_tasks"), self._about_seeds())
        about = {"tasks": len({run.task for run in self.known})}
        for number, multiple in enumerate(self.multiples):
            here = {"size": self.size(multiple), "multiple": round(multiple, 3), **about}
            chance = round(float(self.holds[number]), 4)
            found.append(Claim("forecast.holds", chance, "share", "predicted", "holds", None, resting, None, here))
            value, ends = round(float(mean(self.outcomes[number])), 4), self.intervals[number]
            own = (*resting, self._about_interval(number), Assumption("forecast.fixed_ridge"))
            found.append(Claim("forecast.exact", value, "share", "predicted", "holds", ends, own, CONFORMAL, here))
        return found

    def horizons(self) -> Table:
        """One row per multiple."""
        rows = []
        for number, multiple in enumerate(self.multiples):
            F, ends = self.outcomes[number], self.intervals[number]
            below = float(F[np.searchsorted(GRID, THRESHOLD - 1e-9) - 1])
            low, high = (None, None) if ends is None else (ends.low, ends.high)
            peaks = (float(F[np.searchsorted(GRID, _COLLAPSED + 1e-9) - 1]), 1 - below)
            rows.append(
                (round(multiple, 3), self.size(multiple), float(self.holds[number]), float(mean(F)), low, high, *peaks)
            )
        return Table("forecast.horizons", _HORIZONS, tuple(rows), "forecast")

    def distribution(self) -> Table:
        """One row per multiple and value of exact match, with the probability of at most that value."""
        rows = (
            (round(multiple, 3), float(value), float(F[place]))
            for multiple, F in zip(self.multiples, self.outcomes, strict=True)
            for place, value in enumerate(GRID)
        )
        described = columns("multiple:number x training size | exact:share exact match | at_most:share P(at most)")
        return Table("forecast.distribution", described, tuple(rows), "distribution of exact match", detail=True)

    def nearest(self) -> Table:
        """The nearest tasks, by their runs with the same encoding or model where there are some."""
        return nearest_table(self.asked.design, self.known, self.gaps)

    def nearest_runs(self) -> Table:
        """The nearest runs, and how far each held."""
        rows = []
        for place in np.argsort(self.gaps, kind="stable")[:_NEAREST]:
            run = self.known[place]
            exact = (seen_to(run, self.seen).exact[-1] if self.seen else None, run.exact_at(4))
            gap, reach = float(self.gaps[place]), reach_of(run) / run.train_size
            rows.append((run.task, run.design, run.seed, gap, *exact, reach))
        return Table("forecast.nearest_runs", _RUNS, tuple(rows), "nearest runs")

    def answer(self) -> str:
        """The probabilities of holding at 2, 4 and 8 times the training size, as far as they are forecast."""
        near = [number for number, one in enumerate(self.multiples) if np.isclose(one, MULTIPLES, rtol=1e-6).any()]
        wanted = near or [-1]
        joined = (
            " / ".join(f"{value:.0f}" for value in values[wanted])
            for values in (np.array(self.multiples), 100 * self.holds)
        )
        multiples, chances = joined
        tasks = len({run.task for run in self.known})
        return sentence("forecast.answer", {"multiples": multiples, "chances": f"{chances} %", "tasks": tasks})

    def remarks(self) -> list[str]:
        """What is missing, in sentences."""
        conditions = [self._about_seeds(), *(self._about_interval(number) for number in range(len(self.multiples)))]
        return [f"{said[:1].upper()}{said[1:]}." for said in dict.fromkeys(violations(conditions))]

    def _about_seeds(self) -> Assumption:
        cells = [(run.task, run.design) for run in self.known]
        return condition("forecast.several_seeds", len(set(cells)) < len(cells))

    def _about_interval(self, number: int) -> Assumption:
        about = {"level": self.level, "least": least_tasks(self.level), "tasks": self.compared}
        return condition("forecast.enough_for_interval", self.intervals[number] is not None, **about)


def nearest_table(design: str, known: Sequence[AtlasRun], gaps: Floats) -> Table:
    """The nearest tasks, and what their runs did with an encoding or model; or with one of its family, or with any."""
    gap: dict[str, float] = {}
    for run, one in zip(known, gaps, strict=True):
        gap[run.task] = min(gap.get(run.task, np.inf), float(one))
    rows = []
    for task in sorted(gap, key=lambda task: gap[task])[:_NEAREST]:
        runs = [run for run in known if run.task == task]
        family = [run for run in runs if design and family_of(run.design) == family_of(design)]
        runs = [run for run in runs if run.design == design] or family or runs
        held = [held for run in runs if (held := holds_at(run, 4)) is not None]
        exact = [exact for run in runs if (exact := run.exact_at(4)) is not None]
        designs = {run.design for run in runs}
        with_what = designs.pop() if len(designs) == 1 else f"{len(designs)} others"
        counts = [f"{sum(marks)} of {len(marks)}" for marks in ([run.learned for run in runs], held)]
        value = sum(exact) / len(exact) if exact else None
        rows.append((task, runs[0].facts.oracle_class, with_what, gap[task], *counts, value))
    return Table("forecast.nearest", _TASKS, tuple(rows), "nearest tasks (runs by seed)")


class FittedForecaster(Protocol):
    """A forecaster that was fitted several times, with different weights of the known cases."""

    def at(self, asked: Cases, fits: Ints) -> tuple[Floats, Floats]: ...


class Forecaster(Protocol):
    """A way to forecast, such as a `Regression`."""

    def fit(self, known: Cases, horizon: int, weights: Floats) -> FittedForecaster: ...


@dataclass(frozen=True, eq=False)
class Outlook:
    """A forecaster's forecasts at one horizon: `holds` [asked], `outcomes` [asked, grid], and intervals."""

    holds: Floats
    outcomes: Floats
    intervals: tuple[Interval | None, ...]


def outlook(forecaster: Forecaster, asked: Cases, known: Cases, horizon: int, level: float = LEVEL) -> Outlook:
    """Forecasts from cases of other tasks. Intervals are calibrated on the known cases of the same stratum, each
    forecast without its task."""
    known = known.part(~np.isnan(known.holds[:, horizon]))
    tasks, place = np.unique(known.task, return_inverse=True)
    without = place != np.arange(len(tasks))[:, None]  # [tasks, known]: all but the cases of a task
    fitted = forecaster.fit(known, horizon, known.weight * np.concatenate([np.ones((1, len(known))), without]))
    holds, outcomes = fitted.at(asked, np.zeros(len(asked), dtype=np.intp))
    measured = GRID[np.argmax(known.outcomes[:, horizon], axis=1)]
    unusual: dict[str, tuple[Ints, Floats]] = {}  # by stratum: the cases compared, and their scores
    ends = []
    for number, stratum in enumerate(asked.stratum):
        if stratum not in unusual:
            alike = np.flatnonzero(known.stratum == stratum)
            forecasts = fitted.at(known.part(alike), 1 + place[alike])[1]
            unusual[stratum] = place[alike], scores(forecasts, measured[alike])
        compared, known_scores = unusual[stratum]
        if len(present := np.unique(compared)) < least_tasks(level):
            ends.append(None)
            continue
        own = fitted.at(asked.part(np.full(len(present), number)), 1 + present)[1]
        ends.append(interval(own, known_scores, np.searchsorted(present, compared), level))
    return Outlook(holds, outcomes, tuple(ends))


def predict(
    asked: AtlasRun,
    known: Sequence[AtlasRun],
    multiples: Sequence[float],
    *,
    seen: float | None = None,
    level: float = LEVEL,
) -> Prediction:
    """The forecast for a run from runs of other tasks. Its intervals are calibrated on the runs with the same encoding
    or model or, where the run was `seen` up to a multiple of its training size, on those that held up to there as it
    did."""
    known = tuple(run for run in known if run.task != asked.task)
    everything = cases_of((asked, *known), multiples, seen)
    own, cases = everything.part(np.array([0])), everything.part(np.arange(1, len(known) + 1))
    found = [outlook(forecaster(seen), own, cases, number, level) for number in range(len(multiples))]
    features = BEFORE if seen is None else (*BEFORE, *SHOWN)
    return Prediction(
        asked=asked,
        known=known,
        multiples=tuple(multiples),
        holds=np.minimum.accumulate(np.array([one.holds[0] for one in found])),
        outcomes=np.array([one.outcomes[0] for one in found]),
        intervals=tuple(one.intervals[0] for one in found),
        gaps=distances(own, cases, [name for name in features if name not in CURVED])[0],
        compared=len(np.unique(cases.task[cases.stratum == own.stratum[0]])),
        level=level,
        seen=seen,
    )


def forecaster(seen: float | None) -> Regression:
    """What forecasts are made with, before training and for a checkpoint."""
    return Regression(BEFORE) if seen is None else Regression((*BEFORE, *SHOWN), CURVED[0])
