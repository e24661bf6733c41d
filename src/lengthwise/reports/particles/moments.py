"""The numbers at a few moments, for those who read rather than look."""

from __future__ import annotations

from lengthwise.reports.particles.simulation import FIXED_SCALE, Measures

TITLES = ("time", "groups", "tokens alone", "N, κ = β", f"N, κ = {FIXED_SCALE:g}", "energy, share")
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
            f"{measures.energy[place]:.4g}",
        )
        for place in sorted({round(last * share) for share in _SHARES})
    ]
