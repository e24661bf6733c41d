"""Everything found about the locality of one layout: its windows, the training size, and what training shows."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.bimachine import least_training_size
from lengthwise.oracle.locality.coverage import (
    Coverage,
    SeenWindows,
    Unshown,
    coverage,
    seen_in,
    seen_in_items,
    unshown,
)
from lengthwise.oracle.locality.machines import machine_of
from lengthwise.oracle.locality.premise import premise_claims
from lengthwise.oracle.locality.settle import WIDTHS, Locality, Stopping, settle, stopping
from lengthwise.oracle.locality.steps import Steps, decoder_form, formulation_steps, remembered, task_steps
from lengthwise.oracle.opinion import Question
from lengthwise.records import Claim
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.formulations.layouts import Appending
from lengthwise.tasks.task import Task

_TESTED = 10  # instances at the size of use that are searched for windows not shown
_FEWEST = 30  # instances of a size that a sample has at least
_MOST_SIZES = 10
_DRAWN = 100  # instances of a size that a decoder is trained on
_QUICK = 5_000  # planned items that are examined where time is short
_FURTHER = 8  # times the budget may be spent on all states of the size beyond those examined


@dataclass(frozen=True)
class Layout:
    """`needed` are the windows that were found, `seen` those of them that the planned training items show, and
    `lacking` the share of items at the size of use with a step that nothing seen settles; None where no windows settle
    a step. `sampled`: there were too many states to examine all of them, even of small sizes."""

    steps: Steps
    sizes: tuple[int, ...]
    locality: Locality
    stopping: Stopping
    exact_size: int | None = None
    needed: Coverage | None = None
    seen: SeenWindows | None = None
    lacking: Unshown | None = None
    sampled: bool = False

    @property
    def training_size(self) -> int | None:
        """The least training size that shows every window: for all sizes where a bimachine proves it."""
        return self.exact_size or (self.needed.least_size if self.needed else None)

    def claims(self) -> list[Claim]:
        """Whether stopping is local, the training size needed, and how much of it training shows."""
        found = [part.claim() for part in (self.needed, self.seen, self.lacking) if part is not None]
        if self.exact_size is not None and self.needed is not None:
            found[0] = replace(found[0], value=self.exact_size, kind="proved", status="holds", assumptions=())
        premise = premise_claims(self.steps, self.sizes, self.locality.distance.value)
        return [self.locality.distance.claim(), *premise, self.stopping.claim(self.steps.name), *found]

    def explain(self) -> list[str]:
        parts = [part for part in (self.needed, self.seen, self.lacking) if part is not None]
        return [self.stopping.sentence, *(line for part in parts for line in part.explain())]


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
        found = settle(steps, sizes, widths=(3, 5))
        return Layout(steps, tuple(sizes), found, stopping(found, steps, sizes, (3, 5)))
    sizes, instances = _sizes(task, budget)
    if not sizes:
        return None
    further, steps = _further(task, sizes, instances, budget, seed)
    found = settle(task, sizes, widths, steps=steps, finished=True, further=further)
    machine, exact = machine_of(task, finished=True), None
    if machine is not None and found.proof is not None and found.proof.radius is not None:
        exact = least_training_size(machine, found.proof.radius, task)
    end = stopping(found, steps, sizes, widths, further=further)
    layout = _covered(Layout(steps, tuple(sizes), found, end, exact, sampled=instances is not None))
    if layout.needed is None:
        return layout
    seen = seen_in_items(layout.needed, task, min(items, _QUICK) if quick else items, task.sizes(1, train_size), seed)
    tests = formulation_steps(task, _TESTED, seed, finished=True)
    seen = replace(seen, planned=max(items, seen.states))
    return _with_seen(layout, seen, tests, task.sizes(1, test_size)[-1:])


@functools.lru_cache(maxsize=64)
def decoder_layout_of(task: Formulation, train_size: int, seed: int, quick: bool) -> Layout:
    """The same steps written by a causal decoder, which sees all earlier states: its text grows with every step, so
    only small sizes and a sample of instances are examined."""
    *sizes, further = [size for size in range(1, 65) if task.has(size)][: 5 if quick else 7]
    steps = remembered(decoder_form(task, 30 if quick else 60, seed))
    found = settle(steps, sizes, WIDTHS[1:4], most=3, further=[further])
    trained = [size for size in sizes if size <= train_size]
    sample = decoder_form(task, _DRAWN, seed + 1)
    return replace(look(steps, sizes, found, sample, trained, (), WIDTHS[1:4], [further]), sampled=True)


def look(
    steps: Steps,
    sizes: Sequence[int],
    found: Locality,
    sample: Steps,
    trained: Sequence[int],
    used: Sequence[int],
    widths: Sequence[int] = WIDTHS,
    further: Sequence[int] = (),
) -> Layout:
    """Whether stopping is local and, where windows settle the steps, which of them a sample shows."""
    layout = _covered(Layout(steps, tuple(sizes), found, stopping(found, steps, sizes, widths, further=further)))
    if layout.needed is None:
        return layout
    return _with_seen(layout, seen_in(layout.needed, sample, trained), steps, used)


def _with_seen(layout: Layout, seen: SeenWindows, tests: Steps, used: Sequence[int]) -> Layout:
    """With what training shows and the share of test instances that need what it does not show. Several windows can be
    read in many ways, of which the certificates are one, so that nothing is said of them."""
    lacking = unshown(seen, tests, used) if used and seen.coverage.n == 1 else None
    return replace(layout, seen=seen, lacking=lacking)


def _covered(layout: Layout) -> Layout:
    """With the windows that training has to show, where windows settle the steps."""
    if layout.locality.window is not None:
        n, r = layout.locality.window
        with contextlib.suppress(UsageError):
            return replace(layout, needed=coverage(layout.steps, r, layout.sizes, n))
    return layout


def _sizes(task: Formulation, budget: int) -> tuple[list[int], int | None]:
    """The sizes to examine, and how many instances of each: None is all, where four sizes fit into the budget."""
    known = [size for size in range(1, 65) if task.has(size)][:_MOST_SIZES]
    columns = {size: _columns(task, size) for size in known}
    spent = itertools.accumulate(math.prod(task.ranges(size)) * columns[size] for size in known)
    every = [size for size, total in zip(known, spent, strict=True) if total <= budget]
    if len(every) >= 4:
        return every, None
    spent = itertools.accumulate(columns[size] for size in known)
    some = [size for size, total in zip(known, spent, strict=True) if total * _FEWEST <= budget]
    return some, budget // max(1, sum(columns[size] for size in some))


def _further(
    task: Formulation, sizes: Sequence[int], instances: int | None, budget: int, seed: int
) -> tuple[list[int], Steps]:
    """The next size, at which what was found must hold as well, and the steps with those of that size: all of them if
    all of the others are examined and they are not too many, else a sample."""
    further = [size for size in range(sizes[-1] + 1, sizes[-1] + 65) if task.has(size)][:1]
    steps = formulation_steps(task, instances, seed, finished=True)
    columns = _columns(task, further[0]) if further else 0
    if instances is not None or not further or math.prod(task.ranges(further[0])) * columns <= _FURTHER * budget:
        return further, remembered(steps)
    some = formulation_steps(task, max(_FEWEST, budget // columns), seed, finished=True)
    chains = lambda size: (some if size in further else steps).chains(size)  # noqa: E731
    return further, remembered(replace(some, chains=chains))


def _columns(task: Formulation, size: int) -> int:
    """About how many columns a chain of this size has altogether."""
    start = task.start(size, next(iter(task.every(size))))
    return sum(len(state) for state in task.chain(start))
