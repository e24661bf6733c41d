"""A density in time as a picture and as claims: heat over angle and time, peaks, and the rates of the first waves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.style import (
    GREY,
    PALETTE,
    PAPER_INK,
    config,
    gradient_below,
    heat_colours,
    thinned,
    whole_axis,
)
from lengthwise.geometry.mean_field import HEIGHT, DensityPath, fastest_degree, growth_rate, peaks
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference

_WIDTH = 420
_TIMES, _ARCS, _RINGS = 80, 90, 24  # cells of the heat
_FAINTEST = 0.01  # of the uniform density; the colour of all below
HERE = Reference("docs/explanation/theorems-particles.md", "mean field")

explain(
    {
        "density.crests": "crests of the wave that grows fastest",
        "density.degree": "degree of the waves that grow fastest",
        "density.rate": "its rate of growth",
        "density.most_peaks": "greatest number of peaks",
        "density.last_peaks": "peaks at t = {time:g}",
        "density.energy_rises": "the energy never falls",
        "density.mass": "mass lost or gained, at most",
        "density.drift": "change of the uniform density by the mesh alone, per unit of time",
        "density.small": "the disturbance is small, and no wave starts far above the others",
    }
)


@dataclass(frozen=True, eq=False)
class Gathering:
    """A density in time with what was counted: `peaks` [K], and the drift of the mesh by itself in a unit of time."""

    path: DensityPath
    peaks: np.ndarray
    noise: float
    drift: float

    @property
    def d(self) -> int:
        return self.path.mesh.centres.shape[1]

    @property
    def degree(self) -> int:
        return fastest_degree(self.path.kind, self.path.beta, self.d)  # pyright: ignore[reportArgumentType]


def gathering(path: DensityPath, noise: float, drift: float) -> Gathering:
    """Count the peaks at every time."""
    return Gathering(path, np.array([peaks(path.mesh, masses) for masses in path.masses]), noise, drift)


def density_claims(found: Gathering) -> tuple[Claim, ...]:
    """What linear theory predicts about the first peaks, and what the density did."""
    path, degree = found.path, found.degree
    rate = growth_rate(path.kind, path.beta, degree, found.d)  # pyright: ignore[reportArgumentType]
    small = (Assumption("density.small"),)
    crests = {"radians_between_crests": 2 * np.pi / (degree if found.d == 2 else degree + 0.5), "rate": rate}
    key = "density.crests" if found.d == 2 else "density.degree"
    most = int(found.peaks.max())
    when, last = float(path.times[int(np.argmax(found.peaks))]), float(path.times[-1])
    seen = {"cells": len(path.mesh.areas), "steps": path.steps, "height": HEIGHT, "noise": found.noise}
    falls = float(np.diff(path.energy).min(initial=0.0))
    steady = falls >= -1e-12 * max(1.0, float(np.abs(path.energy).max()))
    claims = [
        Claim(key, degree, "", "predicted", assumptions=small, reference=HERE, evidence=crests),
        Claim("density.rate", rate, "per unit of time", "predicted", assumptions=small, reference=HERE),
        Claim("density.most_peaks", most, "", "measured", evidence={**seen, "first_at_time": when}),
        Claim("density.last_peaks", int(found.peaks[-1]), "", "measured", evidence={**seen, "time": last}),
        Claim("density.energy_rises", steady, "", "measured", evidence={"greatest_fall": -falls}),
        Claim("density.mass", float(np.abs(path.masses.sum(1) - 1).max()), "", "measured", evidence=seen),
    ]
    if found.d == 3:
        claims.append(Claim("density.drift", found.drift, "share", "measured"))
    return tuple(claims)


def save_density(path: Path, found: Gathering, words: Sequence[str]) -> None:
    """Write the picture as .svg, .png or .html, by the file's ending."""
    save_chart(path, density_chart(found), f"A density on the {'circle' if found.d == 2 else 'sphere'}", words)


def density_chart(found: Gathering) -> Any:
    """Heat above, the number of peaks below it on the same axis of time, and the rates of the first waves."""
    panels = alt.vconcat(_heat(found), _counts(found), _rates(found)).resolve_scale(color="independent")
    style = config(PAPER_INK)
    style["title"] |= {"frame": "group"}  # titles begin where the axes do
    return panels.configure(**style).properties(background="white")


