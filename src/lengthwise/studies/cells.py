"""The cells of a study: the runs that differ in their seed alone, and what their seeds say together.

A seed is kept when it has learned (`lengthwise.probes.curve.standard`) and passes the study's `keep` rule, if it has
one; all seeds are reported. Where no seed is kept the cell was not learned, and its numbers are over all seeds and say
so. A cell that was learned holds when more than half of the kept seeds hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

from lengthwise.messages import explain
from lengthwise.probes.curve.spread import Keep
from lengthwise.probes.curve.standard import FURTHEST
from lengthwise.records import Claim
from lengthwise.registry import parse_spec
from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.studies.record import RunRecord, Summary

Measure = Literal["reach", "in_range", "twice", "thrice"]
MEASURES: tuple[Measure, ...] = get_args(Measure)
_IN_THEORY = ("softmax", "log_length", "window", "hardmax")

explain(
    {
        "cell.reach": "reach: {row}, position {position}, trained to {train_size}",
        "cell.in_range": "exact match in the training range: {row}, position {position}, trained to {train_size}",
        "cell.twice": "exact match at 2 x: {row}, position {position}, trained to {train_size}",
        "cell.thrice": "exact match at 3 x: {row}, position {position}, trained to {train_size}",
    }
)


@dataclass(frozen=True)
class Cell:
    """Runs of one task, encoding, variant and training size, in the order of their seeds."""

    task: str
    position: str
    variant: str
    train_size: int
    runs: tuple[RunRecord, ...]
    rule: Keep

    @property
    def model(self) -> str:
        """The spec of its model; empty where that is our Transformer."""
        return next((str(run.settings["model"]) for run in self.runs if "model" in run.settings), "")

    @property
    def attention(self) -> str:
        """The name of the attention rule of its runs."""
        return parse_spec(str(self.runs[0].settings.get("attention", "softmax")))[0]

    @property
    def is_transformer(self) -> bool:
        """Whether its runs are of our Transformer with softmax, or attention that is close to it: of these alone
        theories of encodings and published values speak."""
        return not self.model and self.attention in _IN_THEORY

    @cached_property
    def done(self) -> tuple[RunRecord, ...]:
        return tuple(run for run in self.runs if run.summary is not None)

    @cached_property
    def kept(self) -> tuple[RunRecord, ...]:
        return tuple(run for run in self.done if self.rule.keeps(_summary(run).learned, _summary(run).in_range))

    @property
    def certain(self) -> bool:
        """Whether exact match means something: answers are not drawn at random."""
        return all(_summary(run).certain for run in self.done)

    @property
    def learned(self) -> bool | None:
        """Whether any seed has learned and is kept; None where no run is done, or where that cannot be said."""
        known = [run for run in self.done if _summary(run).learned is not None]
        return bool(self.kept) if known else None

    @property
    def holds(self) -> bool | None:
        """Whether more than half of the seeds that learned hold; None where none learned, or nothing was measured
        beyond the training range."""
        votes = [_summary(run).holds for run in self.kept if _summary(run).holds is not None]
        return 2 * sum(map(bool, votes)) > len(votes) if self.learned and votes else None

    @property
    def multiple(self) -> float:
        """How many training sizes `holds` is about."""
        return min(FURTHEST, self.test_size / self.train_size)

    @property
    def shown(self) -> tuple[RunRecord, ...]:
        """The runs whose numbers stand for the cell: the kept ones, or all where none is kept."""
        return self.kept or self.done

    @property
    def failed(self) -> tuple[RunRecord, ...]:
        return tuple(run for run in self.runs if run.state == "failed")

    @property
    def row(self) -> str:
        """What sets the cell apart from others of its encoding."""
        return f"{self.task}, {self.variant}" if self.variant else self.task

    @property
    def test_size(self) -> int:
        return max(run.test_size for run in self.runs)

    @property
    def censored(self) -> int:
        """How many of the seeds shown hold to the largest size measured."""
        return sum(_summary(run).censored for run in self.shown)

    def values(self, measure: Measure) -> dict[int, float]:
        """The measure of every seed shown that has it."""
        found = {run.seed: getattr(run.summary, measure) for run in self.shown}
        return {seed: float(value) for seed, value in found.items() if value is not None}

    def claim(self, measure: Measure) -> Claim:
        """The mean over the seeds shown, with a bootstrap interval; the others are in the evidence."""
        shown = {run.key for run in self.shown}
        others = {
            run.seed: float(getattr(run.summary, measure))
            for run in self.done
            if run.key not in shown and getattr(run.summary, measure) is not None
        }
        rule = str(self.rule) if self.kept or not self.done else f"no seed is kept ({self.rule}); all are shown"
        return mean_over_seeds(
            f"cell.{measure}",
            self.values(measure),
            about={"row": self.row, "position": self.position, "train_size": self.train_size},
            discarded=others,
            rule=rule,
            unit="size" if measure == "reach" else "share",
            lower_bounds=self.censored if measure == "reach" else 0,
        )


def cells(runs: Iterable[RunRecord], rule: Keep) -> list[Cell]:
    """The runs by cell, in the order in which the cells first occur."""
    found: dict[tuple[str, str, str, int], list[RunRecord]] = {}
    for run in runs:
        found.setdefault((run.task, run.position, run.variant, run.train_size), []).append(run)
    return [Cell(*key, tuple(sorted(group, key=lambda run: run.seed)), rule) for key, group in found.items()]


def named_sizes(found: Iterable[Cell]) -> set[tuple[str, int]]:
    """The (task, training size) of which a label must say the size: where a task has several, and where a task has
    another than most tasks have."""
    pairs = {(cell.task, cell.train_size) for cell in found}
    sizes, tasks = Counter(size for _, size in pairs), Counter(task for task, _ in pairs)
    usual = max(sizes, key=lambda size: sizes[size], default=0)
    return {(task, size) for task, size in pairs if tasks[task] > 1 or size != usual}


def _summary(run: RunRecord) -> Summary:
    assert run.summary is not None
    return run.summary
