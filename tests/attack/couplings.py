"""Attacks on distances: W1 certificates where the true W1 is known exactly, distances of vectors, and attention as a
function of frequencies. Truths are rational numbers or have 80 digits, so nothing is taken off for evaluation."""

from __future__ import annotations

import itertools
from dataclasses import replace
from decimal import Decimal, getcontext
from fractions import Fraction

import numpy as np

from attack.attempt import Attempts, Found, exact_ratio
from lengthwise.bounds.lipschitz.mixing import mixed, mixing_constant
from lengthwise.rounding import distances_above, distances_below
from lengthwise.transport.problem import Solution, TransportProblem, VectorCost
from lengthwise.transport.solving import solve
from lengthwise.transport.verify import Certificate, verify

DIGITS = 80
SCALES = (1.0, 1.0, 1.0, 1e-200, 1e-160, 5e-324, 1e-310, 1e100, 1e150, 1e300)


def places(rng: np.random.Generator, count: int, dimension: int, scale: float) -> np.ndarray:
    """Random points, points of a grid, clusters that hardly differ, points far from the origin, and mixed scales."""
    kind = rng.integers(5)
    points = rng.normal(size=(count, dimension))
    if kind == 1:
        points = np.round(2 * points)
    elif kind == 2:
        points = np.round(points) + 1e-14 * points
    elif kind == 3:
        points = points + 10.0 ** rng.uniform(0, 12)
    elif kind == 4:
        points = points * 10.0 ** rng.uniform(-220, 0, size=points.shape)
    points = points / max(1.0, float(np.abs(points).max()))
    return np.round(10 * points) * scale if scale < 1e-300 else points * scale


def shares(rng: np.random.Generator, count: int) -> np.ndarray:
    """Weights that are floats exactly, and sum to 1 exactly: parts of 2^20, some of them tiny."""
    cuts = np.sort(rng.choice(np.arange(1, 1 << 20), size=count - 1, replace=False))
    return np.diff(np.concatenate([[0], cuts, [1 << 20]])) / float(1 << 20)


def spoilt(rng: np.random.Generator, solution: Solution, size: tuple[int, int]) -> Solution:
    """A plan with other masses and places, and other potentials; its certificate must hold W1 all the same."""
    noise = float(10 ** rng.uniform(-17, 0))
    mass = solution.mass * np.exp(noise * rng.normal(size=len(solution.mass)))
    moved = rng.random(len(mass)) < noise
    height = noise * float(np.abs(np.concatenate([solution.f, solution.g])).max())
    return replace(
        solution,
        mass=mass,
        rows=np.where(moved, rng.integers(size[0], size=len(mass)), solution.rows),
        f=solution.f + height * rng.normal(size=size[0]),
        g=solution.g + height * rng.normal(size=size[1]),
    )


