"""Will a model hold that is not trained yet? What became of similar tasks of the atlas with the encoding or model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from lengthwise import evidence
from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun, load_atlas
from lengthwise.evidence.atlas import TRANSFORMER
from lengthwise.evidence.task_facts import Outcome, group_of
from lengthwise.forecasts.cases import BEFORE, MULTIPLES, cases_of, holds_at
from lengthwise.forecasts.conformal import LEVEL
from lengthwise.forecasts.coverage import check_certain, covering, near_enough, violations
from lengthwise.forecasts.predicting import nearest_table, predict
from lengthwise.forecasts.similar import distances
from lengthwise.messages import explain, sentence
from lengthwise.models.named import brief_spec
from lengthwise.positions import Position, positions
from lengthwise.positions.encodings import NoPosition
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Assumption, Claim, Record
from lengthwise.tasks import tasks
from lengthwise.tasks.sizes import default_train_size, name_of
from lengthwise.tasks.task import Task

explain(
    {
        "forecast.title": "forecast for {task}, {design}, trained to size {train_size}",
        "forecast.answer": "It holds at {multiples} times the training size with probability {chances}, predicted from "
        "{tasks} other tasks.",
        "forecast.known_of_task": "Class by theory: {oracle_class}; verdict: {verdict}; kind of "
        "answer: {readout}; alphabet of {alphabet}{states}.",
        "forecast.outside": "forecast",
        "forecast.refused": "No forecast: {reasons}.",
        "forecast.measured_here": "seeds of this task itself that held at 4 x the training size ({held} of {seeds})",
        "forecast.here": "The atlas measured this task itself: it held at 4 times the training size in {held} of "
        "{seeds} seeds. The forecast does not use them.",
        "forecast.same_recipe": "the model and its training are those of the atlas ({recipe})",
        "forecast.empty": "the atlas has no runs, so there is nothing to forecast from",
    }
)


def forecast(
    task: str | Task,
    position: str | Position = "none",
    *,
    model: str = TRANSFORMER,
    train_size: int | None = None,
    level: float = LEVEL,
    atlas: Atlas | None = None,
) -> Record:
    """How far a task will hold with an encoding, or with another model such as `lstm`, before anything is trained.

    The record has, at 2, 4 and 8 times the training size, the probability that exact match stays at 95 % or more up to
    there, the distribution of exact match, and its interval. Where the atlas has nothing comparable, there is no
    number: the claim `forecast.outside` is refused, with the reasons. `train_size` is 20 unless given, or a third of
    the last size of a task that ends early; `atlas` is that of the package.

    >>> lw.forecast("parity", "rope").claim("forecast.holds").value      # doctest: +SKIP
    0.02
    """
    if not 0 < level < 1:
        raise UsageError(f"the level of an interval must lie between 0 and 1, not {level}")
    task = tasks.make(task) if isinstance(task, str) else task
    position = positions.make(position) if isinstance(position, str) else position
    atlas = the_atlas(atlas)
    if model != TRANSFORMER:
        model = brief_spec(model)
        if position != NoPosition():
            raise UsageError(f"{model} is not our Transformer and takes no position encoding of ours")
    asked = question(task, positions.text_of(position), train_size, atlas, model)
    together = cases_of((asked, *atlas.runs), ())
    own, known = together.part(np.array([0])), together.part(np.arange(1, len(atlas) + 1))
    conditions = [*covering(asked, atlas), near_enough(own, known)]
    if violations(conditions):
        return refusal(asked, atlas, conditions)
    found = predict(asked, atlas.runs, MULTIPLES, level=level)
    text, measured = (found.answer(), known_of(asked)), _measured(asked, atlas)
    return Record(
        "forecast",
        settings_of_question(asked),
        sentence("forecast.title", settings_of_question(asked)),
        (*text, *(sentence("forecast.here", claim.evidence) for claim in measured), *found.remarks()),
        (*found.claims([*conditions, same_recipe(atlas)]), *measured),
        (found.horizons(), found.nearest(), found.distribution()),
    )


def the_atlas(atlas: Atlas | None) -> Atlas:
    """The atlas given, or that of the package; one without runs is refused."""
    atlas = load_atlas() if atlas is None else atlas
    if not atlas.runs:
        raise UsageError(sentence("forecast.empty"))
    return atlas


def question(task: Task, position: str, train_size: int | None, atlas: Atlas, model: str = TRANSFORMER) -> AtlasRun:
    """A run that does not exist yet. What the atlas knows of the task and of the verdict is not computed again."""
    name, size = name_of(task), default_train_size(task) if train_size is None else train_size
    check_certain(task)
    if not task.sizes(1, size):
        raise UsageError(f"the task has no items of size 1 to {size}; its sizes begin at {task.axes[0].smallest}")
    own = [run for run in atlas.runs if run.task == name]
    verdict: Outcome = "unknown"  # of an encoding that is not known
    if alike := [run for run in own if (run.position, run.model, run.train_size) == (position, model, size)]:
        verdict = alike[0].verdict
    elif position:
        furthest = task.sizes(1, int(MULTIPLES[-1]) * size)[-1]
        verdict = evidence.verdict_of(task, position, model, size, max(furthest, size))
    return AtlasRun(
        task=name,
        group=own[0].group if own else group_of(task),
        facts=own[0].facts if own else evidence.facts_of(task),
        position=position,
        verdict=verdict,
        settings={},
        train_size=size,
        seed=0,
        learned=False,
        sizes=(),
        exact=(),
        items=0,
        signals={},
        losses=(),
        model=model,
    )


def refusal(asked: AtlasRun, atlas: Atlas, conditions: Sequence[Assumption]) -> Record:
    """What is said instead of a forecast, with the nearest evidence there is."""
    known = [run for run in atlas.runs if run.task != asked.task]
    gaps = np.zeros(len(known))
    if known:
        together = cases_of((asked, *known), ())
        own, others = together.part(np.array([0])), together.part(np.arange(1, len(known) + 1))
        gaps = distances(own, others, BEFORE)[0]
    claim = Claim("forecast.outside", None, "", "predicted", "refused", assumptions=tuple(conditions))
    return Record(
        "forecast",
        settings_of_question(asked),
        sentence("forecast.title", settings_of_question(asked)),
        (sentence("forecast.refused", {"reasons": "; ".join(violations(conditions))}), known_of(asked)),
        (claim, *_measured(asked, atlas)),
        (nearest_table(asked.design, known, gaps),),
    )


def known_of(asked: AtlasRun) -> str:
    """The facts that a forecast is made from, in a sentence."""
    facts = asked.facts
    states = "" if facts.states is None else f"; minimal automaton of {facts.states} states"
    return sentence("forecast.known_of_task", {**vars(facts), "verdict": asked.verdict, "states": states})


def same_recipe(atlas: Atlas) -> Assumption:
    """That the model asked about is made as those of the atlas are, most of which have these settings."""
    settings = Counter(tuple(sorted(run.settings.items())) for run in atlas.runs).most_common(1)[0][0]
    recipe = ", ".join([*(f"{name} {value}" for name, value in settings), "otherwise the defaults"])
    return Assumption("forecast.same_recipe", values={"recipe": recipe})


def settings_of_question(asked: AtlasRun) -> dict[str, str | int]:
    """What a record says it is about."""
    return {"task": asked.task, "design": asked.design, "train_size": asked.train_size}


def _measured(asked: AtlasRun, atlas: Atlas) -> list[Claim]:
    """What the atlas measured of this very task with this encoding or model."""
    runs = [run for run in atlas.runs if (run.task, run.design) == (asked.task, asked.design)]
    marks = [held for run in runs if (held := holds_at(run, 4)) is not None]
    if not marks:
        return []
    about = {"held": sum(marks), "seeds": len(marks), "train_size": runs[0].train_size}
    ends, share = wilson(sum(marks), len(marks)), sum(marks) / len(marks)
    return [Claim("forecast.measured_here", share, "share", "measured", "holds", ends, evidence=about)]
