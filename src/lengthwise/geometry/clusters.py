"""How many clusters points form: measures of points on a sphere, and a hook that records them for any torch model.

cluster number       N_κ = n² / Σ_ij exp(κ (⟨x_i, x_j⟩ − 1)), between 1 and n (leinster2012, order 2)
energy               E_β = 1 / (2 β n²) Σ_ij exp(β ⟨x_i, x_j⟩) (geshkovski2023, section 3); N_κ = e^κ / (2 κ E_κ)
effective rank       exp(− Σ λ log λ), λ the eigenvalues of Xᵀ X divided by their sum (friedman2023); 1 / Σ λ² is the
                     participation ratio (hill1973)
components           of the graph in which two points with ⟨x_i, x_j⟩ > threshold are joined; a chain of points, each
                     near the next, is one component however far its ends are apart
margin               max over unit vectors w of min_i ⟨w, x_i⟩. Above 0, an open hemisphere holds all points, and the
                     particle systems of `lengthwise.geometry.particles` with V = I gather in one point
                     (geshkovski2023, the lemma on cones in section 6)

Functions take points [..., n, d], n points in d dimensions, and give a number for each configuration. What each one
counts, what it does not, and the proofs: docs/explanation/geometry.md.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import nnls

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats

SLICE = 2**22  # inner products held at once: 32 MB
LARGEST_BETA = 700.0  # e^β must be a number
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
ROUNDING = 1e-9  # a margin closer to 0 than this counts as 0
_OFF = 1e-4  # how far from 1 the length of a unit vector may be, so that float32 points are accepted


def directions(points: ArrayLike) -> Floats:
    """Vectors [..., n, d] divided by their lengths; a vector without a direction is refused."""
    found = vectors(points)
    # Dividing by the largest entry first keeps the squares of very long and very short vectors within range.
    largest = np.abs(found).max(axis=-1, keepdims=True)
    if not largest.min() > 0:
        raise UsageError("a point is the zero vector, which has no direction; leave it out")
    scaled = found / largest
    return scaled / np.linalg.norm(scaled, axis=-1, keepdims=True)


def vectors(points: ArrayLike) -> Floats:
    """The points as float64 [..., n, d], finite, with at least one point and one coordinate."""
    found = np.asarray(points, dtype=np.float64)
    if found.ndim < 2 or 0 in found.shape:
        raise UsageError(
            f"points must be an array [..., n, d] with n and d of at least 1, not one of shape {found.shape}"
        )
    if not np.isfinite(found).all():
        raise UsageError("a point has a coordinate that is not finite; points are finite vectors")
    return found


def on_sphere(points: ArrayLike) -> Floats:
    """The points, which must be unit vectors; `directions` makes such of any others."""
    found = vectors(points)
    lengths = np.linalg.norm(found, axis=-1)
    worst = float(np.abs(lengths - 1).max())
    if worst > _OFF:
        raise UsageError(
            f"the points are not on the unit sphere: a length is off by {worst:.2g}; pass directions(points)"
        )
    return found / lengths[..., None]


def inner_product_slices(points: Floats) -> Iterator[tuple[int, Floats]]:
    """For points [n, d]: (first row, inner products of some rows with all points), never more than 32 MB at once."""
    rows = max(1, SLICE // len(points))
    for first in range(0, len(points), rows):
        yield first, points[first : first + rows] @ points.T


def over_leading(points: Floats, measure: Callable[[Floats], Any]) -> Any:
    """The measure of each configuration [n, d]; of one alone, or an array over the leading dimensions for several."""
    found = np.array([measure(one) for one in points.reshape(-1, *points.shape[-2:])])
    found = found.reshape(points.shape[:-2] + found.shape[1:])
    return found if found.ndim else float(found)


@dataclass(frozen=True, eq=False)
class Histogram:
    """How many pairs i < j have an inner product in each bin: counts [..., bins] between edges [bins + 1]."""

    edges: Floats
    counts: NDArray[np.int64]


def inner_products(points: ArrayLike, bins: int = 40) -> Histogram:
    """The histogram over [−1, 1] of the inner products of unit vectors [..., n, d], each pair once. O(n² d)."""
    if bins < 1:
        raise UsageError(f"a histogram must have at least 1 bin, not {bins}")
    edges = np.linspace(-1, 1, bins + 1)
    return Histogram(edges, over_leading(on_sphere(points), lambda x: _counted(x, edges)))


def _counted(x: Floats, edges: Floats) -> NDArray[np.int64]:
    total = np.zeros(len(edges) - 1, dtype=np.int64)
    for first, products in inner_product_slices(x):
        pairs = products[np.triu(np.ones(products.shape, dtype=bool), k=first + 1)]
        total += np.histogram(np.clip(pairs, -1, 1), edges)[0]
    return total


def mean_inner_product(points: ArrayLike) -> float | Floats:
    """The mean of ⟨x_i, x_j⟩ over pairs of different points: (‖Σ x‖² − n) / (n (n − 1)). O(n d).

    For independent points it does not depend on how many there are, unlike every count of clusters.
    """
    x = on_sphere(points)
    n = x.shape[-2]
    if n < 2:
        raise UsageError("a mean over pairs needs two points, and there is one")
    return over_leading(x, lambda one: (np.square(one.sum(axis=0)).sum() - n) / (n * (n - 1)))


def least_inner_product(points: ArrayLike) -> float | Floats:
    """The least ⟨x_i, x_j⟩: that of the two points farthest apart. O(n² d)."""
    return over_leading(
        on_sphere(points), lambda x: min(float(products.min()) for _, products in inner_product_slices(x))
    )


def cluster_number(points: ArrayLike, kappa: float = 20.0) -> float | Floats:
    """N_κ of unit vectors [..., n, d]; κ >= 0 says how alike two points must be to count as one. O(n² d)."""
    check_kappa(kappa)
    return over_leading(
        on_sphere(points),
        lambda x: _number(len(x), sum(_similarity(products, kappa) for _, products in inner_product_slices(x))),
    )


def cluster_number_of(products: Floats, kappa: float = 20.0) -> float:
    """N_κ from all inner products [n, n], for those who have them already."""
    check_kappa(kappa)
    return _number(len(products), _similarity(products, kappa))


def _similarity(products: Floats, kappa: float) -> float:
    return float(np.exp(kappa * (np.minimum(products, 1.0) - 1.0)).sum())


def _number(n: int, total: float) -> float:
    return float(np.clip(n**2 / total, 1.0, n))  # rounding must not leave the range that is proved


def check_kappa(kappa: float) -> None:
    """Refuse a κ for which N_κ is no count."""
    if not (np.isfinite(kappa) and kappa >= 0):
        raise UsageError(f"kappa must be a finite number of at least 0, not {kappa}")


@dataclass(frozen=True)
class EnergyCourse:
    """How energies change along a sequence: how many steps rise, fall or stay, and the deepest fall."""

    rises: int
    falls: int
    deepest_fall: float

    @property
    def monotone(self) -> bool:
        """Whether the energy never falls by more than the tolerance."""
        return self.falls == 0


def energy(points: ArrayLike, beta: float) -> float | Floats:
    """E_β of unit vectors [..., n, d], for 0 < β <= 700. O(n² d)."""
    if not 0 < beta <= LARGEST_BETA:
        raise UsageError(f"the energy is defined for beta above 0 and computed up to {LARGEST_BETA:g}, not for {beta}")

    def one(x: Floats) -> float:
        return sum(np.exp(beta * products).sum() for _, products in inner_product_slices(x)) / (2 * beta * len(x) ** 2)

    return over_leading(on_sphere(points), one)


def energy_course(energies: ArrayLike, tolerance: float = 1e-12) -> EnergyCourse:
    """Whether energies [steps] climb. A change of no more than `tolerance` of the larger size is rounding."""
    found = np.asarray(energies, dtype=np.float64)
    if found.ndim != 1 or not np.isfinite(found).all():
        raise UsageError(f"energies must be one finite number per step, [steps], not an array of shape {found.shape}")
    change = np.diff(found)
    rounding = tolerance * np.maximum(np.abs(found[1:]), np.abs(found[:-1]))
    deepest = float(max(0.0, (-change).max())) if len(change) else 0.0
    return EnergyCourse(int((change > rounding).sum()), int((change < -rounding).sum()), deepest)


def effective_rank(points: ArrayLike, centred: bool = False) -> float | Floats:
    """exp of the entropy of the eigenvalues, for vectors [..., n, d] of any length. O(n d min(n, d)).

    Centred points that are all equal have no directions: 0.
    """
    return over_leading(vectors(points), lambda x: hill_number(eigenvalues(x, centred), 1))


def participation_ratio(points: ArrayLike, centred: bool = False) -> float | Floats:
    """1 / Σ λ², without eigenvalues: (Σ ‖x‖²)² / ‖Xᵀ X‖², for vectors [..., n, d]. O(n d min(n, d))."""

    def one(x: Floats) -> float:
        moments = _moments(x, centred)
        squares = float(np.square(moments).sum())
        return 0.0 if squares == 0 else float(np.trace(moments)) ** 2 / squares

    return over_leading(vectors(points), one)


def vendi(points: ArrayLike, order: float = 1) -> float | Floats:
    """The Vendi score of unit vectors with the cosine as similarity: the Hill number of the eigenvalues of G / n.

    Order 1 equals the uncentred effective rank, order 2 the participation ratio, order ∞ is 1 / the largest.
    """
    if not order >= 0:
        raise UsageError(f"the order of a Vendi score must be a number of at least 0, not {order}")
    return over_leading(on_sphere(points), lambda x: hill_number(eigenvalues(x, False), order))


def rank_cap(n: int, d: int, centred: bool = False) -> int:
    """The most that any of these measures can say of n points in d dimensions."""
    return min(n - 1, d) if centred else min(n, d)


def eigenvalues(x: Floats, centred: bool) -> Floats:
    """The eigenvalues of points [n, d], descending, with sum 1; empty where the points have no spread."""
    found = np.linalg.eigvalsh(_moments(x, centred))[::-1]
    # Rounding makes eigenvalues that are 0 into some 1e-17 of the largest; order 0 would count them.
    kept = found[found > max(x.shape) * np.finfo(np.float64).eps * found[0]] if found[0] > 0 else found[:0]
    return kept / kept.sum()


def hill_number(shares: Floats, order: float) -> float:
    """The number of equal shares that are as diverse (hill1973): (Σ λ^q)^(1 / (1 − q)), its limits at q = 1 and ∞."""
    if len(shares) == 0:
        return 0.0
    if order == 1:
        return math.exp(-float(np.sum(shares * np.log(shares))))
    if math.isinf(order):
        return 1 / float(shares.max())
    return float(np.sum(shares**order)) ** (1 / (1 - order))


def _moments(x: Floats, centred: bool) -> Floats:
    """XᵀX or XXᵀ, whichever is smaller: their eigenvalues other than 0 are the same."""
    largest = float(np.abs(x).max())
    x = x / largest if largest > 0 else x  # squares stay within range
    if centred:
        mean = x.mean(axis=0)
        x = x - mean
        if np.abs(x).max() <= 8 * np.finfo(np.float64).eps * np.abs(mean).max():
            x = np.zeros_like(x)  # equal points: what is left is rounding
    return x.T @ x if x.shape[1] <= x.shape[0] else x @ x.T


def components(points: ArrayLike, threshold: float = 0.95) -> float | Floats:
    """How many components unit vectors [..., n, d] have at this threshold."""
    _check(threshold)
    return over_leading(on_sphere(points), lambda x: 1 + int((joins(x) <= threshold).sum()))


def component_sweep(points: ArrayLike, thresholds: Sequence[float] = THRESHOLDS) -> Floats:
    """The numbers of components [..., thresholds] of unit vectors [..., n, d]; they never fall as thresholds rise."""
    for threshold in thresholds:
        _check(threshold)
    edges = np.asarray(thresholds, dtype=np.float64)
    return over_leading(on_sphere(points), lambda x: 1.0 + (joins(x)[:, None] <= edges).sum(axis=0))


def joins(x: Floats) -> Floats:
    """The n − 1 inner products of a spanning tree of greatest inner products of points [n, d], ascending.

    Points are in one component at a threshold exactly where the tree joins them by edges above it (gower1969), so the
    number of components is 1 + the number of edges at or below it, for all thresholds at once. The tree is grown a
    point at a time (prim1957), O(n² d), and no more than 32 MB of inner products are held.
    """
    products = x @ x.T if len(x) ** 2 <= SLICE else None
    return _grown(len(x), (lambda point: x @ x[point]) if products is None else products.__getitem__)


def component_count(products: Floats, threshold: float = 0.95) -> int:
    """How many components there are, from all inner products [n, n], for those who have them already."""
    return 1 + int((_grown(len(products), products.__getitem__) <= threshold).sum())


def labels(points: ArrayLike, threshold: float = 0.95) -> NDArray[np.int64]:
    """Which component each of the unit vectors [n, d] is in, numbered by their first points."""
    _check(threshold)
    x = on_sphere(points)
    if x.ndim != 2:
        raise UsageError(f"labels are given to one configuration [n, d], not to an array of shape {x.shape}")
    found = np.full(len(x), -1, dtype=np.int64)
    for first in range(len(x)):
        if found[first] < 0:
            _spread(x, first, threshold, found)
    return found


def _spread(x: Floats, first: int, threshold: float, found: NDArray[np.int64]) -> None:
    """Give the component of `first` the next number."""
    number = found.max() + 1
    found[first] = number
    waiting = [first]
    while waiting:
        near = np.flatnonzero((found < 0) & (x @ x[waiting.pop()] > threshold))
        found[near] = number
        waiting.extend(near.tolist())


def _grown(n: int, row: Callable[[int], Floats]) -> Floats:
    """Join the point outside the tree that is nearest to it, n − 1 times; `row` gives a point's inner products."""
    nearest = np.array(row(0), dtype=np.float64)
    outside = np.ones(n, dtype=bool)
    outside[0] = False
    nearest[0] = -np.inf
    found = np.empty(n - 1)
    for step in range(n - 1):
        point = int(nearest.argmax())
        found[step] = nearest[point]
        outside[point] = False
        np.maximum(nearest, row(point), out=nearest, where=outside)
        nearest[point] = -np.inf
    return np.sort(found)


