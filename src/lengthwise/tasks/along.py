"""Another axis of a task: its first size held fixed while one of its settings grows."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from lengthwise.errors import UsageError
from lengthwise.registry import format_spec, nearest, with_commas
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.chance import Chance
from lengthwise.tasks.task import Task


@tasks.register("along")
@dataclass(frozen=True)
class Along(Task):
    """A task at one fixed size, growing along another of its axes.

    `along:task=dyck_k,axis=depth,at=40` asks about words of 40 brackets, and its size is their greatest depth: its
    items of size 3 are those of `dyck_k:depth=3` at size 40. `axis` is an axis of the base task after its first, and
    one of its settings; `at` is the size along the first. In text, semicolons part several settings of the base, as in
    `task=dyck_k:kinds=3;exact=true`. The solver and the symbols of the base must not depend on the axis.
    """

    task: str
    axis: str
    at: int

    def __post_init__(self) -> None:
        others = [axis.name for axis in self.base.axes[1:]]
        if self.axis not in others:
            known = f"it has {', '.join(others)}" if others else "it has none"
            near = nearest(self.axis, others)
            raise UsageError(f"the task {self.task!r} has no axis {self.axis!r} after its first; {near}{known}")
        if not dataclasses.is_dataclass(self.base) or self.axis not in {f.name for f in dataclasses.fields(self.base)}:
            raise UsageError(f"the axis {self.axis!r} of the task {self.task!r} cannot grow, as it is not a setting")
        known = {name: getattr(self.base, name) for name in ("readout", "tolerance", "preset")}
        known["axes"] = tuple(axis for axis in self.base.axes[1:] if axis.name == self.axis)
        known["facts"] = dataclasses.replace(self.base.facts, published=())  # these curves run along its first axis
        for name, value in known.items():
            object.__setattr__(self, name, value)
        for size in range(self.axes[0].smallest, self.axes[0].smallest + 2):  # a fault is best told before the work
            if self.has(size):
                self.grown(size)

    @functools.cached_property
    def base(self) -> Task:
        return tasks.restore(with_commas(self.task))

    @property
    def symbols(self) -> tuple[str, ...]:
        return self.base.symbols

    @property
    def outputs(self) -> int:
        return self.base.outputs

    def has(self, size: int) -> bool:
        if not super().has(size):
            return False
        try:
            return self._replaced(size).has(self.at)
        except UsageError:  # the base refuses this value of its setting
            return False

    def part(self, role: Literal["train", "test"]) -> Self:
        part = self.base.part(role)
        return self if part == self.base else dataclasses.replace(self, task=format_spec(tasks.spec_of(part)))

    def warnings(self) -> list[str]:
        return self.base.warnings()

    def chance(self, size: int) -> Chance:
        return self.grown(size).chance(self.at)

    def sample(self, size: int, draws: Draws) -> Samples:
        return self.grown(size).sample(self.at, draws)

    def solve(self, prompt: Sequence[str]) -> Sequence[str] | Sequence[float]:
        return self.base.solve(prompt)

    def ids(self, prompts: Ints, answer: int) -> Ints:
        return self.base.ids(prompts, answer)

    def grown(self, size: int) -> Task:
        """The base task with the axis at this size."""
        grown = self._replaced(size)
        if grown.symbols != self.base.symbols or grown.outputs != self.base.outputs:
            raise UsageError(
                f"the task {self.task!r} cannot grow along {self.axis!r}, as its symbols at {size} are not those it "
                "starts with; a model has one vocabulary"
            )
        return grown

    def _replaced(self, size: int) -> Task:
        return dataclasses.replace(self.base, **{self.axis: size})  # pyright: ignore[reportArgumentType]
