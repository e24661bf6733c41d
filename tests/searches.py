"""What the tests of search problems share: items as text, settings to try, and ways to spoil a trace."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from lengthwise.tasks import tasks
from lengthwise.tasks.search.search_task import SearchTask

PROBLEMS = ("subset_sum", "countdown", "tree_maze")

# Settings away from the defaults, with sizes at which they have items.
SETTINGS = {
    "subset_sum:content=6,span=6,top=6": [2, 3, 4, 6],
    "subset_sum:branching=3,content=20,span=20,top=30": [2, 3, 5],
    "subset_sum:branching=5,content=40,span=40,top=60": [2, 4],
    "countdown:operations=+-*/,content=10,span=10,top=40": [2, 3, 5],
    "countdown:operations=*-,branching=2,content=9,span=9,top=30": [2, 3, 4],
    "countdown:operations=/+,branching=3,content=12,span=12,top=20,targets=held_out": [2, 3],
    "countdown:operations=-,content=12,span=12,top=12": [2, 3],
    "tree_maze:branching=1,content=8,span=8,top=8": [2, 3, 5],
    "tree_maze:branching=4,content=30,span=30,top=50": [2, 3, 5],
    "tree_maze:branching=7,content=60,span=60,top=60": [2, 4],
}

Item = tuple[tuple[str, ...], tuple[str, ...]]


def made(spec: str) -> SearchTask:
    task = tasks.make(spec)
    assert isinstance(task, SearchTask)
    return task


def items(task: SearchTask, size: int, count: int, seed: int = 5, role: str = "train") -> Iterator[Item]:
    """Items as text: prompt and trace."""
    drawn = task.draw(size, seed, range(count), role)
    for prompt, trace in zip(drawn.prompts, drawn.answers, strict=True):
        yield task.spelled(prompt), task.spelled(trace)


def every_setting() -> list[tuple[SearchTask, int]]:
    """The defaults in training and at the ends of the axis of depth, then all settings."""
    places = []
    for name in PROBLEMS:
        training, *others = made(name).levels(3)
        depths = [level.value for level in others if level.axis == "depth"]
        places += [(training.task, size) for size in (*training.sizes, depths[0], depths[-1])]
    return places + [(made(spec), size) for spec, sizes in SETTINGS.items() for size in sizes]


SPOILERS = ("substitution", "deletion", "insertion", "swap", "truncation", "repeated event", "lost event", "two events")


def spoiled(
    task: SearchTask, item: Item, other: tuple[str, ...], how: str, rng: np.random.Generator
) -> tuple[str, ...]:
    """The trace after one accident; `other` is the trace of another instance."""
    prompt, trace = item
    events = task.verify(prompt, trace).events
    place, more = (int(rng.integers(len(trace))) for _ in range(2))
    one, two = (events[int(rng.integers(len(events)))] for _ in range(2))
    symbol = task.symbols[int(rng.integers(len(task.symbols)))]
    rows = list(trace)
    match how:
        case "substitution":
            rows[place] = symbol
        case "deletion":
            del rows[place]
        case "insertion":
            rows.insert(int(rng.integers(len(trace) + 1)), symbol)
        case "swap":
            rows[place], rows[more] = rows[more], rows[place]
        case "truncation":
            rows = rows[:place]
        case "repeated event":
            rows[one.end : one.end] = rows[one.start : one.end]
        case "lost event":
            del rows[one.start : one.end]
        case "two events":
            first, last = sorted((one, two), key=lambda event: event.start)
            middle = trace[first.end : last.start]
            if first is not last:
                written = (*trace[last.start : last.end], *middle, *trace[first.start : first.end])
                rows[first.start : last.end] = written
        case "another instance":
            rows = list(other)
        case _:
            raise ValueError(how)
    return tuple(rows)
