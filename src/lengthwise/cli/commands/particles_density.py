"""What `lengthwise particles density` does: move a density of infinitely many tokens, and show what became of it."""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import Literal

import numpy as np

from lengthwise.cli.commands.number_files import write_numbers
from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.output import narrate, wrapped, write_list, write_object, written
from lengthwise.cli.particle_options import CELLS, GROWTHS, LEVEL
from lengthwise.errors import UsageError
from lengthwise.figures.style import thinned
from lengthwise.geometry.mean_field import HEIGHT, Mesh, circle, fastest_degree, flow, growth_rate, noisy, sphere
from lengthwise.progress import shown
from lengthwise.reports.particles.density import Gathering, density_claims, gathering, save_density

NOISE = {2: 0.01, 3: 0.05}  # on the sphere it must be seen above what the mesh does by itself

MOST_STEPS = 1_000_000
_ROWS = 9  # moments in the printed table


def run(options: argparse.Namespace) -> int:
    kind = _check(options)
    options.noise = NOISE[options.d] if options.noise is None else options.noise
    found = _moved(options, kind)
    words = _words(options, found)
    files = _write_files(options, found, words)
    claims = density_claims(found)
    if options.json:
        moments = {"time": found.path.times.tolist(), "peaks": found.peaks.tolist()}
        plain = [claim.plain() for claim in claims]
        write_object("particles density", {"words": words, "moments": moments, "claims": plain, "files": files})
        return 0
    for text in words:
        print(wrapped(text))
    highest = (found.path.masses / found.path.mesh.uniform()).max(1)
    rows = [
        [float(found.path.times[place]), int(found.peaks[place]), float(highest[place])]
        for place in thinned(range(len(found.path.times)), _ROWS)
    ]
    print()
    write_grid(["time", "peaks", "greatest density / uniform"], rows, ())
    print()
    taken = ["; ".join(assumption.statement for assumption in claim.assumptions) for claim in claims]
    write_list(f"{claim}; assumed: {own}" if own else str(claim) for claim, own in zip(claims, taken, strict=True))
    return 0


def _check(options: argparse.Namespace) -> Literal["SA", "USA"]:
    if options.d not in (2, 3):
        raise UsageError(
            f"--d must be 2, a circle, or 3, a sphere, not {options.d}; `lengthwise particles` takes others"
        )
    if not 0 <= options.beta < 700:
        raise UsageError(f"--beta must be a number from 0 to below 700, not {options.beta:g}")
    for name, needs in (("cells", 2), ("level", 3)):
        if getattr(options, name) is not None and options.d != needs:
            raise UsageError(f"--{name} goes with --d {needs}")
    if options.cells is not None and not 16 <= options.cells <= 5000:
        raise UsageError(f"--cells must be from 16 to 5,000, not {options.cells}")
    return "SA" if options.dynamics == "sa" else "USA"


def _mesh(options: argparse.Namespace) -> Mesh:
    if options.d == 2:
        return circle(CELLS if options.cells is None else options.cells)
    return sphere(LEVEL if options.level is None else options.level)


def _moved(options: argparse.Namespace, kind: Literal["SA", "USA"]) -> Gathering:
    """Move the density, and on the sphere also the uniform one, which the mesh alone disturbs."""
    mesh = _mesh(options)
    start = noisy(mesh, options.noise, options.seed or 0)
    rate = growth_rate(kind, options.beta, fastest_degree(kind, options.beta, options.d), options.d)
    last = options.time or float(f"{GROWTHS / rate:.2g}")
    speed = 1.0 if kind == "SA" else math.exp(options.beta)
    steps = 2 * last * speed / float(mesh.distances.min())
    if steps > MOST_STEPS:
        raise UsageError(f"this could take {steps:.1e} steps; take a shorter --time, a smaller --beta or fewer cells")
    times = np.linspace(0, last, options.frames)
    with shown(quiet=options.quiet, title="moving") as progress:
        path = flow(mesh, start, kind, options.beta, times, 2 if options.d == 2 else 1, progress)
    narrate(f"moved to t = {last:g} in {path.steps:,} steps", options.quiet)
    drift = 0.0
    if options.d == 3:
        unit = min(1.0, last)
        after = flow(mesh, mesh.uniform(), kind, options.beta, [unit]).masses[0]
        drift = float(np.abs(after / mesh.uniform() - 1).max()) / unit
    return gathering(path, options.noise, drift)


def _words(options: argparse.Namespace, found: Gathering) -> list[str]:
    place = "circle" if found.d == 2 else "sphere"
    words = [
        f"A density on the {place}, {found.path.kind} with Q = K = V = I and beta = {found.path.beta:g}, on "
        f"{len(found.path.mesh.areas):,} cells; the start is uniform but for {100 * options.noise:g} % of noise, seed "
        f"{options.seed or 0}. A peak is a connected place where the density is above {HEIGHT:g} times the uniform one."
    ]
    if found.d == 3:
        words.append(
            "Linear theory names a degree here, not a number of clusters. The mesh disturbs the uniform density by "
            f"{found.drift:.1e} of it in a unit of time; noise that is not far above that gathers where the mesh says."
        )
    return words


def _write_files(options: argparse.Namespace, found: Gathering, words: list[str]) -> dict[str, str]:
    if options.figure is not None:
        with written(options.figure, options.quiet):
            save_density(Path(options.figure), found, words)
    if options.out is not None:
        with written(options.out, options.quiet, "out"):
            _write_data(Path(options.out), found)
    return {name: given for name in ("figure", "out") if (given := getattr(options, name)) is not None}


def _write_data(path: Path, found: Gathering) -> None:
    """The density in time: .npz with `times`, `centres`, `areas`, `density` [K, cells]; .csv with one row per cell."""
    moved, mesh = found.path, found.path.mesh
    arrays = {"times": moved.times, "centres": mesh.centres, "areas": mesh.areas, "density": moved.density}
    rows = (
        [time, *place, value]
        for time, values in zip(moved.times.tolist(), moved.density.tolist(), strict=True)
        for place, value in zip(mesh.centres.tolist(), values, strict=True)
    )
    write_numbers(path, ["time", *(f"x{axis + 1}" for axis in range(found.d)), "density"], rows, arrays)
