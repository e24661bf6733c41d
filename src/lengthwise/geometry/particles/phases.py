"""The phase diagram: are the tokens one cluster at time t, for each dimension d and inverse temperature beta?

What is drawn is the picture of the survey (geshkovski2023), as its published program `phase-diagrams.py` computes it: n
= 32 tokens begin independently and uniformly on S^(d-1) and follow SA with Q = K = V = I; over t (0 to 30) and beta (0
to 9) the colour is the probability that <x_i(t), x_j(t)> >= 1 - delta for a pair i != j, with delta = 0.001, estimated
by the share of such pairs over independent starts. That share is `share_pairs`. It is not the probability that all
tokens are in one cluster: two equal clusters give it the value 0.48. That probability is
`share_one_cluster`. The program takes 2,048 starts by default, 90 betas, and Euler steps of 0.1; here the
number of starts is an argument and the steps are adaptive. All betas of a dimension begin from the same draws of the
seed, so that neighbours in the picture differ by beta alone.

The line is the time at which gamma(t) = 1 - delta, gamma being the common inner product of tokens that begin
orthogonal: as d grows, tokens drawn at random are nearly orthogonal, and the transition nears the line.

With Q = K = V = I tokens never leave their span, and a rotation of the start rotates the trajectory. So for d > n the
tokens are simulated in n coordinates of their span, with the same inner products; d = 512 costs what d = 32 does.

`line_claims` says whether the line of gamma(t) predicts when random tokens gather. gamma(t) is proved for tokens that
start orthogonal; in how many dimensions uniform tokens are near enough to that is not known, so it is measured.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from scipy.integrate import quad
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.equal_angles import weight
from lengthwise.geometry.particles.integrate import Progress, simulate
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.system import Kind, System
from lengthwise.messages import explain
from lengthwise.records import Claim

DIMENSIONS = (2, 8, 32, 128, 512)
BETAS = tuple(np.linspace(0, 9, 37).tolist())
MOST_BETA = 700.0  # e^710 is more than a float holds
TIMES = tuple(np.linspace(0, 30, 61).tolist())
TOGETHER = 128  # systems in a batch: 64 MB of trajectory at n = 32 and 61 times
HALF = 0.5  # of the pairs
NEAR = 0.1  # of the line's time; one step of the times where that is more
Rows = Sequence[Mapping[str, Any]]
explain(
    {
        "phases.line": "gamma(t) predicts when uniform tokens gather, d >= n",
        "phases.dimension": "share of betas at which gamma(t) predicts when half of the pairs are close, d = {d}",
    }
)


@dataclass(frozen=True)
class PhaseSettings:
    """What all cells of a phase diagram share.

    n tokens follow the dynamics `kind` from each of `starts` draws of `seed`. A pair is close where its inner product
    is at least 1 - `delta`; `kappa` is that of the soft count N_kappa; a step may add an error of `tolerance` radians.
    """

    n: int = 32
    starts: int = 24
    kind: Kind = "SA"
    seed: int = 0
    delta: float = 1e-3
    kappa: float = 20.0
    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if self.n < 2 or self.starts < 1:
            raise UsageError(
                f"a phase diagram needs n >= 2 tokens and at least one start, not n = {self.n} and {self.starts} starts"
            )
        if not 0 < self.delta < 1:
            raise UsageError(f"a phase diagram needs a delta between 0 and 1, not {self.delta}")


USUAL = PhaseSettings()


def phase_rows(
    dimensions: Sequence[int] = DIMENSIONS,
    betas: Sequence[float] = BETAS,
    times: Sequence[float] = TIMES,
    settings: PhaseSettings = USUAL,
    progress: Progress | None = None,
) -> list[dict[str, Any]]:
    """One row for each d, beta and time: the two shares, and `clusters`, the mean over starts of N_kappa.

    `progress` hears the dimension and the time reached. The rows of a dimension or a beta do not depend on which others
    are asked for, so a diagram may be made in parts and joined.
    """
    _refuse(dimensions, betas, times)
    return [row for d in dimensions for row in _dimension(d, betas, times, settings, progress)]


def _dimension(
    d: int, betas: Sequence[float], times: Sequence[float], settings: PhaseSettings, progress: Progress | None
) -> list[dict[str, Any]]:
    begin = in_span(uniform(settings.n, d, settings.seed, (settings.starts,)))
    together = max(1, TOGETHER // settings.starts)  # betas simulated at once; each system has steps of its own
    parts = [betas[first : first + together] for first in range(0, len(betas), together)]
    found = []
    for place, part in enumerate(parts):

        def reached(done: str, step: int, steps: int, place: int = place) -> None:
            if progress:
                progress(f"d = {d}, {done}", place * steps + step, len(parts) * steps)

        found.append(_part(begin, part, times, settings, reached))
    measured = np.concatenate(found, axis=2)  # [3, times, betas]
    names = ("share_pairs", "share_one_cluster", "clusters")
    return [
        {
            "d": d,
            "beta": float(beta),
            "time": float(time),
            **dict(zip(names, measured[:, moment, row].tolist(), strict=True)),
            "starts": settings.starts,
        }
        for moment, time in enumerate(times)
        for row, beta in enumerate(betas)
    ]


def _part(
    begin: Tensor, betas: Sequence[float], times: Sequence[float], settings: PhaseSettings, progress: Progress
) -> np.ndarray:
    """The two shares and N_kappa, means over the starts `begin` [starts, n, d], as [3, times, betas]."""
    starts = len(begin)
    system = System(settings.kind, torch.tensor(betas, dtype=torch.float64).repeat_interleave(starts))
    path = simulate(system, begin.repeat(len(betas), 1, 1), times, settings.tolerance, progress)
    shares = [_shares(points, settings.delta, settings.kappa) for points in path.points]
    return np.array([[part.reshape(-1, starts).mean(1) for part in moment] for moment in shares]).swapaxes(0, 1)


def in_span(points: Tensor) -> Tensor:
    """Tokens [..., n, d] in n coordinates of their span where d > n; inner products stay, to rounding."""
    n, d = points.shape[-2:]
    if d <= n:
        return points
    lower = torch.linalg.qr(points.mT).R.mT  # X^T = Q R, so X X^T = R^T R
    diagonal = lower.diagonal(dim1=-2, dim2=-1)  # R is unique once this is positive
    return (lower * torch.where(diagonal < 0, -1.0, 1.0)[..., None, :]).contiguous()


def _shares(points: np.ndarray, delta: float, kappa: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each system of a batch: the share of close pairs, whether all pairs are close, and N_kappa."""
    n = points.shape[-2]
    products = points @ points.swapaxes(-1, -2)
    close = (products >= 1 - delta).sum((-1, -2)) - n  # without a token and itself
    pairs = n * (n - 1)
    clusters = n**2 / np.exp(kappa * (products - 1)).sum((-1, -2))
    return close / pairs, (close == pairs).astype(np.float64), clusters