def line(rng: np.random.Generator, batch: int) -> Found:
    """On a line W1 is the area between two distribution functions, a rational number."""
    n, m = (int(count) for count in rng.integers(1, 7, size=2))
    scale = float(rng.choice(SCALES))
    x, y = places(rng, n, 1, scale), places(rng, m, 1, scale)
    a, b = shares(rng, n), shares(rng, m)
    # The same on a line and, with a second coordinate that is 0, by the method for any cost.
    for wide, method in ((0, "line"), (1, "dense")):
        cost = VectorCost(*(np.pad(side, ((0, 0), (0, wide))) for side in (x, y)))
        yield from _judged(f"W1, {method} method", TransportProblem(cost, a, b), _area(x, y, a, b), rng, batch // 8)


def _area(x: np.ndarray, y: np.ndarray, a: np.ndarray, b: np.ndarray) -> Fraction:
    steps = [(Fraction(float(p)), Fraction(float(w))) for p, w in zip(x[:, 0], a, strict=True)]
    steps += [(Fraction(float(p)), -Fraction(float(w))) for p, w in zip(y[:, 0], b, strict=True)]
    steps.sort()
    area, height = Fraction(0), Fraction(0)
    for (place, weight), (following, _) in itertools.pairwise(steps):
        height += weight
        area += abs(height) * (following - place)
    return area


def _judged(name: str, problem: TransportProblem, true: Fraction, rng: np.random.Generator, more: int) -> Found:
    """The solver's certificate, then those of spoilt plans and potentials, from below and from above."""
    found = solve(problem)
    yield from _sandwich(name, [found.certificate], true)
    spoilt_ones = [verify(problem, spoilt(rng, found.solution, problem.cost.shape)) for _ in range(more)]
    yield from _sandwich(f"{name}, spoilt plans", spoilt_ones, true)


def _sandwich(name: str, certificates: list[Certificate], true: Fraction) -> Found:
    below = [exact_ratio(Fraction(found.lower), true) for found in certificates]
    above = [exact_ratio(true, Fraction(found.upper)) for found in certificates if np.isfinite(found.upper)]
    yield Attempts(f"{name}, lower end", below, 1.0)
    yield Attempts(f"{name}, upper end", above, 1.0)


def plane(rng: np.random.Generator, batch: int) -> Found:
    """Of items that weigh the same W1 is the least mean over assignments: all of them are tried, with 80 digits."""
    count, dimension = int(rng.choice([1, 2, 4])), int(rng.integers(2, 4))
    norm = "cityblock" if rng.random() < 0.3 else "euclidean"
    scale = float(rng.choice(SCALES))
    x, y = places(rng, count, dimension, scale), places(rng, count, dimension, scale)
    problem = TransportProblem(VectorCost(x, y, norm))
    getcontext().prec = DIGITS
    apart = [[_distance(one, two, norm) for two in y] for one in x]
    ways = itertools.permutations(range(count))
    costs = [sum((apart[i][j] for i, j in enumerate(way)), Fraction(0)) / count for way in ways]
    found = solve(problem)
    plans = [exact_ratio(Fraction(found.certificate.lower), cost) for cost in costs]
    yield Attempts(f"W1, {norm}, plans below the lower end", plans, 1.0)
    yield from _judged(f"W1, {norm}", problem, min(costs), rng, batch // 8)


def _distance(one: np.ndarray, two: np.ndarray, norm: str) -> Fraction:
    away = [abs(Fraction(float(p)) - Fraction(float(q))) for p, q in zip(one, two, strict=True)]
    if norm == "cityblock":
        return sum(away, Fraction(0))
    square = sum((side * side for side in away), Fraction(0))
    return Fraction((Decimal(square.numerator) / Decimal(square.denominator)).sqrt())


def vectors(rng: np.random.Generator, batch: int) -> Found:
    """Distances rounded up and down, against the exact square."""
    count, dimension, scale = max(1, int(batch**0.5)), int(rng.integers(1, 5)), float(rng.choice(SCALES))
    x, y = places(rng, count, dimension, scale), places(rng, count, dimension, scale)
    y[0] = x[0]
    above, below, least, most = distances_above(x, y), distances_below(x, y), [], []
    for i, j in np.ndindex(above.shape):
        square = sum((Fraction(float(p)) - Fraction(float(q))) ** 2 for p, q in zip(x[i], y[j], strict=True))
        most.append(exact_ratio(Fraction(square), Fraction(float(above[i, j])) ** 2))
        least.append(exact_ratio(Fraction(float(below[i, j])) ** 2, Fraction(square)))
    yield Attempts("distance rounded up", most, 1.0)
    yield Attempts("distance rounded down", least, 1.0)


def frequencies(rng: np.random.Generator, batch: int) -> Found:
    """Mixtures of given frequencies that come closer and closer to each other along the steepest way found. Tokens lie
    on a line, where W1 is the area between two distribution functions."""
    kinds, width, given = int(rng.integers(2, 5)), int(rng.integers(1, 4)), int(rng.integers(2, 6))
    gaps = 10.0 ** rng.uniform(-3, 1, size=kinds - 1) * float(rng.choice([1.0, 1.0, 1e-200, 1e150]))
    spots = np.concatenate([[0.0], np.cumsum(gaps)])
    logits, values = rng.normal(size=kinds) * 10 ** rng.uniform(-1, 1), rng.normal(size=(kinds, width))
    hull = rng.dirichlet(np.full(kinds, 0.5), size=given)
    certified = mixing_constant(logits, values, hull, np.abs(spots[:, None] - spots[None]) * (1 - 1e-15))
    p, q = (rng.dirichlet(np.full(given, 0.3), size=batch) for _ in range(2))
    p[:given] = np.eye(given)[: len(p[:given])]
    for _ in range(8):
        one, two = p @ hull, q @ hull
        away = mixed(logits, values, one)[0] - mixed(logits, values, two)[0]
        moved = np.abs(np.cumsum(one - two, axis=1)[:, :-1]) @ np.diff(spots)
        rise = np.maximum(0.0, np.linalg.norm(away, axis=1) - 1e-12 * np.abs(values).max())
        seen = np.where(moved > 0, rise * (1 - 1e-12) / np.where(moved > 0, moved, 1.0), 0.0)
        yield Attempts("attention over frequencies", seen, certified)
        best = int(np.argmax(seen))
        steps = rng.uniform(0.05, 1.0, size=(batch, 1))
        p, q = p + steps * (p[best] - p) * (rng.random((batch, 1)) < 0.7), p[best] + steps * (q[best] - p[best])
