"""The constraints `f_i + g_j <= c_ij` that potentials break: found among all pairs, or among those that can be new.

A pair that was in order stays so unless its f or its g has risen, and the last pivots move few potentials. So after the
first look only rows and columns that have risen are looked at, and rows that had more broken pairs than were taken.
"""

from __future__ import annotations

import numpy as np

from lengthwise.transport.problem import Cost, Floats, Ints
from lengthwise.transport.solvers.scan import smallest
from lengthwise.transport.solvers.simplex import ROUNDING

Pairs = tuple[Ints, Ints, Floats]


class Watch:
    """What the last look saw. Pairs it returned are in order ever after, as the caller makes arcs of them."""

    def __init__(self, cost: Cost, worst: int) -> None:
        n, m = cost.shape
        self.cost, self.worst = cost, worst
        self.f, self.g = np.full(n, -np.inf), np.full(m, -np.inf)
        self.more = np.ones(n, bool)

    def broken(self, f: Floats, g: Floats) -> Pairs:
        """Rows, columns and costs of broken pairs, the `worst` of each row; empty when no pair is broken.

        Time O(n m d) for the first look, then O((risen rows m + risen columns n) d).
        """
        # Adding a number to f and taking it from g changes nothing; what most rows did is taken as that number.
        shift = 0.0 if self.more.all() else float(np.median(f - self.f))
        rows = self.more | (f - self.f - shift > ROUNDING * (np.abs(f) + abs(shift)))
        columns = np.flatnonzero(g - self.g + shift > ROUNDING * (np.abs(g) + abs(shift)))
        rest = np.flatnonzero(~rows)
        self.f, self.g, self.more = f.copy(), g.copy(), np.zeros(len(f), bool)
        bar = f - ROUNDING * np.abs(f)
        found = [self._taken(*smallest(self.cost, g, self.worst, np.where(rows, bar, -np.inf)), np.arange(len(f)))]
        if len(rest) and len(columns):
            chosen, costs = smallest(self.cost.part(rest, columns), g[columns], self.worst, bar[rest])
            found.append(self._taken(np.where(chosen < 0, -1, columns[chosen]), costs, rest))
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True))  # pyright: ignore[reportReturnType]

    def _taken(self, chosen: Ints, costs: Floats, rows: Ints) -> Pairs:
        places, ranks = np.nonzero(chosen >= 0)
        self.more[rows[chosen[:, -1] >= 0]] = True
        return rows[places], chosen[places, ranks], costs[places, ranks]
