"""What a density lives on: cells of a circle or a sphere, and the faces through which mass passes between them.

The sphere S^2 as a mesh: an icosahedron whose triangles are divided, and the Voronoi cells of its vertices.

A grid of longitudes and latitudes has cells that shrink towards the poles, which forces tiny steps there and makes two
points of the sphere special. These cells have nearly equal sizes (hexagons, and twelve pentagons).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, SphericalVoronoi

from lengthwise.errors import UsageError

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


def circle(cells: int) -> Mesh:
    """The circle cut into equal arcs; the centre of arc i is at the angle (i + 1/2) 2 pi / cells."""
    if cells < 4:
        raise UsageError(f"a circle needs at least 4 cells, not {cells}")
    angles = cell_angles(cells)
    step = 2 * np.pi / cells
    here = np.arange(cells)
    return Mesh(
        centres=np.stack([np.cos(angles), np.sin(angles)], axis=1),
        areas=np.full(cells, step),
        first=here,
        second=(here + 1) % cells,
        lengths=np.ones(cells),
        distances=np.full(cells, step),
        ring=True,
    )


def cell_angles(cells: int) -> Floats:
    """The angles of the centres of the cells."""
    return (np.arange(cells, dtype=np.float64) + 0.5) * (2 * np.pi / cells)


LEVELS = 5  # 10,242 cells; the kernel between all pairs of them takes 0.8 GiB


@functools.lru_cache(maxsize=2)
def sphere(level: int) -> Mesh:
    """S^2 cut into 10 * 4^level + 2 cells: level 2 has 162, level 3 has 642, level 4 has 2,562."""
    if not 0 <= level <= LEVELS:
        raise UsageError(f"a sphere has a level from 0 to {LEVELS}, not {level}")
    points, triangles = _icosahedron()
    for _ in range(level):
        points, triangles = _divided(points, triangles)
    return _voronoi(points)


def _icosahedron() -> tuple[Floats, Ints]:
    golden = (1 + np.sqrt(5)) / 2
    corners = [(0, a, b * golden) for a in (-1, 1) for b in (-1, 1)]
    points = np.array([np.roll(corner, turn) for turn in range(3) for corner in corners], dtype=np.float64)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    return points, ConvexHull(points).simplices.astype(np.intp)


def _divided(points: Floats, triangles: Ints) -> tuple[Floats, Ints]:
    """Each triangle cut into four at the middles of its sides, which are put on the sphere."""
    sides = np.sort(np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]), axis=1)
    unique, place = np.unique(sides, axis=0, return_inverse=True)
    middles = points[unique[:, 0]] + points[unique[:, 1]]
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    ab, bc, ca = (place.reshape(-1) + len(points)).reshape(3, -1)
    a, b, c = triangles.T
    parts = np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (b, bc, ab), (c, ca, bc), (ab, bc, ca))])
    return np.concatenate([points, middles]), parts


def _voronoi(points: Floats) -> Mesh:
    """The Voronoi cells of points: two cells share a face where their regions share two corners."""
    cells = SphericalVoronoi(points)
    cells.sort_vertices_of_regions()
    faces: dict[tuple[int, int], list[int]] = {}
    for cell, region in enumerate(cells.regions):
        for one, other in zip(region, [*region[1:], region[0]], strict=True):
            faces.setdefault((min(one, other), max(one, other)), []).append(cell)
    corners = np.array(list(faces))
    pairs = np.array(list(faces.values()))
    return Mesh(
        centres=points,
        areas=np.asarray(cells.calculate_areas(), dtype=np.float64),
        first=pairs[:, 0],
        second=pairs[:, 1],
        lengths=_angle(cells.vertices[corners[:, 0]], cells.vertices[corners[:, 1]]),
        distances=_angle(points[pairs[:, 0]], points[pairs[:, 1]]),
    )


def _angle(one: Floats, other: Floats) -> Floats:
    """The angle between unit vectors, exact also where it is small."""
    return 2 * np.arcsin(np.minimum(np.linalg.norm(one - other, axis=-1) / 2, 1))
