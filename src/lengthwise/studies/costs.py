"""What a run costs, as amounts of work: linear in the constants of a machine, which `calibration` finds.

A training step of B items of T tokens, through D layers of width W with an MLP of R W, is taken to cost

    c0 + c1 D + c2 B D T (4 + 2R) W^2 + c3 B D T^2 W + c4 B T

seconds: what a step and a layer cost however small, the matrices, the attention, and drawing and packing the items.
A model that is not our Transformer counts as one of its depth and width, or of the usual ones where it has none.
Measuring a size is the same with constants of its own, and 1,000 more items are drawn there to estimate chance. What
other probes read (`Probe.passes`) is counted by the same constants.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.models.architecture import Architecture
from lengthwise.models.others import Looped
from lengthwise.runs.plan import Plan
from lengthwise.seeds import Floats
from lengthwise.tasks.task import Task
from lengthwise.training.batches import Batches
from lengthwise.training.recipe import Recipe

# Seconds a unit of work on one core, in the units of `step_work` and `size_work`. Roughly fitted to 218 kinds of plan,
# of which four in five took 0.8 to 1.65 (steps) or 0.8 to 1.9 (sizes) times what it says; two constants of SIZE that
# came out as 0 are set to little. That machine was busy, so the scale is halved: a guess, which `calibration` replaces.
STEP = np.array([0.5e-3, 1.8e-3, 3.5e-11, 2.5e-10, 0.8e-6])
SIZE = np.array([0.2e-3, 1.1e-3, 0.6e-11, 2.2e-10, 1.0e-8, 1.4e-8])
RUN = 0.1  # seconds: a folder is made, the model saved and loaded, the record written

_CHECKED_ITEMS, _CHECKED_SIZES = 32, 4  # of every check during training
_CHANCE_ITEMS = 1000


@dataclass(frozen=True)
class Work:
    """The work of a whole run: of its training steps, and of its measured sizes and checks."""

    steps: Floats  # [5]
    sizes: Floats  # [6]

    def seconds(self, step: Floats = STEP, size: Floats = SIZE) -> tuple[float, float]:
        """Seconds in training steps and in measurement."""
        return float(self.steps @ step), float(self.sizes @ size)


def step_work(plan: Plan, sizes: Sequence[int]) -> Floats:
    """The work of one training step, in the mean over these sizes; in a pool, over the lengths its batches have."""
    tokens = pooled_widths(plan) if plan.recipe.pool > 1 else _tokens(plan, sizes)
    return _pass(plan, plan.recipe.batch, tokens).mean(axis=0)


def size_work(plan: Plan, sizes: Sequence[int], items: int, chance: bool = True) -> Floats:
    """The work of measuring all of these sizes."""
    tokens = _tokens(plan, sizes)
    drawn = _CHANCE_ITEMS * tokens if chance else np.zeros_like(tokens)
    return np.column_stack([_pass(plan, items, tokens), drawn]).sum(axis=0)


def plan_work(plan: Plan) -> Work:
    """The work of a run that goes through all its steps. Quick: three items are drawn, and no model is made."""
    sizes, steps = plan.train_sizes, plan.recipe.steps
    checked = [sizes[round(share * (len(sizes) - 1))] for share in np.linspace(0.25, 1, _CHECKED_SIZES)]
    checks = size_work(plan, checked, _CHECKED_ITEMS, chance=False) * (steps // plan.recipe.check_every + 1)
    return Work(steps * step_work(plan, _drawn_sizes(plan)), size_work(plan, plan.measured_sizes, plan.items) + checks)


def probe_seconds(plan: Plan) -> float:
    """Seconds of the probes other than the curve, from the constants above alone. Items that are written token by token
    take a pass per token; models that write well need fewer."""
    try:
        work = [w for probe in plan.probes for w in probe.passes(plan.task, plan.train_size, plan.architecture.causal)]
    except Exception:  # of a user's task, whose run will say how
        return 0.0
    total = 0.0
    for items, tokens, times in work:
        amounts = _pass(plan, items, np.array([float(tokens)]))
        amounts[:, :2] *= times
        total += float(amounts.sum(axis=0) @ SIZE[:5])
    return total


def relative_cost(plan: Plan) -> float:
    """Rough estimate of a run's seconds on one core, from the constants above only: good for comparing runs."""
    return sum(plan_work(plan).seconds()) + probe_seconds(plan) + RUN


def _pass(plan: Plan, items: int, tokens: Floats) -> Floats:
    """The work of one pass over items with this number of tokens, [sizes, 5]."""
    own, ones = plan.architecture, np.ones_like(tokens)
    depth, width, ratio = (getattr(own, name, getattr(Architecture, name)) for name in ("depth", "width", "mlp_ratio"))
    layers = depth * (own.passes(tokens) if isinstance(own, Looped) else ones)
    dense = layers * items * tokens * (4 + 2 * ratio) * width**2
    return np.column_stack([ones, layers, dense, layers * items * tokens**2 * width, items * tokens])


def pooled_widths(plan: Plan) -> Floats:
    """How long the batches of a pool are: sorted by length, most are far shorter than the longest item could be."""
    try:
        return np.array(_cached_pool(plan.task, plan.recipe, plan.train_size, plan.architecture.causal))
    except Exception:  # of a user's task, whose run will say how; or a task that cannot be hashed
        return _tokens(plan, plan.train_sizes)


@functools.lru_cache(maxsize=256)
def _cached_pool(task: Task, recipe: Recipe, train_size: int, causal: bool) -> tuple[float, ...]:
    batches = Batches(task.part("train"), recipe, task.sizes(1, train_size), 0, causal)
    return tuple(float(batches.at(step).inputs.shape[1]) for step in range(recipe.pool))


def _drawn_sizes(plan: Plan) -> list[int]:
    """Sizes as the schedule draws them, spread over training."""
    sizes = plan.train_sizes
    try:
        return [
            plan.recipe.sizes.draw(sizes, progress, uniform)
            for progress in np.linspace(0.05, 0.95, 10).tolist()
            for uniform in np.linspace(0.05, 0.95, 10).tolist()
        ]
    except UsageError:  # the run itself will say so
        return sizes


def _tokens(plan: Plan, sizes: Sequence[int]) -> Floats:
    """Tokens at each size: asked of the task at three of them, on a line between."""
    ends = sorted({min(sizes), max(sizes), sorted(sizes)[len(sizes) // 2]})
    known = [_width(plan.task, size, plan.architecture.causal) for size in ends]
    return np.interp(np.asarray(sizes, dtype=np.float64), ends, known)


def _width(task: Task, size: int, causal: bool) -> int:
    try:
        return _cached_width(task, size, causal)
    except Exception:  # a task of the user's that breaks is the business of its run; one that cannot be hashed is slow
        return 2 * size


@functools.lru_cache(maxsize=4096)
def _cached_width(task: Task, size: int, causal: bool) -> int:
    return task.width(size, causal)
