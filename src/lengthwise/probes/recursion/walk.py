"""A trained one-step model applied to its own output until it says stop, at any size, and what goes wrong on the way.

Training shows a model single steps of short chains. Whether it can reason at a larger size is another question: it has
to do every step of a long chain on states of its own making, and to know where to stop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.models.transformer import Transformer
from lengthwise.positions import positions
from lengthwise.probes.probe import Context
from lengthwise.probes.recursion.points import ChainPoint, Injuries, Recursion
from lengthwise.probes.recursion.walkers import (
    StepSymbols,
    StepWalker,
    Walk,
    Walker,
    Writer,
    differing,
    equal,
    first_error,
)
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.subject import Subject
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.formulations.layouts import Appending
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

_CELLS = 20_000_000  # columns of true states that are held at a time


def walk_subject(subject: Subject, context: Context) -> Recursion:
    """Run a model to the end on the instances of each size of the context."""
    run = subject.capability("run") if subject.offers("run") else None
    return _walked(subject.capability("transformer"), None if run is None else run.task, context)


def run_chains(
    trained: Transformer | Any,
    task: str | Task | None = None,
    *,
    sizes: Sequence[int],
    items: int = 200,
    seed: int | None = None,
    position: str | None = None,
) -> Recursion:
    """Run a trained model to the end on `items` instances of each size. O(items x steps) forward passes per size.

    `trained` is a run, or a model together with its `task`; with a run, task and seed are its own unless given, and
    `position` reads it with another encoding. A chain ends where the model's output says so: at a state that it maps to
    itself, or for a decoder at `<eos>`; only one that has taken ten steps more than twice the longest true chain is
    stopped from outside, and has failed.

    >>> lw.run_chains(lw.load_run("runs/…"), sizes=[8, 80]).at(80).exact    # doctest: +SKIP
    """
    asked = tasks.make(task) if isinstance(task, str) else task
    if isinstance(trained, Transformer):
        if position is not None:
            raise UsageError("only a run can be read with another position encoding; a loaded model has its own")
        return _walked(trained, None, Context(asked, sizes=tuple(sizes), items=items, seed=seed or 0))
    plan = trained.plan
    asked, seed_used = plan.task if asked is None else asked, plan.seed if seed is None else seed
    context = Context(asked, plan.train_size, tuple(sizes), items, seed_used)
    return _walked(trained.subject(position).capability("transformer"), plan.task, context)


def _walked(model: Transformer, own: Task | None, context: Context) -> Recursion:
    """`own` is the task that the model was trained on, where that is known."""
    task, sizes, seed = _checked(model, context.task, own), sorted(set(context.sizes)), context.seed
    items = 200 if context.items is None else context.items
    if items < 1:
        raise UsageError(f"items per size must be at least 1, not {items}")
    if not sizes:
        raise UsageError("say at which sizes to run the model, as in sizes=[10, 100]")
    if missing := [size for size in sizes if not task.has(size)]:
        raise UsageError(task.lacking(missing[0]))
    letters = StepSymbols(task.part("test"))
    walker = (Writer if isinstance(task, Appending) else StepWalker)(model, letters, seed)
    points = []
    for number, size in enumerate(sizes, start=1):
        point = _point(walker, size, items, seed)
        points.append(point)
        context.progress(f"size {size}: {point.exact:.0%} exact, chains of {point.steps} steps", number, len(sizes))
    encoding = positions.text_of(model.architecture.position)
    return Recursion(name_of(task), encoding, context.train_size, seed, tuple(points))


def _checked(model: Transformer, task: Task | None, own: Task | None) -> Formulation:
    """The task as a formulation the model can be run on; a sentence for one that is not."""
    if task is None:
        raise UsageError("say which task the model was trained on, as in run_chains(model, 'parity_columns', ...)")
    if not isinstance(task, Formulation):
        raise UsageError(
            f"{type(task).__name__} has no steps to apply again and again; a formulation such as parity_columns has "
            "(`lengthwise tasks`), and my.py::Task may be a subclass of Formulation"
        )
    if task.readout != "tags" and not isinstance(task, Appending):
        raise UsageError("a formulation is run by its labels (readout tags: Columns, Rewriting) or is an Appending one")
    if isinstance(task, Appending) and not model.architecture.causal:
        raise UsageError("an appended layout is written token by token, which takes a decoder; this is an encoder")
    reads = (model.interface.vocabulary, model.interface.outputs)
    if (len(task.vocabulary), task.outputs) != reads or (own is not None and own.vocabulary != task.vocabulary):
        raise UsageError("the model was trained on other symbols than those of this task; run it on its own task")
    return task


def _point(walker: Walker, size: int, items: int, seed: int) -> ChainPoint:
    """Everything about one size. The true chains are held for some items at a time."""
    counts: Counter[str] = Counter()
    shares, longest = [], 0
    for first, truths in _true_chains(walker.letters, size, items, seed):
        longest = max(longest, *(len(truth) - 1 for truth in truths))
        guard = 2 * max(len(truth) - 1 for truth in truths) + 10
        walker.width = max(len(truth[0]) for truth in truths) if walker.letters.task.padded else 0
        walks = walker.walk([truth[0] for truth in truths], guard)
        for walk, truth in zip(walks, truths, strict=True):
            counts += _judged(walker.letters, walk, truth, appending=isinstance(walker, Writer))
            if (wrong := first_error(walk, truth)) is not None:
                shares.append(wrong / max(1, len(truth) - 1))
        true_steps, true_right = walker.taught(truths, walks)
        counts += Counter(true_steps=true_steps, true_right=true_right)
        counts += _injured(walker, size, truths, guard, Seeds(Seeds(seed).key("injuries", size, first)))
    low, middle, high = (float(share) for share in np.quantile(shares or [0.0], [0.25, 0.5, 0.75]))
    names = ChainPoint.__dataclass_fields__.keys() - {"size", "items", "steps", "first_errors", "injuries"}
    return ChainPoint(
        size=size,
        items=items,
        steps=longest,
        first_errors=(low, middle, high) if shares else None,
        injuries=Injuries(**{name: counts[f"injured {name}"] for name in Injuries.__dataclass_fields__}),
        **{name: counts[name] for name in names},
    )


def _true_chains(
    letters: StepSymbols, size: int, items: int, seed: int
) -> Iterator[tuple[int, list[tuple[Ints, ...]]]]:
    """The true chains of the instances of a size, a bounded number of columns at a time; and the first one's number."""
    rows = letters.task.some(size, Seeds(seed).draws("chain", size, items=range(items)))
    cells = sum(len(state) for state in letters.chain(size, rows[0]))
    chunk = max(1, _CELLS // cells)
    for first in range(0, items, chunk):
        yield first, [letters.chain(size, row) for row in rows[first : first + chunk]]


def _judged(letters: StepSymbols, walk: Walk, truth: Sequence[Ints], appending: bool) -> Counter[str]:
    """What became of one chain, as counts."""
    counts: Counter[str] = Counter()
    last = len(truth) - 1
    if walk.ending == "stopped":
        counts["on_time" if walk.steps == last else "early" if walk.steps < last else "late"] += 1
    else:
        counts[walk.ending] += 1
    right = letters.answer(walk) == letters.answer(Walk(tuple(truth), "stopped"))
    counts["right"] += right
    counts["state_right"] += walk.ending == "stopped" and equal(walk.states[-1], truth[-1])
    wrong = first_error(walk, truth)
    # What was said of the last state is a step too: to stop there, or something that makes no state. Only a decoder
    # that has written its <eos> is asked nothing more, and a chain that went round was cut after its last step.
    said = walk.steps + (walk.ending == "invalid" or (walk.ending == "stopped" and not appending))
    counts["own_steps"] += said
    if wrong is None:
        counts["own_right"] += said
        return counts
    counts["erring"] += 1
    counts["recovered"] += right
    counts["own_right"] += wrong
    for time in range(wrong, said):
        given = walk.states[time + 1] if time < walk.steps else None if walk.ending == "invalid" else walk.states[-1]
        wanted = letters.step(walk.states[time])
        counts["own_lost"] += wanted is None
        counts["own_right"] += equal(given, wanted)
    return counts


def _injured(walker: Walker, size: int, truths: Sequence[Sequence[Ints]], guard: int, seeds: Seeds) -> Counter[str]:
    """One label of one true step of every chain is replaced, and the model continues from the result."""
    counts: Counter[str] = Counter()
    draws = seeds.draws("injury", size, items=range(len(truths))).uniform(3)
    starts, ends, made = [], [], []
    for truth, (when, where, what) in zip(truths, draws, strict=True):
        time = int(when * (len(truth) - 1))
        injury = _injury(walker.letters, truth[time], where, what)
        if injury is not None:
            starts.append(injury)
            ends.append(truth[-1])
            made.append(differing(injury, truth[min(time + 1, len(truth) - 1)]))
    for start, end, walk, wounds in zip(starts, ends, walker.walk(starts, guard), made, strict=True):
        answer = walker.letters.answer(Walk((end,), "stopped"))
        counts["injured items"] += 1
        counts["injured right"] += walker.letters.answer(walk) == answer
        counts["injured solver_right"] += walker.letters.answer(walker.letters.walk(start, guard)) == answer
        left = differing(walk.states[-1], end)
        outcome = "healed" if left == 0 else "stayed" if left <= wounds else "spread"
        counts[f"injured {outcome if walk.ending == 'stopped' else 'unended'}"] += 1
    return counts


def _injury(letters: StepSymbols, state: Ints, where: float, what: float) -> Ints | None:
    """The state after a step with one wrong label: the place and the label are uniform among those that make another
    state than the true one. None where nothing does."""
    labels, task = letters.labels(state), letters.task
    asked = [place for place, label in enumerate(labels) if label is not None]
    true, symbols = letters.step(state), len(task.symbols)
    if not asked:
        return None
    place = asked[int(where * len(asked))]
    for turn in range(symbols):
        other = (int(what * symbols) + turn) % symbols
        if isinstance(task, Appending):
            after = np.append(state, other)
        else:
            kept = [NOTHING if label is None else label for label in labels]
            changed = np.array([other if at == place else label for at, label in enumerate(kept)], dtype=np.int64)
            after = task.advance(state[None], changed[None])[0]
        if other != labels[place] and after is not None and not equal(after, true):
            return after
    return None