def transition_rows(
    betas: Sequence[float] = BETAS, n: int = 32, kind: Kind = "SA", delta: float = 1e-3
) -> list[dict[str, float]]:
    """One row for each beta: the time at which gamma(t) = 1 - delta from an orthogonal start."""
    if n < 2 or not 0 < delta < 1:
        raise UsageError(f"the line needs n >= 2 and 0 < delta < 1, not n = {n} and delta = {delta}")
    return [{"beta": float(beta), "time": transition_time(kind, n, float(beta), delta)} for beta in betas]


def transition_time(kind: Kind, n: int, beta: float, delta: float = 1e-3) -> float:
    """The integral of 1 / gamma' over gamma from 0 to 1 - delta, in y = -log(1 - gamma), where it is smooth.

    gamma' = 2 w (1 - gamma) (1 + (n - 1) gamma), w being the weight of one other token (`equal_angles.weight`), so
    dy / dt = 2 w (1 + (n - 1) gamma).
    """

    def slowness(y: float) -> float:
        inner = -math.expm1(-y)
        return 1 / (2 * float(weight(kind, n, beta, inner)) * (1 + (n - 1) * inner))

    return float(quad(slowness, 0, -math.log(delta), limit=200, epsabs=1e-12, epsrel=1e-10)[0])


def _refuse(dimensions: Sequence[int], betas: Sequence[float], times: Sequence[float]) -> None:
    if not len(dimensions) or min(dimensions) < 2:
        raise UsageError("a phase diagram needs dimensions of 2 or more")
    if not len(betas) or min(betas) < 0:
        raise UsageError("a phase diagram needs betas that are not negative")
    if not max(betas) <= MOST_BETA:
        raise UsageError(
            f"a phase diagram needs betas of at most {MOST_BETA:g}, not {max(betas):g}: beyond, tokens meet later than "
            "any float can say"
        )
    if len(times) < 2 or times[0] != 0 or any(b <= a for a, b in itertools.pairwise(times)):
        raise UsageError("the times of a phase diagram ascend from 0, and there are two or more")