def heat_cells(found: Gathering) -> list[dict[str, float]]:
    """Rectangles of time and angle with the density as a multiple of the uniform one.

    On the circle the angle is that of the place. On the sphere it is the angle from the place where the density is
    greatest at the end, and the density is the mean over the ring of places at that angle.
    """
    path, mesh = found.path, found.path.mesh
    if found.d == 2:
        angles = np.degrees(np.arctan2(mesh.centres[:, 1], mesh.centres[:, 0])) % 360
        edges = np.linspace(0, 360, min(_ARCS, len(angles)) + 1)
    else:
        pole = mesh.centres[int(np.argmax(path.density[-1]))]
        angles = np.degrees(np.arccos(np.clip(mesh.centres @ pole, -1, 1)))
        edges = np.linspace(0, 180, _RINGS + 1)
    usual = np.histogram(angles, edges, weights=mesh.uniform())[0]
    rows: list[dict[str, float]] = []
    for here, after in itertools.pairwise(thinned(range(len(path.times)), _TIMES + 1)):
        held = np.histogram(angles, edges, weights=path.masses[here])[0]
        for cell in np.flatnonzero(usual > 0):
            rows.append(
                {
                    "t0": float(path.times[here]),
                    "t1": float(path.times[after]),
                    "a0": round(float(edges[cell]), 3),
                    "a1": round(float(edges[cell + 1]), 3),
                    "value": float(f"{max(_FAINTEST, held[cell] / usual[cell]):.3g}"),
                }
            )
    return rows


def _heat(found: Gathering) -> Any:
    cells = heat_cells(found)
    top = max(10.0, max(cell["value"] for cell in cells))
    legend = gradient_below("density / uniform", format="~g", tickCount=4)
    span = [0, 360] if found.d == 2 else [0, 180]
    named = "angle, degrees" if found.d == 2 else "angle from the last peak, degrees"
    heat = alt.Chart(alt.Data(values=cells), mark="rect").encode(
        x=_time(found, "t0"),
        x2="t1:Q",
        y=alt.Y("a0:Q", title=named, scale=alt.Scale(domain=span, nice=False), axis=alt.Axis(tickCount=7)),
        y2="a1:Q",
        **heat_colours("value", _FAINTEST, top, legend, type="log"),
    )
    place = "circle" if found.d == 2 else "sphere, in rings about its last peak"
    title = f"Density on the {place}: {found.path.kind}, β = {found.path.beta:g}"
    return heat.properties(width=_WIDTH, height=220, title=title)


def _counts(found: Gathering) -> Any:
    rows = [{"time": float(t), "peaks": int(p)} for t, p in zip(found.path.times, found.peaks, strict=True)]
    top = max(int(found.peaks.max()), found.degree if found.d == 2 else 0) + 1
    upward = alt.Scale(domain=[0, top], nice=False)
    line = alt.Chart(alt.Data(values=rows)).mark_line(interpolate="step-after", strokeWidth=2, color=PALETTE[0])
    line = line.encode(x=_time(found, "time"), y=alt.Y("peaks:Q", title="peaks", scale=upward, axis=whole_axis()))
    size = {"width": _WIDTH, "height": 120, "title": f"Peaks: places denser than {HEIGHT:g} times the uniform density"}
    if found.d != 2:
        return line.properties(**size)
    data = alt.Chart(alt.Data(values=[{"at": found.degree, "label": f"linear theory: {found.degree}"}]))
    rule = data.mark_rule(strokeDash=[4, 3], color=PAPER_INK).encode(y="at:Q")
    text = data.mark_text(align="right", baseline="bottom", dx=-4, dy=-3).encode(
        x=alt.value("width"), y="at:Q", text="label:N"
    )
    return alt.layer(line, rule, text).properties(**size)


def _rates(found: Gathering) -> Any:
    path, degree = found.path, found.degree
    rows = [
        {"degree": one, "rate": growth_rate(path.kind, path.beta, one, found.d), "fastest": one == degree}  # pyright: ignore[reportArgumentType]
        for one in range(1, 2 * degree + 4)
    ]
    title = "crests around the circle" if found.d == 2 else "degree of the wave"
    colours = alt.Scale(domain=[True, False], range=[PALETTE[0], GREY])
    bars = alt.Chart(alt.Data(values=rows), mark="bar").encode(
        x=alt.X("degree:O", title=title, axis=alt.Axis(labelAngle=0)),
        y=alt.Y("rate:Q", title="per unit of time"),
        color=alt.Color("fastest:N", scale=colours, legend=None),
    )
    return bars.properties(width=_WIDTH, height=120, title="How fast each wave grows on the uniform density")


def _time(found: Gathering, column: str) -> Any:
    span = [float(found.path.times[0]), float(found.path.times[-1])]
    return alt.X(f"{column}:Q", title="time", scale=alt.Scale(domain=span, nice=False), axis=alt.Axis(tickCount=8))
