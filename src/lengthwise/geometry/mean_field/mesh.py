"""What a density lives on: cells of a sphere, and the faces through which mass passes between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Mesh:
    """Cells with their centres and areas, and faces between the cells `first[e]` and `second[e]`.

    `lengths[e]` is the measure of the face (1 on a circle, where a face is a point) and `distances[e]` the geodesic
    distance of the two centres. `ring` says that cell i has the neighbours i - 1 and i + 1 and face i lies between
    i and i + 1, which is what a reconstruction of second order needs.
    """

    centres: Floats  # [cells, d], unit vectors
    areas: Floats  # [cells]
    first: Ints  # [faces]
    second: Ints  # [faces]
    lengths: Floats  # [faces]
    distances: Floats  # [faces]
    ring: bool = False

    @property
    def width(self) -> float:
        """The greatest distance of two neighbouring centres (radians)."""
        return float(self.distances.max())

    def uniform(self) -> Floats:
        """The masses of the uniform density."""
        return self.areas / self.areas.sum()
