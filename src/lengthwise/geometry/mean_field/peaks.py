"""In how many separate places a density has gathered, and the start from which it does so."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.geometry.mean_field.mesh import Floats, Mesh
from lengthwise.seeds import Seeds

HEIGHT = 2.0  # times the uniform density, above which a place counts as part of a peak
MOST_NOISE = 0.2


def peaks(mesh: Mesh, masses: ArrayLike, height: float = HEIGHT) -> int:
    """The number of connected sets of cells whose density is above `height` times the uniform one.

    A threshold is used and not local maxima, of which noise has many.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    held = np.asarray(masses, dtype=np.float64)
    if held.shape != mesh.areas.shape:
        raise UsageError(f"peaks are counted in the masses of {len(mesh.areas)} cells, not in {list(held.shape)}")
    high = held > height * mesh.uniform()
    kept = high[mesh.first] & high[mesh.second]
    first, second = mesh.first[kept], mesh.second[kept]
    graph = coo_array((np.ones(len(first)), (first, second)), shape=(len(held), len(held)))
    found, _ = connected_components(graph, directed=False)
    return int(found) - int((~high).sum())  # a cell outside of all peaks is a component of its own


def noisy(mesh: Mesh, noise: float, seed: int) -> Floats:
    """The masses of the uniform density, each cell's density disturbed by a normal share of deviation `noise`."""
    if not 0 < noise <= MOST_NOISE:
        raise UsageError(f"the noise lies above 0 and is at most {MOST_NOISE:g} of the uniform density, not {noise:g}")
    drawn = np.random.default_rng(Seeds(seed).key("density")).standard_normal(len(mesh.areas))
    masses = mesh.areas * np.maximum(0.0, 1 + noise * drawn)
    return masses / masses.sum()