def _check(threshold: float) -> None:
    if not -1 <= threshold <= 1:
        raise UsageError(f"a threshold must be an inner product of unit vectors, from -1 to 1, not {threshold}")


@dataclass(frozen=True, eq=False)
class Hemisphere:
    """The margin lies in [low, high]: `normal` w proves low = min_i ⟨w, x_i⟩, `weights` λ prove high = ‖Σ λ_i x_i‖.

    Where no open hemisphere holds the points, high is 0 up to rounding; the margin itself, which may be below 0 there,
    is not computed, and low is only what the w at hand gives.
    """

    low: float
    high: float
    normal: Floats  # [d]
    weights: Floats  # [n], >= 0, with sum 1

    @property
    def inside(self) -> bool | None:
        """Whether an open hemisphere holds the points; None where rounding hides it."""
        if self.low > ROUNDING:
            return True
        return False if self.high <= ROUNDING else None


def hemisphere(points: ArrayLike) -> Hemisphere:
    """The margin of unit vectors [n, d] with its proofs.

    Any unit w is a proof from below and any convex combination of the points one from above; they meet at the point of
    the convex hull nearest to 0, which is found by non-negative least squares (lawson1974, chapter 23;
    docs/explanation/geometry.md). The solver is not believed: both bounds are computed again from w and λ.
    """
    x = on_sphere(points)
    if x.ndim != 2:
        raise UsageError(f"a hemisphere is found for one configuration [n, d], not for an array of shape {x.shape}")
    weights = _nearest_to_zero(x)
    nearest = weights @ x
    length = float(np.linalg.norm(nearest))
    normal = nearest / length if length > 0 else np.eye(x.shape[1])[0]
    normal = normal / np.linalg.norm(normal)
    low = float((x @ normal).min())
    return Hemisphere(low, max(low, length), normal, weights)


