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
from lengthwise.oracle.locality.forms import decoder_form, task_steps
from lengthwise.oracle.locality.machines import machine_of
from lengthwise.oracle.locality.prediction import Prediction, predict_failures
from lengthwise.oracle.locality.settle import WIDTHS, Locality, settle
from lengthwise.oracle.locality.steps import Steps, drawn_steps, formulation_steps, remembered
from lengthwise.oracle.theories.question import Question
from lengthwise.records import Claim
from lengthwise.tasks.formulations.appending import Appending
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.task import Task

_TESTED = 10  # instances at the size of use whose failure is predicted
_FEWEST = 30  # instances of a size that a sample has at least
_MOST_SIZES = 10
_DRAWN = 100  # instances of a size that a decoder is trained on


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

    @property
    def failing_at(self) -> int | None:
        """The size at which failures are predicted."""
        return self.failing.failing[-1][0] if self.failing else None

    def claims(self) -> list[Claim]:
        """The training size needed, how much of it training shows, and what fails for what it does not."""
        found = [part.claim() for part in (self.needed, self.seen, self.failing) if part is not None]
        return [self.locality.distance.claim(), *found]

    def explain(self) -> list[str]:
        return [line for part in (self.needed, self.seen, self.failing) if part is not None for line in part.explain()]


def layout_asked(question: Question) -> Layout | None:
    """The layout that a question is about: its steps, or those of a decoder that writes them out."""
    task = question.task
    if question.decoder and isinstance(task, Formulation) and not isinstance(task, Appending):
        return decoder_layout_of(task, question.train_size, question.seed, question.quick)
    return layout_of(task, question.train_size, question.test_size, question.items, question.seed, question.quick)


@functools.lru_cache(maxsize=64)
def layout_of(task: Task, train_size: int, test_size: int, items: int, seed: int, quick: bool) -> Layout | None:
    """What is found about a formulation, or about a written answer as a decoder's steps; None if there are no steps."""
    budget, widths = (20_000, WIDTHS[:4]) if quick else (120_000, WIDTHS)
    if not isinstance(task, Formulation):
        sizes = task.sizes(1, 9)
        if not sizes:
            return None
        steps = remembered(task_steps(task, items=60 if quick else 200, seed=seed))
        return Layout(steps, tuple(sizes), settle(steps, sizes, widths=(3, 5)))
    sizes, instances = _sizes(task, budget)
    if not sizes:
        return None
    steps = remembered(formulation_steps(task, instances, seed, finished=True))
    found = settle(task, sizes, widths, steps=steps, finished=True)
    machine = machine_of(task, finished=True)
    exact = None
    if machine is not None and found.proof is not None and found.proof.radius is not None:
        exact = least_training_size(machine, found.proof.radius, task)
    trained = task.sizes(1, train_size)
    sample = drawn_steps(task, max(1, min(items, budget // 20) // max(1, len(trained))), seed)
    tests = formulation_steps(task, _TESTED, seed, finished=True)
    return look(steps, sizes, found, sample, trained, tests, task.sizes(1, test_size)[-1:], exact)


@functools.lru_cache(maxsize=64)
def decoder_layout_of(task: Formulation, train_size: int, seed: int, quick: bool) -> Layout:
    """The same steps written by a causal decoder, which sees all earlier states: its text grows with every step, so
    only small sizes and a sample of instances are looked at."""
    sizes = [size for size in range(1, 65) if task.has(size)][: 4 if quick else 6]
    steps = remembered(decoder_form(task, 30 if quick else 60, seed))
    found = settle(steps, sizes, WIDTHS[1:4], most=3)
    trained = [size for size in sizes if size <= train_size]
    return look(steps, sizes, found, decoder_form(task, _DRAWN, seed + 1), trained, steps, ())


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


def _sizes(task: Formulation, budget: int) -> tuple[list[int], int | None]:
    """The sizes to look at, and how many instances of each: None, which is all of them, where that fits into the budget
    of columns for at least four sizes."""
    known = [size for size in range(1, 65) if task.has(size)][:_MOST_SIZES]
    columns = {size: _columns(task, size) for size in known}
    spent = itertools.accumulate(math.prod(task.ranges(size)) * columns[size] for size in known)
    every = [size for size, total in zip(known, spent, strict=True) if total <= budget]
    if len(every) >= 4:
        return every, None
    spent = itertools.accumulate(columns[size] for size in known)
    some = [size for size, total in zip(known, spent, strict=True) if total * _FEWEST <= budget]
    return some, budget // max(1, sum(columns[size] for size in some))


def _columns(task: Formulation, size: int) -> int:
    """About how many columns a chain of this size has altogether."""
    start = task.start(size, next(iter(task.every(size))))
    return sum(len(state) for state in task.chain(start))
