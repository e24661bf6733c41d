"""The study behind `lengthwise train-length`: a family of real-valued tasks at growing training lengths.

A family is a task with values for one of its settings. Every task of it is trained with the encoding that its theory
has, at as many training lengths as it has been given so far, and tested up to `FURTHEST` times each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.probes.errors import check_numbers, with_dirichlet
from lengthwise.registry import nearest
from lengthwise.studies.form import Budget
from lengthwise.studies.spec import Study
from lengthwise.tasks import tasks
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

FURTHEST = 8  # test sizes, as a multiple of the training size
LEAST = 3  # training lengths that every task gets, as fewer do not determine an exponent
SIZES = (8, 16, 32, 64)
USUAL = {"simple_task": "omega=1,2,4,8", "modp_task": "period=2,3,5,8", "kgram_law": "k=1,2"}

explain(
    {
        "lengths.question": "How long must training be for the {measure} error beyond it to stay below {error:g}?",
        "lengths.bad_vary": "--vary takes a setting of the task and values, such as omega=1,2,4,8, not {text!r}",
        "lengths.no_setting": "{task} has no setting {name!r} that is a number; {near}it has {known}",
        "lengths.no_dirichlet": "{task} has no setting dirichlet, so its prompts cannot be drawn that way; take the "
        "measure average or worst",
        "lengths.bad_error": "an error lies strictly between 0 and 1, not {error:g}",
        "lengths.bad_minutes": "the budget is a number of minutes above 0, not {minutes:g}",
        "lengths.few_sizes": "train-length tries {least} training lengths or more in increasing order, such as "
        "8,16,32, not {sizes}",
    }
)


@dataclass(frozen=True)
class LengthQuestion:
    """What `train-length` is asked: the tasks of a family by their specs, and how they are trained and measured."""

    family: str
    tasks: tuple[str, ...]
    error: float
    measure: str = "average"
    sizes: tuple[int, ...] = SIZES
    seeds: tuple[int, ...] = (0, 1, 2)
    minutes: float = 30.0
    position: str = ""  # the same encoding for all tasks; empty for that of each task's theory
    steps: int | None = None  # of training; None for those of the task's preset

    def __post_init__(self) -> None:
        if not 0 < self.error < 1:
            raise UsageError(sentence("lengths.bad_error", {"error": self.error}))
        if not self.minutes > 0:
            raise UsageError(sentence("lengths.bad_minutes", {"minutes": self.minutes}))
        if len(self.sizes) < LEAST or list(self.sizes) != sorted(set(self.sizes)) or self.sizes[0] < 1:
            given = ",".join(map(str, self.sizes)) or "none"
            raise UsageError(sentence("lengths.few_sizes", {"least": LEAST, "sizes": given}))
        for task in self.tasks if self.measure == "dirichlet" else ():
            if with_dirichlet(tasks.make(task), 1.0) is None:
                raise UsageError(sentence("lengths.no_dirichlet", {"task": task}))

    def first(self) -> dict[str, int]:
        """How many training lengths each task has at the start."""
        return dict.fromkeys(self.tasks, LEAST)

    def study(self, lengths: Mapping[str, int], minutes: float) -> Study:
        """The study in which every task is trained to its first `lengths` sizes, within a number of minutes."""
        places = {task: self.position or position_for(tasks.make(task)) for task in self.tasks}
        encodings = list(dict.fromkeys(places.values()))
        exclude, override = [], []
        for task, position in places.items():
            if others := [one for one in encodings if one != position]:
                exclude.append({"task": task, "position": others})
            sizes = self.sizes[: lengths[task]]
            override.append({"task": task, "train_size": sizes, "test_size": [FURTHEST * size for size in sizes]})
        return Study(
            name=f"train-length-{self.family}",
            question=sentence("lengths.question", {"measure": self.measure, "error": self.error}),
            tasks=self.tasks,
            positions=encodings,
            seeds=self.seeds,
            budget=Budget(minutes=minutes),
            probes=["curve:grid=geometric", "errors"],
            analyses=[f"plateau:error={self.error},measure={self.measure}", "curves", "seeds", "training"],
            training={} if self.steps is None else {"steps": self.steps},
            exclude=exclude,
            override=override,
        )


def position_for(task: Task) -> str:
    """The encoding with which a task's theory expresses it: none for counting, vectors of the task's period, or biases
    in a window as wide as the context, with the logarithm on the biases alone."""
    own: Any = task
    name = tasks.spec_of(task).get("name")
    if name == "modp_task":
        return f"periodic:period={own.period}"
    return f"local:window={own.k},sharpen=log" if name == "kgram_law" else "none"


def family_of(spec: str | Mapping[str, Any], vary: str | None) -> tuple[str, tuple[str, ...]]:
    """The name of a task's family and the specs of its tasks, one for each value that `vary` names; the usual values of
    a known family where it names none. A task whose answers are not numbers is refused."""
    task = tasks.make(spec)
    check_numbers(task)
    name = tasks.spec_of(task)["name"].rpartition("::")[2]
    vary = USUAL.get(name, "") if vary is None else vary
    if not vary:
        return name, (name_of(task),)
    key, equals, values = vary.partition("=")
    own: Any = task
    values_of = {f.name: getattr(task, f.name) for f in dataclasses.fields(own)}
    known = [name for name, value in values_of.items() if type(value) in (int, float)]
    if not equals or not values:
        raise UsageError(sentence("lengths.bad_vary", {"text": vary}))
    if key not in known:
        about = {"task": name, "name": key, "near": nearest(key, known), "known": ", ".join(known) or "none"}
        raise UsageError(sentence("lengths.no_setting", about))
    made = [dataclasses.replace(own, **{key: _value(text, getattr(task, key), vary)}) for text in values.split(",")]
    return f"{name}-{key}", tuple(dict.fromkeys(map(name_of, made)))


def _value(text: str, like: float, vary: str) -> int | float:
    try:
        return type(like)(text)
    except ValueError:
        raise UsageError(sentence("lengths.bad_vary", {"text": vary})) from None


def read_sizes(text: str) -> tuple[int, ...]:
    """Training lengths from a text such as 8,16,32."""
    try:
        return tuple(int(one) for one in text.split(","))
    except ValueError:
        raise UsageError(sentence("lengths.few_sizes", {"least": LEAST, "sizes": text})) from None


def next_lengths(lengths: Mapping[str, int], enough: Sequence[str], most: int) -> dict[str, int]:
    """One training length more for every task that has not had enough and has one left."""
    return {task: count if task in enough else min(count + 1, most) for task, count in lengths.items()}
