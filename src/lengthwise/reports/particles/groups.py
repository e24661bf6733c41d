"""Which tokens are together at each moment, under names that stay the same while a group stays together."""

from __future__ import annotations

import numpy as np

from lengthwise.geometry.clusters.groups import labels


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
