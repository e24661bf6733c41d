"""What the search problems have in common: three axes to grow along, a verifier, and brackets."""

from __future__ import annotations

import abc
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Draws, Ints
from lengthwise.tasks.alphabets import numerals
from lengthwise.tasks.batch import Samples
from lengthwise.tasks.ladder import Level, Rung
from lengthwise.tasks.search.lockstep import Flags
from lengthwise.tasks.search.problem import DyckView, Problem, Replay, Tokens, dyck_view, replay, search_trace, trace_of
from lengthwise.tasks.task import Axis, Task

# One item in so many takes its values from the whole range, so that training shows every token.
WHOLE_RANGE = 16
SLIDE = "slide"  # the axis of levels whose sizes are those of training moved on: mixtures of known and larger sizes
_ATTEMPTS = 500  # one attempt in fifteen is usable in the rarest case of the ladders


@dataclass(frozen=True)
class SearchTask(Task):
    """A search problem whose answer is the whole trace of depth-first search with backtracking.

    `size` counts the depth. `branching` and `content` are settings: the values or labels of an item are of the `span`
    numbers up to `content`, and in one item of sixteen of all numbers up to `top`, so that every token is known from
    training. `lengthwise.tasks.ladder` shifts one of depth, branching and content at a time.

    `height` and `slide` shape that ladder and change no item: how many levels each axis has at most, and how many
    levels move the training range on by one size each. Training to depth 5 has items 2 to 5 deep; the first level of
    `slide` has those 3 to 6 deep, of which one in four is deeper than training. Such a level is a mixture.
    """

    height: int = field(default=6, kw_only=True)
    slide: int = field(default=0, kw_only=True)

    axes: ClassVar[tuple[Axis, ...]] = (
        Axis("depth", "levels of the search tree down to the goal", smallest=2),
        Axis("branching", "choices at a node of one level"),
        Axis("content", "the largest value of ordinary items"),
    )
    rungs: ClassVar[tuple[Rung, ...]] = ()
    preset = {"depth": 2, "width": 64, "heads": 2, "mlp_ratio": 2, "steps": 2400, "batch": 32, "pool": 8, "rate": 3e-3}

    @abc.abstractmethod
    def problem(self, prompt: Sequence[str]) -> Problem:
        """The instance a prompt states; a usage error if it states none."""

    @abc.abstractmethod
    def attempt(self, size: int, draws: Draws) -> tuple[Samples, Flags]:
        """An instance for each row with its trace, and whether each is usable (its search ends in time, for instance);
        those that are not are drawn again."""

    @property
    @abc.abstractmethod
    def kinds(self) -> int:
        """How many kinds of brackets the traces have."""

    def deepest(self, size: int) -> int | None:  # noqa: ARG002
        """How many moves are in force at once, at most, in the traces of a size; some items go as deep. None where the
        task does not know."""
        return None

    def content_of(self, prompt: Sequence[str]) -> float:
        """The mean of the values or labels behind the target: what the content axis moves."""
        return float(np.mean([int(text) for text in prompt[1:] if text.isdigit()]))

    def sample(self, size: int, draws: Draws) -> Samples:
        """Each row takes its first usable attempt, so an item does not depend on its batch."""
        kept, usable = self.attempt(size, draws)
        waiting, again = np.flatnonzero(~usable), draws
        for _ in range(_ATTEMPTS):
            if not len(waiting):
                break
            again = again.only(~usable)
            more, usable = self.attempt(size, again)
            found = waiting[usable]
            kept.prompts[found], kept.answers[found] = more.prompts[usable], more.answers[usable]
            waiting = waiting[~usable]
        if len(waiting):
            raise UsageError(f"no item of size {size} was found with these settings; a larger content or top may help")
        return kept

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return search_trace(self.problem(prompt))

    def verify(self, prompt: Sequence[str], trace: Sequence[str]) -> Replay:
        """The trace followed event by event; `valid` only for the one that depth-first search writes."""
        return replay(self.problem(prompt), trace)

    def solves(self, prompt: Sequence[str], trace: Sequence[str]) -> bool:
        """Whether a trace ends at the goal by moves that the rules allow, whatever its detours."""
        return replay(self.problem(prompt), trace, strict=False).solved

    def brackets(self, prompt: Sequence[str], trace: Sequence[str]) -> DyckView:
        """The trace as a word of brackets."""
        found = self.verify(prompt, trace)
        if found.wrong:
            raise UsageError(f"this is not a trace of the search: at token {found.at + 1}, {found.wrong}")
        return dyck_view(found.events, self.kinds)

    def unbracketed(self, prompt: Sequence[str], word: Sequence[str]) -> Tokens:
        """The trace whose brackets these are."""
        return trace_of(self.problem(prompt), word)

    def contour(self, prompt: Sequence[str], trace: Sequence[str]) -> tuple[int, ...]:
        """How many moves are in force after every token of prompt and trace; a move counts from its last token on."""
        depths, depth = [0] * len(prompt), 0
        for event in self.verify(prompt, trace).events:
            depths += [depth] * (event.end - event.start - 1) + [event.depth]
            depth = event.depth
        return tuple(depths)

    def numbers_of(self, prompt: Sequence[str], trace: Sequence[str]) -> dict[str, float]:
        """What a trace does, in numbers, for metrics: nodes, dead ends, choices on the way (their mean), values."""
        found, problem = self.verify(prompt, trace), self.problem(prompt)
        pops = sum(event.kind == "pop" for event in found.events)
        states = [problem.root, *(move.state for move in found.path[:-1])]
        return {
            "nodes": float(len(found.events) - pops),
            "pops": float(pops),
            "goal_depth": float(len(found.path)),
            "choices": float(np.mean([len(problem.moves(state)) for state in states])),
            "content": self.content_of(prompt),
        }

    def levels(self, train_size: int) -> tuple[Level, ...]:
        """The ladder of shifts: the training range first, then every rung of every axis, one axis at a time, and the
        levels that slide the training range on."""
        if self.height < 1 or self.slide < 0:
            raise UsageError(f"height must be at least 1 and slide 0 or more, not {self.height} and {self.slide}")
        sizes = tuple(self.sizes(1, train_size))
        levels = [Level("training", 0, self, sizes)]
        for rung in self.rungs:
            for further in range(rung.by, rung.by * min(rung.steps, self.height) + 1, rung.by):
                if rung.axis == "depth":
                    levels.append(Level("depth", train_size + further, self, (train_size + further,)))
                else:
                    value = getattr(self, rung.axis) + further
                    levels.append(Level(rung.axis, value, dataclasses.replace(self, **{rung.axis: value}), sizes))
        for further in range(1, self.slide + 1):
            levels.append(Level(SLIDE, further, self, tuple(size + further for size in sizes)))
        for level in levels:
            if not (level.sizes and all(level.task.has(size) for size in level.sizes)):
                raise UsageError(
                    f"there are no items at {level.name!r} when training ends at size {train_size}, so there is no "
                    "ladder; a larger content and top may help, or another training size"
                )
        return tuple(levels)


