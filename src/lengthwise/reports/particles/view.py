"""How tokens of any dimension become a picture: three coordinates, a direction to look from, colours and shapes, and
single moments as SVG, for readers without scripts and for paper."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lengthwise.figures import design

COLOURS = design.series("series", 6)
SHAPES = ("circle", "square", "triangle", "diamond", "wedge")  # 6 colours and 5 shapes make 30 pairs, all different
ALONE = design.value("grey")
_RADIUS, _MARGIN = 100.0, 12.0  # of the sphere in a still
_SIZE = 3.4  # of a token


@dataclass(frozen=True, eq=False)
class View:
    """Tokens in three coordinates [K, n, 3], and the rotation [3, 3] of the first look: x right, y up, z to the reader.

    `flat` says that tokens live on a circle; `kept` is the mean squared length left by the projection, 1 where there
    was none. `words` say what is drawn.
    """

    points: np.ndarray
    rotation: np.ndarray
    flat: bool
    kept: float
    words: str


def viewed(points: np.ndarray) -> View:
    """The view of points [K, n, d]. In more than three dimensions it is the three principal directions, those that
    keep the most of the squared length over all moments together; such tokens lie inside the sphere, not on it."""
    dimension = points.shape[2]
    if dimension == 2:
        flat = np.concatenate([points, np.zeros((*points.shape[:2], 1))], axis=2)
        return View(flat, np.eye(3), True, 1.0, "the circle on which the tokens live")
    if dimension == 3:
        return View(points, _rotation(points[-1]), False, 1.0, "the sphere on which the tokens live")
    drawn, kept = _principal(points)
    words = (
        f"the three leading principal directions of {dimension} dimensions, which keep {100 * kept:.0f} % of the "
        "squared length; tokens inside the sphere point out of the picture's space"
    )
    return View(drawn, _rotation(drawn[-1]), False, kept, words)


def _principal(points: np.ndarray) -> tuple[np.ndarray, float]:
    flat = points.reshape(-1, points.shape[2])
    _, directions = np.linalg.eigh(flat.T @ flat)  # ascending
    leading = directions[:, -3:][:, ::-1]
    leading = leading * np.where(
        leading[np.abs(leading).argmax(axis=0), range(3)] < 0, -1.0, 1.0
    )  # LAPACK takes either
    drawn = points @ leading
    return drawn, float((drawn**2).sum(axis=2).mean())


def _rotation(last: np.ndarray) -> np.ndarray:
    """Look at where the tokens end, from slightly to the side, so that the first view shows how they arrive."""
    mean = last.mean(axis=0)
    length = np.linalg.norm(mean)
    forward = mean / length if length > 1e-6 else np.array([0.0, 0.0, 1.0])
    helper = np.eye(3)[np.argmin(np.abs(forward))]
    right = np.cross(helper, forward)
    right /= np.linalg.norm(right)
    facing = np.stack([right, np.cross(forward, right), forward])
    return _turn(np.radians(25), np.radians(20)) @ facing


def _turn(about_y: float, about_x: float) -> np.ndarray:
    c, s, e, f = np.cos(about_y), np.sin(about_y), np.cos(about_x), np.sin(about_x)
    return np.array([[1, 0, 0], [0, e, -f], [0, f, e]]) @ np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def grid_lines(rotation: np.ndarray, points: int = 49) -> list[tuple[np.ndarray, bool]]:
    """Meridians and parallels as seen: polylines [m, 2], and whether they are in front."""
    around, along = np.linspace(0, 2 * np.pi, points), np.linspace(-np.pi / 2, np.pi / 2, points)
    circles = [
        np.stack([np.cos(a) * np.cos(along), np.sin(along), np.sin(a) * np.cos(along)], axis=1)
        for a in np.arange(12) * np.pi / 6
    ] + [
        np.stack([np.cos(p) * np.cos(around), np.full(points, np.sin(p)), np.cos(p) * np.sin(around)], axis=1)
        for p in np.radians([-60, -30, 0, 30, 60])
    ]
    return [run for circle in circles for run in _runs(circle @ rotation.T)]


def _runs(seen: np.ndarray) -> list[tuple[np.ndarray, bool]]:
    """A curve cut where it passes the edge of the sphere; neighbouring runs share the point at the cut."""
    front = seen[:, 2] >= 0
    cuts = [0, *(np.flatnonzero(front[1:] != front[:-1]) + 1), len(seen)]
    return [(seen[a : b + 1, :2], bool(front[a])) for a, b in itertools.pairwise(cuts)]


def outline(shape: str, size: float) -> np.ndarray:
    """The corners [m, 2] of a shape about the origin, y up, all of about the same area; a circle has 20."""
    if shape == "circle":
        angles = np.arange(20) * 2 * np.pi / 20
        return size * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    if shape == "square":
        return size * 0.89 * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    if shape == "diamond":
        return size * 1.25 * np.array([[0, -1], [1, 0], [0, 1], [-1, 0]])
    triangle = size * 1.3 * np.array([[0, 1.02], [-0.98, -0.68], [0.98, -0.68]])
    return triangle if shape == "triangle" else -triangle


def look_of(group: int) -> tuple[str, str]:
    """The colour and the shape of a group."""
    return COLOURS[group % len(COLOURS)], SHAPES[group % len(SHAPES)]


def still(view: View, groups: np.ndarray, moment: int) -> str:
    """One moment as SVG: the sphere with its grid, tokens behind it faint, tokens in front in their group's look."""
    side = 2 * (_RADIUS + _MARGIN)
    seen = view.points[moment] @ view.rotation.T
    parts = [f'<circle class="rim" cx="0" cy="0" r="{_RADIUS:g}"/>']
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


def _line(run: np.ndarray, kind: str) -> str:
    return f'<polyline class="grid {kind}" points="{_corners(_RADIUS * run)}"/>'


def _token(place: np.ndarray, group: int) -> str:
    x, y = _RADIUS * place[:2]
    depth = "" if place[2] >= 0 else ' opacity="0.35"'
    if group < 0:
        return f'<circle class="alone" cx="{x:.1f}" cy="{-y:.1f}" r="{0.75 * _SIZE:.1f}"{depth}/>'
    colour, shape = look_of(group)
    return f'<polygon points="{_corners(np.array([x, y]) + outline(shape, _SIZE))}" fill="{colour}"{depth}/>'


def _corners(points: np.ndarray) -> str:
    """Corners with y down, as SVG has it."""
    return " ".join(f"{x:.1f},{-y:.1f}" for x, y in points)
