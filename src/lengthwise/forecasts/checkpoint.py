"""How far will a trained model hold that was measured only up to a size? From what runs of the atlas with a similar
curve and similar signals did beyond it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun
from lengthwise.evidence.atlas import TRANSFORMER
from lengthwise.forecasts.cases import MULTIPLES, cases_of, reach_of, seen_to
from lengthwise.forecasts.conformal import LEVEL, covers
from lengthwise.forecasts.coverage import FEWEST_TASKS, condition, covering, near_enough, violations
from lengthwise.forecasts.distributions import brier, crps
from lengthwise.forecasts.forecast import question, refusal, same_recipe, settings_of_question, the_atlas
from lengthwise.forecasts.predicting import Prediction, predict
from lengthwise.messages import explain, sentence
from lengthwise.models.named import brief_spec
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.curve.curve import Curve
from lengthwise.probes.curve.standard import THRESHOLD
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.signals import SIGNALS, SIZES, SignalsProbe
from lengthwise.records import Assumption, Claim, Record, Table, columns
from lengthwise.tasks.sizes import geometric_sizes

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task

ITEMS = 100  # per size, as in the atlas
_ROUNDING = 1 + 1e-9  # a size that is divided by the training size and multiplied again is not below itself

explain(
    {
        "forecast.checkpoint": "forecast for {name}, measured to size {seen}",
        "forecast.held_so_far": "Exact match is 95 % or more at every size measured, up to {seen}.",
        "forecast.failed": "Exact match is below 95 % from size {size} on, so the reach is {reach}. What is "
        "forecast is exact match.",
        "forecast.comparable": "the atlas has runs that had held, or failed, up to this multiple of the training size",
        "forecast.comparable_not": "the atlas has {tasks} of the {least} tasks that a forecast needs with runs that "
        "{did} up to {seen:g} times the training size",
        "forecast.inside": "measured values inside their intervals ({inside} of {sizes} sizes)",
        "forecast.brier": "Brier score of P(reach >= n), mean over sizes",
        "forecast.crps": "CRPS of exact match, mean over sizes",
        "forecast.same_items": "sizes share the model, so their scores are not independent",
    }
)


def forecast_subject(
    subject: Subject,
    context: Context | None = None,
    *,
    seen: int,
    position: str | None = None,
    check: bool = False,
    level: float = LEVEL,
    atlas: Atlas | None = None,
) -> Record:
    """How far a subject will hold beyond the size `seen`, up to 8 times its training size.

    Its curve and its signals are measured at sizes up to `seen`, at the same multiples of the training size as in the
    atlas. The record has exact match beyond, with intervals, and the probability that the reach is at least n. A run of
    lengthwise knows its task, training size and encoding; of another subject they are those of `context` and
    `position`. `context` also has the number of items per size (100) and the seed. With `check` the sizes beyond are
    measured too, and the forecast is scored.
    """
    context = context or Context()
    task, size = known_of_subject(subject, context.task, context.train_size)
    atlas = the_atlas(atlas)
    grid = geometric_sizes(task, size, int(MULTIPLES[-1]) * size)
    sizes, beyond = ([n for n in grid if (n <= seen) == inside] for inside in (True, False))
    if seen < size:
        raise UsageError(f"a forecast begins at the training size or beyond: seen must be at least {size}, not {seen}")
    if not beyond:
        raise UsageError(f"the atlas ends at {MULTIPLES[-1]:g} times the training size; seen is below {grid[-1]}")
    context = replace(context, task=task, train_size=size, sizes=tuple(sizes), items=context.items or ITEMS)
    shown = _measured(subject, context, position, atlas)
    truth = _truth(subject, context, beyond) if check else None
    return forecast_from(shown, beyond, atlas, level=level, name=subject.name, truth=truth)


def known_of_subject(subject: Subject, task: Task | None, train_size: int | None) -> tuple[Task, int]:
    """The task and the training size, of a run unless others are given."""
    run = subject.capability("run") if subject.offers("run") else None
    task = run.task if task is None and run else task
    train_size = run.train_size if train_size is None and run else train_size
    if task is None:
        raise UsageError(f"say which task to ask {subject.name}")
    if train_size is None:
        raise UsageError(f"say to which size {subject.name} was trained")
    return task, train_size


def _measured(subject: Subject, context: Context, position: str | None, atlas: Atlas) -> AtlasRun:
    """The subject as the atlas would describe it, measured at the sizes of the context."""
    assert context.task is not None
    _check_sizes(context.sizes)
    curve = Curve.from_record(ask(CurveProbe(), subject, context))
    rows = ask(SignalsProbe(), subject, context).table(SIZES).records()
    signals = {name: tuple(row[name] for row in rows) for name in SIGNALS if all(row[name] is not None for row in rows)}
    model = TRANSFORMER if position else _model_of(subject)
    encoding = position or (curve.position if model == TRANSFORMER else "none")
    known = question(context.task, encoding, context.train_size, atlas, model)
    exact = tuple(point.exact for point in curve.points)
    learned = all(point.exact >= THRESHOLD for point in curve.points if point.size <= known.train_size)
    return replace(
        known,
        sizes=context.sizes,
        exact=exact,
        signals=signals,
        learned=learned,
        items=context.items,
        seed=context.seed,
    )


def _model_of(subject: Subject) -> str:
    """The spec of another model that was trained here; otherwise a Transformer, whose encoding may not be known."""
    stored = subject.capability("run").plan["model"] if subject.offers("run") else {}
    if "name" not in stored:
        return TRANSFORMER
    return str(stored["name"]) if stored.get("unregistered") else brief_spec(stored)


def _truth(subject: Subject, context: Context, beyond: Sequence[int]) -> dict[int, float]:
    """Exact match at the sizes that are forecast."""
    curve = Curve.from_record(ask(CurveProbe(), subject, replace(context, sizes=tuple(beyond))))
    return {point.size: point.exact for point in curve.points}


def forecast_from(
    shown: AtlasRun,
    beyond: Sequence[int],
    atlas: Atlas,
    *,
    level: float = LEVEL,
    name: str = "",
    truth: Mapping[int, float] | None = None,
) -> Record:
    """The forecast at the sizes `beyond` for a model whose curve and signals are those of `shown`; scored by exact
    match at these sizes where it is known."""
    _check_sizes(shown.sizes)
    seen = shown.sizes[-1] / shown.train_size * _ROUNDING
    usable = [run for run in atlas.runs if _comparable(run, seen)]
    held = reach_of(shown) == shown.sizes[-1]
    alike = {run.task for run in usable if (min(seen_to(run, seen).exact) >= THRESHOLD) == held}
    about = {"tasks": len(alike), "least": FEWEST_TASKS, "seen": seen, "did": "held" if held else "failed"}
    conditions = [*covering(shown, atlas), condition("forecast.comparable", len(alike) >= FEWEST_TASKS, **about)]
    if violations(conditions):
        return refusal(shown, atlas, conditions)
    together = cases_of((shown, *usable), (), seen)
    own, known = together.part(np.array([0])), together.part(np.arange(1, len(usable) + 1))
    conditions.append(near_enough(own, known))
    if violations(conditions):
        return refusal(shown, atlas, conditions)
    multiples = [n / shown.train_size * _ROUNDING for n in beyond]
    found = predict(shown, usable, multiples, seen=seen, level=level)
    settings = {**settings_of_question(shown), "seen": shown.sizes[-1]}
    text = [_so_far(shown), *([found.answer()] if held else []), *found.remarks()]
    claims, tables = (
        found.claims([*conditions, same_recipe(atlas)]),
        [found.horizons(), found.nearest_runs(), found.distribution()],
    )
    if truth is not None:
        claims += _scores(found, truth)
        tables.insert(1, _compared(found, truth))
    title = sentence("forecast.checkpoint", {"name": name, "seen": shown.sizes[-1]})
    return Record("forecast", settings, title, tuple(text), tuple(claims), tuple(tables))


def _check_sizes(sizes: Sequence[int]) -> None:
    """Refuse a curve that shows no trend."""
    if len(sizes) < 2:
        measured = f"only size {sizes[0]} was measured" if sizes else "none was measured"
        raise UsageError(f"a forecast needs the curve at two sizes or more, and {measured}")


def _comparable(run: AtlasRun, seen: float) -> bool:
    """Whether a run of the atlas was measured at two sizes or more up to there, and beyond."""
    inside = sum(size <= seen * run.train_size for size in run.sizes)
    return 1 < inside < len(run.sizes)


def _so_far(shown: AtlasRun) -> str:
    reach = reach_of(shown)
    if reach == shown.sizes[-1]:
        return sentence("forecast.held_so_far", {"seen": reach})
    first = next(size for size, exact in zip(shown.sizes, shown.exact, strict=True) if exact < THRESHOLD)
    return sentence("forecast.failed", {"size": first, "reach": reach})


# --- compared with the truth ----------------------------------------------------------------------------------------


def _outcomes(found: Prediction, truth: Mapping[int, float]) -> tuple[np.ndarray, np.ndarray]:
    """Exact match at each multiple, and whether the reach is at least that far."""
    exact = np.array([truth[found.size(multiple)] for multiple in found.multiples])
    held = reach_of(found.asked) == found.asked.sizes[-1]
    return exact, np.logical_and.accumulate(exact >= THRESHOLD) & held


def _compared(found: Prediction, truth: Mapping[int, float]) -> Table:
    exact, held = _outcomes(found, truth)
    rows = []
    for number, multiple in enumerate(found.multiples):
        ends = found.intervals[number]
        inside = None if ends is None else covers(ends, exact[number])
        rows.append(
            (found.size(multiple), float(exact[number]), inside, float(found.holds[number]), bool(held[number]))
        )
    described = "size:whole | measured:share | inside:truth | reach:share P(reach >= n) | held:truth reach >= n"
    return Table("forecast.compared", columns(described), tuple(rows), "forecast and measurement")


def _scores(found: Prediction, truth: Mapping[int, float]) -> list[Claim]:
    exact, held = _outcomes(found, truth)
    resting = (Assumption("forecast.same_items"),)
    ends = [(one, value) for one, value in zip(found.intervals, exact, strict=True) if one is not None]
    inside = sum(covers(one, value) for one, value in ends)
    about = {"inside": inside, "sizes": len(ends)}
    scores = {
        "forecast.brier": float(brier(found.holds, held.astype(float)).mean()),
        "forecast.crps": float(crps(found.outcomes, exact).mean()),
    }
    claims = [Claim(key, value, "", "measured", assumptions=resting) for key, value in scores.items()]
    if ends:
        share = inside / len(ends)
        claims.append(Claim("forecast.inside", share, "share", "measured", assumptions=resting, evidence=about))
    return claims
