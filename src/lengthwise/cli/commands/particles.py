"""What `lengthwise particles` does: simulate, compare with theory, and write the files that were asked for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from lengthwise.cli.commands.number_files import write_numbers
from lengthwise.cli.commands.particles_inputs import ParticleSetting, chosen_setting
from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.output import narrate, warn, write_field, write_heading, write_list, write_object, written
from lengthwise.geometry.particles.comparison import compare
from lengthwise.geometry.particles.integrate import ParticleTrajectory, simulate
from lengthwise.geometry.particles.theorems import check
from lengthwise.progress import shown
from lengthwise.records import Claim, json_ready
from lengthwise.reports.particles.film import check_film_tools, write_gif, write_video
from lengthwise.reports.particles.page import write_page
from lengthwise.reports.particles.simulation import (
    TITLES,
    Mark,
    Simulation,
    energy_never_falls,
    measure,
    measured_claims,
    readable,
    some_moments,
)

_NAMES = {"particles.caps_shrink": "T1: caps have shrunk", "particles.caps_stay": "T2: caps still persist"}


def run(options: argparse.Namespace) -> int:
    if options.gif is not None or options.video is not None:
        check_film_tools(options.gif is not None, options.video is not None)
    setting = chosen_setting(options)
    warn(list(setting.warnings), options.quiet)
    simulation, trajectory = _simulated(setting, options.quiet)
    files = {option: name for option in _WRITERS if (name := getattr(options, option)) is not None}
    for option, name in files.items():
        with written(name, options.quiet, option):
            _WRITERS[option](simulation, Path(name))
    if options.json:
        write_object("particles", {**_plain(simulation, trajectory), "files": files})
        return 0
    _write(simulation)
    for name in files.values():
        print(f"\n{name}")
    return 0


def _simulated(setting: ParticleSetting, quiet: bool) -> tuple[Simulation, ParticleTrajectory]:
    """Simulate, measure, and compare with theory."""
    theory = check(setting.start, setting.system)
    with shown(quiet=quiet, title="simulating") as progress:
        trajectory = simulate(setting.system, setting.start, setting.times, setting.tolerance, progress)
    narrate(f"simulated to t = {setting.times[-1]:g} in {trajectory.steps:,} steps", quiet)
    n, d = setting.start.shape
    with shown(quiet=quiet, title="measuring") as progress:
        measures = measure(trajectory.times, trajectory.points, setting.beta, progress)
    monotone = None
    if setting.attracts and setting.beta > 0:
        monotone = energy_never_falls(measures, setting.beta, trajectory.error)
    simulation = Simulation(
        f"{n:,} token{'' if n == 1 else 's'} in {d} dimensions, {setting.system.kind}, β = {setting.beta:g}",
        (*setting.facts, ("integration", f"{trajectory.steps:,} steps, {trajectory.rejected:,} tried again shorter")),
        setting.beta,
        trajectory.points,
        measures,
        theory,
        (*measured_claims(measures, trajectory.error, trajectory.steps, monotone), *compare(theory, trajectory)),
        _marks_of(theory),
    )
    return simulation, trajectory


def _marks_of(theory: tuple[Claim, ...]) -> tuple[Mark, ...]:
    """The times that theorems name, where they are finite and say something."""
    return tuple(
        Mark(float(claim.value), _NAMES[claim.key])
        for claim in theory
        if claim.key in _NAMES and claim.status == "holds" and isinstance(claim.value, float) and claim.value < 1e300
    )


def _plain(simulation: Simulation, trajectory: ParticleTrajectory) -> dict[str, Any]:
    measures = simulation.measures
    return {
        "title": simulation.title,
        "facts": dict(simulation.facts),
        "steps": trajectory.steps,
        "rejected": trajectory.rejected,
        "error": trajectory.error,
        "moments": {
            "time": measures.times.tolist(),
            "groups": measures.components.tolist(),
            "alone": measures.alone.tolist(),
            "N_beta": None if measures.own is None else measures.own.tolist(),
            "N_20": measures.fixed.tolist(),
            "energy_share": measures.energy.tolist(),
        },
        "theory": [json_ready(claim.plain()) for claim in simulation.theory],
        "measured": [json_ready(claim.plain()) for claim in simulation.measured],
    }


def _write(simulation: Simulation) -> None:
    print(simulation.title)
    for label, text in simulation.facts:
        write_field(label, text)
    write_heading("What theory predicts for this start")
    write_list(_sentence(claim) for claim in simulation.theory if claim.status != "unknown")
    if silent := [claim for claim in simulation.theory if claim.status == "unknown"]:
        print("\nTheory says nothing here about:")
        write_list(map(_why_silent, silent), "- ")
    write_heading("What the simulation did")
    write_grid(TITLES, some_moments(simulation.measures), ())
    print()
    write_list(map(_sentence, simulation.measured))


def _sentence(claim: Claim) -> str:
    """The claim, what it takes for granted, and where it comes from."""
    taken = [assumption.statement for assumption in claim.assumptions if assumption.check == "assumed"]
    text = str(readable(claim)) + (f"; assumed: {'; '.join(taken)}" if taken else "")
    return text if claim.reference is None else f"{text} [{claim.reference}]"


def _why_silent(claim: Claim) -> str:
    """A claim that could not be made, with what is missing for it."""
    violated = [assumption.statement for assumption in claim.assumptions if assumption.check == "violated"]
    assumed = [assumption.statement for assumption in claim.assumptions if assumption.check == "assumed"]
    reason = f"it does not hold that {'; '.join(violated)}" if violated else f"it needs that {'; '.join(assumed)}"
    return f"{claim.title} ({reason})" if violated or assumed else claim.title


def _write_data(simulation: Simulation, path: Path) -> None:
    """The points by time: .npz with `times`, `points` [K, n, d] and `groups`, or .csv with one row per token and
    time."""
    measures, points = simulation.measures, simulation.points

    def rows() -> Iterator[list[Any]]:
        for moment, time in enumerate(measures.times.tolist()):
            for token, place in enumerate(points[moment].tolist()):
                yield [time, token, int(measures.groups[moment, token]), *place]

    head = ["time", "token", "group", *(f"x{axis + 1}" for axis in range(points.shape[2]))]
    arrays = {"times": measures.times, "points": points, "groups": measures.groups}
    write_numbers(path, head, rows(), arrays)


# What writes the files that can be asked for, by option.
_WRITERS: dict[str, Callable[[Simulation, Path], object]] = {
    "page": write_page,
    "gif": write_gif,
    "video": write_video,
    "output": _write_data,
}