def line_claims(rows: Rows, line: Rows, n: int) -> tuple[Claim, ...]:
    """First whether the line holds wherever d >= n, then for each d at which betas it does.

    At a beta the line agrees when half of the pairs are close for the first time between two moments, and the line's
    time lies between them or misses them by at most a tenth of itself or one step of the times. It differs also where
    it lies within the diagram and half of the pairs never are close, or beyond it and they are. Where neither happens
    before the end nothing is decided.
    """
    crossings = {float(row["beta"]): float(row["time"]) for row in line}
    each = tuple(_dimension_claim(d, rows, crossings, n) for d in dict.fromkeys(int(row["d"]) for row in rows))
    high = [claim for claim in each if claim.evidence["d_at_least_n"] and claim.value is not None]
    if not high:
        return (Claim("phases.line", None, "", "measured", "unknown"), *each)
    wrong = sum(len(claim.evidence["differs"]) for claim in high)
    right = sum(len(claim.evidence["agrees_at_beta"]) for claim in high)
    evidence, status = {"cells_that_agree": right, "cells_that_differ": wrong, "n": n}, "refuted" if wrong else "holds"
    return Claim("phases.line", not wrong, "", "measured", status, evidence=evidence), *each


def _dimension_claim(d: int, rows: Rows, crossings: Mapping[float, float], n: int) -> Claim:
    """The share of decided betas at which the line agrees, with all of them in the evidence."""
    agrees: list[float] = []
    differs: list[dict[str, float | None]] = []
    undecided: list[float] = []
    for beta in dict.fromkeys(float(row["beta"]) for row in rows if row["d"] == d):
        path = [(float(row["time"]), row["share_pairs"]) for row in rows if row["d"] == d and row["beta"] == beta]
        after, by = _first_half(path) or (path[-1][0], None)
        due = crossings[beta]
        slack = max(NEAR * due, 0.0 if by is None else by - after)
        if by is None and due > after:
            undecided.append(beta)
        elif by is not None and after - slack <= due <= by + slack:
            agrees.append(beta)
        else:
            differs.append({"beta": beta, "half_close_after": after, "half_close_by": by, "line": due})
    decided = len(agrees) + len(differs)
    return Claim(
        "phases.dimension",
        len(agrees) / decided if decided else None,
        "share",
        "measured",
        "holds" if decided else "unknown",
        evidence={
            "d": d,
            "d_at_least_n": d >= n,
            "agrees_at_beta": agrees,
            "differs": differs,
            "undecided_at_beta": undecided,
            "starts": int(rows[0]["starts"]),
        },
    )


def _first_half(path: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The moments between which half of the pairs came close for the first time."""
    if path[0][1] >= HALF:
        return path[0][0], path[0][0]
    for (before, _), (after, share) in itertools.pairwise(path):
        if share >= HALF:
            return before, after
    return None


def in_words(claim: Claim) -> str:
    """What `line_claims` found for one dimension, in a sentence or two."""
    seen = claim.evidence
    agrees, differs, undecided = seen["agrees_at_beta"], seen["differs"], seen["undecided_at_beta"]
    text = f"d = {seen['d']} ({'at least n' if seen['d_at_least_n'] else 'below n'}): "
    if claim.value is None:
        return text + "neither the line nor half of the pairs close came before the end."
    text += f"the line agrees at {len(agrees)} of {len(agrees) + len(differs)} values of beta"
    if differs:
        most = max(differs, key=_miss)
        when = (
            f"after t = {most['half_close_after']:g}"
            if most["half_close_by"] is None
            else f"between t = {most['half_close_after']:g} and {most['half_close_by']:g}"
        )
        names = ", ".join(f"{one['beta']:g}" for one in differs)
        text += f", and differs at {names}; most at {most['beta']:g}: half of the pairs are close {when}, "
        text += f"the line is at {most['line']:.4g}"
    return text + (f". Not decided at {', '.join(f'{beta:g}' for beta in undecided)}." if undecided else ".")


def _miss(one: Mapping[str, float | None]) -> float:
    """By what factor the line misses, as a logarithm."""
    line, half = one["line"], one["half_close_by"] or one["half_close_after"]
    assert line is not None and half is not None
    return abs(math.log(max(line, 1e-9) / max(half, 1e-9)))