def distinct_values(draws: Draws, count: int, span: int, content: int, top: int) -> Ints:
    """`count` different values a row: of the `span` numbers up to `content`; in one row of sixteen, of all to `top`."""
    wide = draws.integers(0, WHOLE_RANGE, 1) == 0
    values = np.arange(1, top + 1)
    keys = np.where(wide | ((values <= content) & (values > content - span)), draws.uniform(top), 2.0)
    return np.argsort(keys, axis=1)[:, :count] + 1


def check_range(branching: int, span: int, content: int, top: int) -> None:
    """Refuse settings that leave no values to draw from."""
    if not (branching >= 1 and 2 <= span <= content <= top):
        raise UsageError(
            f"branching must be at least 1, and 2 <= span <= content <= top, not branching {branching}, span {span}, "
            f"content {content} and top {top}"
        )


def parsed(text: str, top: int, what: str) -> int:
    """A number of a prompt."""
    if text not in numerals(1, top + 1):
        raise UsageError(f"{what} must be a whole number from 1 to {top}, not {text!r}")
    return int(text)


def longest_trace(events: int, depth: int, push: int, pop: int) -> int:
    """The most tokens of a trace with this number of events that ends `depth` moves deep at most. A search that ends k
    deep has k more pushes than pops, so the number of pops is (events - k) / 2: pops are the longer ones, and k is 1 or
    more."""
    return max((events + k) // 2 * push + (events - k) // 2 * pop for k in range(1, depth + 1))
