"""Distance between a few numbers that describe a trajectory, measured in spreads of the training sample."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.registry import nearest
from lengthwise.seeds import Floats
from lengthwise.transport.metrics import metrics
from lengthwise.transport.metrics.metric import Fitted, FittedVectors, Metric, Norm, Vectors
from lengthwise.transport.trajectories import Sample, Trajectory

STATISTICS = {
    "length": "tokens",
    "distinct": "different tokens",
    "max_depth": "levels",
    "mean_depth": "levels",
    "backtracks": "turns from going deeper to going back",
    "branching": "children of an inner node of the tree, on average",
}


@functools.lru_cache(maxsize=65536)
def statistics(trajectory: Trajectory) -> tuple[float, ...]:
    """The values of STATISTICS, in their order.

    The profile is read as a walk that starts at depth 0. Every level of a rise visits a new child, and the child is its
    parent's first unless the walk fell just before (steps on one level do not count). So a walk that rises by R levels
    in all and turns from falling to rising V times has visited R nodes below R - V inner ones.
    """
    profile = trajectory.profile()
    steps = np.diff(profile, prepend=0.0)
    moves = steps[steps != 0]
    risen = float(moves[moves > 0].sum())
    turns_down = int(((moves[:-1] > 0) & (moves[1:] < 0)).sum())
    turns_up = int(((moves[:-1] < 0) & (moves[1:] > 0)).sum())
    inner = risen - turns_up
    branching = risen / inner if inner > 0 else 0.0
    tokens = trajectory.tokens
    return len(tokens), len(set(tokens)), float(profile.max()), float(profile.mean()), turns_down, branching


def table(sample: Sample) -> tuple[tuple[str, ...], Floats]:
    """The names of all numbers known of a sample, those the user gave behind ours, and their values [distinct, k]."""
    own = [name for name, _ in sample.trajectories[0].features]
    if clash := sorted(set(own) & set(STATISTICS)):
        raise UsageError(f"{sample.name}: the feature {clash[0]!r} is counted already; give yours another name")
    rows = []
    for trajectory in sample.trajectories:
        if [name for name, _ in trajectory.features] != own:
            found = [name for name, _ in trajectory.features]
            raise UsageError(
                f"{sample.name}: all trajectories must have the same features, not {own} here and {found} there"
            )
        rows.append([*statistics(trajectory), *(value for _, value in trajectory.features)])
    return (*STATISTICS, *own), np.array(rows, dtype=np.float64)


_CONSTANT = 1e-12  # of the largest value: a spread below this is rounding


@metrics.register("features")
@dataclass(frozen=True)
class Features(Metric):
    """How unlike length, depth, backtracks, branching and other numbers are, in spreads of the training sample.

    Each number is divided by its standard deviation in the first sample. One that is constant there has no spread to be
    measured in: it is divided by its value, so that 3 means three times as much again, or left as it is where that is
    0; `facts` names these. `use` chooses among the numbers, as in use=length+max_depth; those that a user gives with
    the trajectories count like ours. Trajectories with the same numbers are not distinguished.
    """

    identity = False
    tokens = False
    fixed = False

    use: str = "all"
    norm: Norm = "euclidean"

    def fit(self, reference: Sample) -> Fitted:
        known, values = table(reference)
        names = known if self.use == "all" else tuple(dict.fromkeys(part.strip() for part in self.use.split("+")))
        for name in names:
            if name not in known:
                near = nearest(name, known)
                raise UsageError(f"the metric features has no number {name!r}; {near}it has {', '.join(known)}")
        values = values[:, [known.index(name) for name in names]]
        scales, kinds = _scales(values, reference.weights)
        facts = {
            "standardised_on": reference.name,
            "items": len(reference),
            "scales": dict(zip(names, scales.tolist(), strict=True)),
            "constant_there": [name for name, kind in zip(names, kinds, strict=True) if kind != "spread"],
            "scaled_by": dict(zip(names, kinds, strict=True)),
            "norm": self.norm,
        }
        return _FittedFeatures(_unit(kinds), facts, names, tuple(scales), self.norm)


def _scales(values: Floats, weights: Floats) -> tuple[Floats, list[str]]:
    """What each column is divided by, and what that is: its spread, its value where it is constant, or one."""
    mean = weights @ values
    spread = np.sqrt(weights @ (values - mean) ** 2)
    constant = spread <= _CONSTANT * np.abs(values).max(axis=0)
    value = np.abs(values[0])  # of a constant column
    scales = np.where(~constant, spread, np.where(value > 0, value, 1.0))
    kinds = np.where(~constant, "spread", np.where(value > 0, "value", "one"))
    return scales, [str(kind) for kind in kinds]


def _unit(kinds: list[str]) -> str:
    if "value" not in kinds:
        return "training spreads"
    return "training spreads and values" if "spread" in kinds else "training values"


@dataclass(frozen=True)
class _FittedFeatures(FittedVectors):
    names: tuple[str, ...] = ()
    scales: tuple[float, ...] = ()
    norm: Norm = "euclidean"

    def vectors(self, first: Sample, second: Sample) -> Vectors:
        return Vectors(self._placed(first), self._placed(second), self.names, self.norm)

    def _placed(self, sample: Sample) -> Floats:
        known, values = table(sample)
        if missing := sorted(set(self.names) - set(known)):
            raise UsageError(f"{sample.name} has no feature {missing[0]!r}, which the first sample has")
        return values[:, [known.index(name) for name in self.names]] / np.array(self.scales)
