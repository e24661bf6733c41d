"""A simulation as a reader sees it: what was simulated, what was measured at each moment, and the claims about it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lengthwise.geometry.clusters import cluster_number, inner_products, labels
from lengthwise.messages import explain
from lengthwise.records import Claim


def tracked_groups(points: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """The number of components of the graph <x_i, x_j> > threshold at each moment [K], and the group of each token.

    Groups [K, n] are components of two tokens or more, named 0, 1, ... by size at the last moment; a token alone has
    -1. Names are handed backwards in time: of the components that will be one group, the largest has its name, and the
    others get names that are free. So a colour that stands for a name stays with most of its tokens.
    """
    found = [labels(moment, threshold) for moment in points]
    groups = np.full(points.shape[:2], -1, dtype=np.int32)
    later: np.ndarray | None = None
    for place in range(len(points) - 1, -1, -1):
        groups[place] = later = _named(found[place], later)
    return np.array([int(one.max()) + 1 for one in found]), groups


def _named(components: np.ndarray, later: np.ndarray | None) -> np.ndarray:
    """The components of one moment under the names of the later one where they can be had."""
    sizes = np.bincount(components)
    largest_first = [label for label in np.argsort(-sizes, kind="stable") if sizes[label] > 1]
    names: dict[int, int] = {}
    taken: set[int] = set()
    for label in largest_first:
        wanted = -1 if later is None else _commonest(later[components == label])
        if wanted >= 0 and wanted not in taken:
            names[label] = wanted
            taken.add(wanted)
    free = (name for name in range(len(components)) if name not in taken)
    for label in largest_first:
        if label not in names:
            names[label] = next(free)
    return np.array([names.get(label, -1) for label in components], dtype=np.int32)


def _commonest(names: np.ndarray) -> int:
    """The name that most of these tokens will have; -1 if they will be alone."""
    names = names[names >= 0]
    return int(np.bincount(names).argmax()) if len(names) else -1


def readable(claim: Claim) -> Claim:
    """The claim with "infinite" for an infinite value."""
    if isinstance(claim.value, float) and math.isinf(claim.value):
        return replace(claim, value="infinite" if claim.value > 0 else "minus infinite")
    return claim


THRESHOLD = 0.95  # two tokens with a larger inner product belong to one group
FIXED_SCALE = 20.0  # the kappa of the cluster number that is the same for all simulations
BINS = 40

explain(
    {
        "simulation.order": "order parameter r, the length of the mean, at t = {time:g}",
        "simulation.own_clusters": "cluster number N_beta at t = {time:g}",
        "simulation.no_own_clusters": "cluster number N_beta, which is 1 at beta = 0 whatever the tokens do",
        "simulation.fixed_clusters": "cluster number N_20 at t = {time:g}",
        "simulation.groups": "groups joined by inner products above {threshold} at t = {time:g}",
        "simulation.energy_rises": "the energy never falls",
        "simulation.error": "estimated error of a point",
    }
)


@dataclass(frozen=True)
class Mark:
    """A time that a theorem names."""

    time: float
    label: str


@dataclass(frozen=True, eq=False)
class Measures:
    """What was measured at each moment; all arrays are over times [K].

    `own` is N_beta, None where beta is 0 and it is 1 whatever the tokens do, or where there is no single beta; `energy`
    is the energy as a share of its greatest value, which equals 1 / N_beta, None where there is no single beta; `order`
    is the length of the mean of all tokens, Kuramoto's order parameter; `shares` [K, bins] are the shares of pairs by
    inner product, from -1 to 1; `groups` [K, n] names each token's group; a token that is alone has -1.
    """

    times: np.ndarray
    components: np.ndarray
    alone: np.ndarray
    own: np.ndarray | None
    fixed: np.ndarray
    energy: np.ndarray | None
    order: np.ndarray
    shares: np.ndarray
    groups: np.ndarray


@dataclass(frozen=True, eq=False)
class Simulation:
    """All that the page shows. `facts` are pairs of a label and words; `points` is [K, n, d]; `beta` is None where the
    dynamics have no single one. `predicted_order` is the order parameter in the end by theory, where there is one."""

    title: str
    facts: tuple[tuple[str, str], ...]
    beta: float | None
    points: np.ndarray
    measures: Measures
    theory: tuple[Claim, ...] = ()
    measured: tuple[Claim, ...] = ()
    marks: tuple[Mark, ...] = ()
    predicted_order: float | None = None
    frequencies: np.ndarray | None = None


def measure(
    times: Sequence[float] | np.ndarray,
    points: np.ndarray,
    beta: float | None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Measures:
    """Measure a trajectory, points [K, n, d], moment by moment, so that one matrix of n x n is alive at a time."""
    found, shares, scales = [], [], (FIXED_SCALE,) if beta is None else (FIXED_SCALE, beta)
    for place, moment in enumerate(points):
        found.append([float(cluster_number(moment, scale)) for scale in scales])
        shares.append(_shares(moment))
        if progress:
            progress("moments", place + 1, len(points))
    numbers = np.array(found)
    components, groups = tracked_groups(points, THRESHOLD)
    return Measures(
        np.asarray(times, dtype=float),
        components,
        (groups < 0).sum(axis=1),
        numbers[:, 1] if beta else None,
        numbers[:, 0],
        None if beta is None else 1 / numbers[:, 1],
        np.linalg.norm(points.mean(axis=1), axis=1),
        np.stack(shares),
        groups,
    )


def _shares(moment: np.ndarray) -> np.ndarray:
    """The shares of pairs of different tokens by inner product; a single token has no pair, and shares of 0."""
    counts = inner_products(moment, BINS).counts
    return counts / max(1, int(counts.sum()))


def measured_claims(measures: Measures, error: float, steps: int, monotone: bool | None) -> tuple[Claim, ...]:
    """What the simulation did, as claims. `monotone` is None where nothing is claimed about the energy.

    The reported error is an estimate and not a bound, so the claim of it is heuristic.
    """
    first, last = measures.times[0], measures.times[-1]
    evidence = {"moments": len(measures.times), "steps": steps}

    def at(key: str, value: Any, time: float) -> Claim:
        told = {**evidence, "time": float(time), "threshold": THRESHOLD}
        return Claim(f"simulation.{key}", value, "", "measured", evidence=told)

    found = []
    if measures.own is None and measures.energy is not None:  # beta is 0
        found.append(Claim("simulation.no_own_clusters", None, "", "measured", "vacuous"))
    series = {"own_clusters": measures.own, "fixed_clusters": measures.fixed, "order": measures.order}
    for key, values in series.items():
        if values is not None:
            found += [at(key, float(values[0]), first), at(key, float(values[-1]), last)]
    found += [at("groups", int(measures.components[0]), first), at("groups", int(measures.components[-1]), last)]
    if monotone is not None:
        found.append(Claim("simulation.energy_rises", monotone, "", "measured", evidence=evidence))
    found.append(Claim("simulation.error", float(error), "rad", "heuristic", evidence=evidence))
    return tuple(found)


def energy_never_falls(measures: Measures, beta: float, error: float) -> bool:
    """Whether no moment's energy lies below that of the moment before by more than the integration can explain.

    Two tokens that are off by `error` each change their inner product by at most 2 error, a term exp(beta (<x, y> - 1))
    of the share by at most 2 beta error, as it is at most 1; the two moments compared may both be off.
    """
    allowed = 4 * beta * error + 1e-12
    assert measures.energy is not None
    return bool(np.all(np.diff(measures.energy) >= -allowed))


TITLES = ("time", "groups", "tokens alone", "N, κ = β", f"N, κ = {FIXED_SCALE:g}", "energy, share", "r")
_SHARES = (0, 1 / 32, 1 / 16, 1 / 8, 1 / 4, 1 / 2, 3 / 4, 1)  # of the time; early moments differ the most


def some_moments(measures: Measures) -> list[tuple[str, ...]]:
    """Rows of text under TITLES."""
    last = len(measures.times) - 1
    return [
        (
            f"{measures.times[place]:.3g}",
            str(measures.components[place]),
            str(measures.alone[place]),
            "–" if measures.own is None else f"{measures.own[place]:.4g}",
            f"{measures.fixed[place]:.4g}",
            "–" if measures.energy is None else f"{measures.energy[place]:.4g}",
            f"{measures.order[place]:.3f}",
        )
        for place in sorted({round(last * share) for share in _SHARES})
    ]
