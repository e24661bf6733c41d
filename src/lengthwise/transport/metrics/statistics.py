"""Numbers that describe a trajectory: how long it is, how deep it goes, how often it turns back."""

from __future__ import annotations

import functools

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats
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
                f"{sample.name}: all trajectories have the same features, not {own} here and {found} there"
            )
        rows.append([*statistics(trajectory), *(value for _, value in trajectory.features)])
    return (*STATISTICS, *own), np.array(rows, dtype=np.float64)
