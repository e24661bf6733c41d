"""The page of a simulation: a sphere to turn, time to move through, and what was measured; whole without a script too.

Text reaches the page through Jinja with every sign escaped, or as JSON in a block that is no script. Places are stored
as whole numbers of 16 bits, coordinates times 32,000, so that 256 tokens at 200 moments take half a megabyte.
"""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.analyses.words import counted
from lengthwise.reports.particles.charts import WIDTH, Chart, charts
from lengthwise.reports.particles.simulation import THRESHOLD, TITLES, Simulation, readable, some_moments
from lengthwise.reports.particles.view import COLOURS, SHAPES, View, moments_shown, outline, still, viewed
from lengthwise.reports.record_section import asset, claim_row, marked, page_style, rendered, write_page_file

DRAWN = 512  # tokens on the page; measures are of all
_STEPS = 32_000


def write_page(simulation: Simulation, path: Path) -> Path:
    """Write the page, whole or not at all."""
    return write_page_file(path, render_page(simulation))


def render_page(simulation: Simulation) -> str:
    """The page as text."""
    measures, drawn = simulation.measures, charts(simulation)
    view = viewed(simulation.points[:, :DRAWN])
    style, script = page_style("particles"), asset("particles.js")
    values = {
        "simulation": simulation,
        "words": in_words(simulation),
        "view": view,
        "left_out": max(0, simulation.points.shape[1] - DRAWN),
        "stills": [
            (f"t = {measures.times[place]:.3g}", marked(still(view, measures.groups, place)))
            for place in moments_shown(measures.times)
        ],
        "charts": [(chart, marked(chart.drawing)) for chart in drawn],
        "titles": TITLES,
        "threshold": f"{THRESHOLD:g}",
        "moments": some_moments(measures),
        "theory": [claim_row(readable(claim)) for claim in simulation.theory if claim.status != "unknown"],
        "silent": [claim_row(readable(claim)) for claim in simulation.theory if claim.status == "unknown"],
        "measured": [claim_row(readable(claim)) for claim in simulation.measured],
    }
    return rendered("particles.html.jinja", values, _data(simulation, view, drawn), style, (script,))


def in_words(simulation: Simulation) -> str:
    """The simulation in one or two sentences."""
    measures = simulation.measures
    first, last = measures.times[0], measures.times[-1]
    apart, together = int(measures.components[0]), int(measures.components[-1])
    text = (
        f"{counted(simulation.points.shape[1], 'token')} {'form' if simulation.points.shape[1] > 1 else 'forms'} "
        f"{counted(apart, 'group')} at t = {first:g} and {counted(together, 'group')} at t = {last:g}"
    )
    if measures.own is not None:
        text += f"; the cluster number N goes from {measures.own[0]:.3g} to {measures.own[-1]:.3g}"
    if measures.energy is None:
        text += f"; the order parameter r goes from {measures.order[0]:.2f} to {measures.order[-1]:.2f}"
    return text + "."


def _data(simulation: Simulation, view: View, drawn: list[Chart]) -> dict[str, Any]:
    """What the script needs, small."""
    measures = simulation.measures
    places = np.round(view.points * _STEPS).astype("<i2")
    groups = np.ascontiguousarray(measures.groups[:, :DRAWN].astype("<i2"))
    return {
        "tokens": view.points.shape[1],
        "times": [float(f"{time:.6g}") for time in measures.times],
        "steps": _STEPS,
        "places": base64.b64encode(places.tobytes()).decode(),
        "groups": base64.b64encode(groups.tobytes()).decode(),
        "rotation": [round(float(entry), 6) for entry in view.rotation.ravel()],
        "flat": view.flat,
        "components": measures.components.tolist(),
        "own": None if measures.own is None else [float(f"{value:.4g}") for value in measures.own],
        "order": [float(f"{value:.3g}") for value in measures.order],
        "colours": list(COLOURS),
        "shapes": [np.round(outline(shape, 1.0), 3).tolist() for shape in SHAPES],
        "axes": [chart.left for chart in drawn],
        "axisWidth": WIDTH,
    }