def hemisphere_margin(points: ArrayLike) -> float | Floats:
    """The margin of unit vectors [..., n, d] from below; 0 where no open hemisphere holds them."""
    return over_leading(on_sphere(points), lambda x: max(0.0, hemisphere(x).low))


def _nearest_to_zero(x: Floats) -> Floats:
    """Weights of the point of the convex hull of [n, d] that is nearest to 0."""
    n, d = x.shape
    matrix = np.vstack([x.T, np.ones(n)])
    try:
        found, _ = nnls(matrix, np.eye(1, d + 1, d)[0], maxiter=max(300, 30 * n))
    except RuntimeError:  # it gave up: equal weights prove something all the same
        found = np.ones(n)
    total = found.sum()
    return found / total if total > 0 else np.full(n, 1 / n)


@dataclass(eq=False)
class ClusterRecord:
    """What was recorded: for each module one entry per forward pass, each a mapping from measures to arrays [...] over
    the batch. `kappa` and `threshold` are those of `cluster_number` and of `components`."""

    kappa: float = 20.0
    threshold: float = 0.95
    passes: dict[str, list[Mapping[str, Floats]]] = field(default_factory=dict)

    def add(self, name: str, output: Any) -> None:
        """Measure an output [..., tokens, width]; the first of several, where a module returns more than one."""
        while isinstance(output, tuple | list):
            output = output[0]
        if not hasattr(output, "detach") or output.dim() < 2:
            raise UsageError(f"the module {name} returns no tensor [..., tokens, width], so it has no clusters")
        points = output.detach().double().cpu().numpy()
        unit = directions(points)
        found = {
            "clusters": cluster_number(unit, self.kappa),
            "groups": components(unit, self.threshold),
            "rank": effective_rank(points),
        }
        if points.shape[-2] > 1:
            found["mean_inner_product"] = mean_inner_product(unit)
        self.passes[name].append({measure: np.asarray(value) for measure, value in found.items()})

    def rows(self) -> list[dict[str, float | str | int]]:
        """One row per module and forward pass, with the mean over the batch of each measure."""
        return [
            {"module": name, "pass": place, **{measure: float(values.mean()) for measure, values in found.items()}}
            for name, passes in self.passes.items()
            for place, found in enumerate(passes)
        ]


@contextlib.contextmanager
def record_clusters(
    model: Any, modules: Sequence[str], *, kappa: float = 20.0, threshold: float = 0.95
) -> Iterator[ClusterRecord]:
    """Record cluster measures of the outputs of named modules of a `torch.nn.Module`, while the context is open.

    `modules` are names as in `model.named_modules()`; each must return a tensor [..., tokens, width] (or a tuple that
    begins with one). A row of tokens is one configuration: padding counts as tokens, so pass rows of one length.
    Measures: `clusters` (N_kappa), `groups` (components joined by inner products above `threshold`), `rank` (effective
    rank) and `mean_inner_product`. The model's outputs are unchanged.
    """
    known = dict(model.named_modules())
    if missing := [name for name in modules if name not in known]:
        raise UsageError(f"the model has no module {missing[0]!r}; named_modules() lists {', '.join(list(known)[1:9])}")
    record = ClusterRecord(kappa, threshold, {name: [] for name in modules})

    def hook(name: str) -> Any:
        return lambda _module, _inputs, output: record.add(name, output)

    handles = [known[name].register_forward_hook(hook(name)) for name in modules]
    try:
        yield record
    finally:
        for handle in handles:
            handle.remove()
