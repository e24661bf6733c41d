"""Pictures of single moments as SVG, for readers without scripts and for paper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lengthwise.reports.particles.view import View, grid_lines, look_of, outline

RADIUS = 100.0
_MARGIN = 12.0
_SIZE = 3.4  # of a token


def still(view: View, groups: np.ndarray, moment: int) -> str:
    """One moment as SVG: the sphere with its grid, tokens behind it faint, tokens in front in their group's look."""
    side = 2 * (RADIUS + _MARGIN)
    seen = view.points[moment] @ view.rotation.T
    parts = [f'<circle class="rim" cx="0" cy="0" r="{RADIUS:g}"/>']
    if not view.flat:
        parts += [_line(run, "front" if front else "behind") for run, front in grid_lines(view.rotation)]
    for token in np.argsort(seen[:, 2], kind="stable"):
        parts.append(_token(seen[token], int(groups[moment, token])))
    box = f"{-side / 2:g} {-side / 2:g} {side:g} {side:g}"
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{box}">{"".join(parts)}</svg>'


def moments_shown(times: Sequence[float] | np.ndarray) -> list[int]:
    """The start, an early moment and the end: of what moves ever more slowly the middle is like the end."""
    last = len(times) - 1
    return sorted({0, min(last, max(1, round(last / 8))), last})


def symbol(group: int) -> str:
    """The look of a group by itself, for a legend."""
    return (
        f'<svg class="symbol" viewBox="-6 -6 12 12" aria-hidden="true">{_token(np.array([0.0, 0.0, 1.0]), group)}</svg>'
    )


def _line(run: np.ndarray, kind: str) -> str:
    return f'<polyline class="grid {kind}" points="{_corners(RADIUS * run)}"/>'


def _token(place: np.ndarray, group: int) -> str:
    x, y = RADIUS * place[:2]
    depth = "" if place[2] >= 0 else ' opacity="0.35"'
    if group < 0:
        return f'<circle class="alone" cx="{x:.1f}" cy="{-y:.1f}" r="{0.75 * _SIZE:.1f}"{depth}/>'
    colour, shape = look_of(group)
    return f'<polygon points="{_corners(np.array([x, y]) + outline(shape, _SIZE))}" fill="{colour}"{depth}/>'


def _corners(points: np.ndarray) -> str:
    """Corners with y down, as SVG has it."""
    return " ".join(f"{x:.1f},{-y:.1f}" for x, y in points)
