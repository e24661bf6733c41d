"""All that is found about the locality of one layout: its windows, the training size, and what training shows."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.coverage import Coverage, Seen, coverage, seen_in
from lengthwise.oracle.locality.exact import least_training_size
from lengthwise.oracle.locality.forms import task_steps
from lengthwise.oracle.locality.machines import machine_of
from lengthwise.oracle.locality.prediction import Prediction, predict_failures
from lengthwise.oracle.locality.settle import Locality, settle
from lengthwise.oracle.locality.steps import Steps, drawn_steps, formulation_steps
from lengthwise.records import Claim
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.task import Task

_TESTED = 30  # instances at the size of use whose failure is predicted


@dataclass(frozen=True)
class Layout:
    """`needed` are the windows that exist, `seen` those of them that the planned training items show, and `failing` the
    share of items at the size of use with a step that nothing seen settles; None where no windows settle a step."""

    steps: Steps
    sizes: tuple[int, ...]
    locality: Locality
    exact_size: int | None = None
    needed: Coverage | None = None
    seen: Seen | None = None
    failing: Prediction | None = None

    @property
    def training_size(self) -> int | None:
        """The least training size that shows every window: for all sizes where a bimachine proves it."""
        return self.exact_size or (self.needed.least_size if self.needed else None)

    def claims(self) -> list[Claim]:
        """The training size needed, how much of it training shows, and what fails for what it does not."""
        found = [part.claim() for part in (self.needed, self.seen, self.failing) if part is not None]
        return [self.locality.distance.claim(), *found]

    def explain(self) -> list[str]:
        return [line for part in (self.needed, self.seen, self.failing) if part is not None for line in part.explain()]


@functools.lru_cache(maxsize=64)
def layout_of(task: Task, train_size: int, test_size: int, items: int, seed: int, quick: bool) -> Layout | None:
    """What is found about a formulation, or about a written answer as a decoder's steps; None if there are no steps."""
    budget = 20_000 if quick else 150_000
    if not isinstance(task, Formulation):
        sizes = task.sizes(1, 9)
        if not sizes:
            return None
        steps = task_steps(task, items=60 if quick else 200, seed=seed)
        return Layout(steps, tuple(sizes), settle(steps, sizes, widths=(3, 5)))
    sizes, every = _sizes(task, budget)
    if not sizes:
        return None
    steps = formulation_steps(task, None if every else max(50, budget // (100 * len(sizes))), seed)
    found = settle(task if every else steps, sizes)
    machine = machine_of(task)
    exact = None
    if machine is not None and found.proof is not None and found.proof.radius is not None:
        exact = least_training_size(machine, found.proof.radius, task)
    trained = task.sizes(1, train_size)
    sample = drawn_steps(task, max(1, min(items, budget) // max(1, len(trained))), seed)
    tests = formulation_steps(task, _TESTED, seed)
    return look(steps, sizes, found, sample, trained, tests, task.sizes(1, test_size)[-1:], exact)


def look(
    steps: Steps,
    sizes: Sequence[int],
    found: Locality,
    sample: Steps,
    trained: Sequence[int],
    tests: Steps,
    used: Sequence[int],
    exact: int | None = None,
) -> Layout:
    """Coverage and predicted failures, where windows settle the steps."""
    layout = Layout(steps, tuple(sizes), found, exact)
    if found.window is None or found.best is None:
        return layout
    try:
        needed = coverage(steps, found.best.r, sizes, found.best.n or 1)
    except UsageError:
        return layout
    seen = seen_in(needed, sample, trained)
    failing = predict_failures(seen, tests, used) if used else None
    return Layout(steps, tuple(sizes), found, exact, needed, seen, failing)


def _sizes(task: Formulation, budget: int) -> tuple[list[int], bool]:
    """The sizes to look at, and whether all instances of each fit into the budget of columns; else a sample will do."""
    sizes, spent = [], 0
    for size in itertools.islice((size for size in range(1, 65) if task.has(size)), 16):
        spent += math.prod(task.ranges(size)) * _columns(task, size)
        if spent > budget:
            break
        sizes.append(size)
    if len(sizes) >= 4:
        return sizes, True
    return [size for size in range(1, 65) if task.has(size)][:8], False


def _columns(task: Formulation, size: int) -> int:
    """About how many columns a chain of this size has altogether."""
    start = task.start(size, next(iter(task.every(size))))
    return sum(len(state) for state in task.chain(start))
