"""Choose a recipe, and an encoding if asked, by what lies inside the training range alone.

Every candidate is trained on sizes up to 0.8 of the training size and measured on the sizes from there to the training
size, which it has not seen. The candidate with the best exact match on these held-out sizes (then the least loss, then
the first) is trained again on the whole range and measured beyond it. Candidates are measured at no larger size, so
nothing beyond the training range can enter the choice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.positions import Position, positions
from lengthwise.probes.curve import CurveProbe
from lengthwise.probes.curve.curve import Curve
from lengthwise.probes.curve.standard import wilson
from lengthwise.probes.probe import Probe
from lengthwise.records import Assumption, Claim, Interval, Record, Table, columns
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.tasks.task import Task

INSIDE = 0.8  # of the training size: as far as candidates are trained
CANDIDATES = "selection.candidates"
RECIPES: Mapping[str, Mapping[str, Any]] = {
    "default": {},
    "deep": {"depth": 4, "steps": 1000, "batch": 32},
    "long-first": {"steps": 1000, "batch": 32, "sizes": "long_first"},
    "warm-first": {"depth": 3, "steps": 1500, "batch": 16, "rate": 3e-3, "warmup": 0.2, "sizes": "long_first"},
    "steady": {"depth": 2, "steps": 1000, "batch": 48, "rate": 3e-3, "warmup": 0.2, "sizes": "long_first"},
}
ENCODINGS = ("none", "learned+offset", "rope", "alibi", "t5", "fire")

explain(
    {
        "selection.chosen": "chosen of {candidates}, by exact match at sizes {first} to {last}, held out of training",
        "selection.held_out": "exact match at sizes {first} to {last}, held out of training",
        "selection.optimistic": (
            "the best of several candidates is chosen, so its value on the held-out sizes is optimistic"
        ),
        "selection.how": "Every candidate was trained to size {trained} and compared at sizes {first} to {last}; "
        "{chosen} was then trained to size {last} and measured beyond it.",
    }
)


@dataclass(frozen=True)
class Candidate:
    """A recipe with an encoding: the plan by which it is compared, and the one that is carried out if it is chosen."""

    recipe: str
    trial: Plan
    whole: Plan

    @property
    def name(self) -> str:
        return f"{self.recipe}, {self.whole.position_name}"


@dataclass(frozen=True)
class HeldOut:
    """What a candidate did on the sizes that were held out."""

    right: int
    items: int
    loss: float

    @property
    def exact(self) -> float:
        return self.right / self.items

    @property
    def interval(self) -> Interval:
        return wilson(self.right, self.items)


def candidates(
    task: str | Task,
    encodings: Sequence[str | Position],
    recipes: Mapping[str, Mapping[str, Any]],
    settings: Mapping[str, Any] = {},
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seed: int = 0,
    probes: Sequence[str | Probe] = (),
) -> list[Candidate]:
    """Every recipe with every encoding; `settings` come before those of the recipes."""
    found = []
    for encoding in encodings:
        for name, recipe in recipes.items():
            whole = plan_for(
                task,
                encoding,
                {**recipe, **settings},
                train_size=train_size,
                test_size=test_size,
                items=items,
                seed=seed,
                probes=probes,
            )
            trial = replace(whole, train_size=held_out_from(whole), test_size=whole.train_size, probes=(CurveProbe(),))
            if all(trial != other.trial for other in found):  # a recipe may be the task's preset already
                found.append(Candidate(name, trial, whole))
    if len(found) < 2:
        raise UsageError("a choice needs at least two candidates: several recipes, or several encodings")
    return found


def held_out_from(plan: Plan) -> int:
    """The size up to which candidates are trained; those above it, up to the training size, are held out."""
    known = plan.train_sizes
    inside = [size for size in known if size <= INSIDE * plan.train_size]
    if not inside or inside == known:
        raise UsageError(
            f"no size can be held out of training: the task {plan.task_name} has {len(known)} sizes up to "
            f"{plan.train_size}; train to a larger size"
        )
    return inside[-1]


def held_out(candidate: Candidate, curve: Curve) -> HeldOut:
    """The sizes of a curve between those of the trial and the training size; larger ones never count."""
    first, last = candidate.trial.train_size, candidate.whole.train_size
    points = [point for point in curve.points if first < point.size <= last]
    tokens = sum(point.tokens for point in points)
    loss = sum(point.loss * point.tokens for point in points) / tokens if tokens else math.inf
    return HeldOut(sum(point.right for point in points), sum(point.items for point in points), loss)


def best_of(found: Sequence[HeldOut]) -> int:
    """The number of the best: most right, then least loss, then first."""
    return min(range(len(found)), key=lambda number: (-found[number].exact, found[number].loss, number))


def selection_record(tried: Sequence[Candidate], found: Sequence[HeldOut]) -> Record:
    """What was compared, and what was chosen."""
    chosen, number = tried[best_of(found)], best_of(found)
    known = [size for size in chosen.whole.train_sizes if size > chosen.trial.train_size]
    about = {"first": known[0], "last": known[-1], "candidates": len(tried), "seed": chosen.whole.seed}
    grounds = {"assumptions": (Assumption("selection.optimistic"),), "evidence": about}
    rows = tuple(
        (one.recipe, one.whole.position_name, here.exact, here.interval.low, here.interval.high, _finite(here.loss))
        for one, here in zip(tried, found, strict=True)
    )
    best = found[number]
    table = columns(
        "recipe:text | position:text | exact:share exact match | low:share 95 % from | high:share 95 % to | loss"
    )
    return Record(
        source="selection",
        title=f"selection, {chosen.whole.task_name}",
        text=(sentence("selection.how", {**about, "chosen": chosen.name, "trained": chosen.trial.train_size}),),
        claims=(
            Claim("selection.chosen", chosen.name, "", "measured", **grounds),
            Claim("selection.held_out", best.exact, "share", "measured", "holds", best.interval, **grounds),
        ),
        tables=(Table(CANDIDATES, table, rows, "candidates on the held-out sizes"),),
    )


def folder_of_candidate(folder: str | Path, candidate: Candidate) -> Path:
    """Where a candidate is kept inside a folder."""
    return Path(folder) / f"candidate-{candidate.trial.digest()}"


def folder_of_chosen(folder: str | Path) -> Path:
    """Where the run of the chosen candidate is kept inside a folder."""
    return Path(folder) / "chosen"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


def chosen_among(text: str, position: str) -> tuple[Sequence[str], Mapping[str, Mapping[str, Any]]]:
    """The encodings and recipes that a text names: `recipes`, `encodings`, or both with a comma between."""
    parts = [part.strip() for part in text.split(",")]
    if not parts or any(part not in ("recipes", "encodings") for part in parts):
        raise UsageError(f"what to choose among is recipes, encodings or recipes,encodings, not {text!r}")
    encodings = ENCODINGS if "encodings" in parts else (position,)
    encodings = tuple(dict.fromkeys(positions.text_of(positions.make(one)) for one in (*encodings, position)))
    return encodings, RECIPES if "recipes" in parts else {"default": {}}
