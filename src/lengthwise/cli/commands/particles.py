"""What `lengthwise particles` does: simulate, compare with theory, and write the files that were asked for."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.cli.commands.number_files import write_numbers
from lengthwise.cli.commands.particles_setting import ParticleSetting, setting_of
from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.output import narrate, warn, write_field, write_heading, write_list, write_object, written
from lengthwise.geometry.particles.comparison import compare
from lengthwise.geometry.particles.integrate import ParticleTrajectory, Progress, simulate
from lengthwise.geometry.particles.kuramoto import Kuramoto
from lengthwise.geometry.particles.noise import STEP_CHECK, NoisyTrajectory, simulate_noisy, step_claim
from lengthwise.geometry.particles.shaken import check_heads, with_noise
from lengthwise.geometry.particles.synchrony import ORDER, check_kuramoto, compare_kuramoto
from lengthwise.geometry.particles.system import System
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
    setting = setting_of(options)
    warn(setting.warnings, options.quiet)
    simulation, trajectory = _simulated(setting, options)
    if isinstance(trajectory, NoisyTrajectory) and not trajectory.checked:
        gap = f"{trajectory.order_gap:.2g}, more than {STEP_CHECK:g}"
        warn([f"with double steps the order parameter differs by up to {gap}; take a smaller --step"], options.quiet)
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


def _simulated(setting: ParticleSetting, options: argparse.Namespace) -> tuple[Simulation, ParticleTrajectory]:
    """Simulate, measure, and compare with theory."""
    quiet, beta, system = options.quiet, setting.beta, setting.system
    theory, times = _theory(setting), np.linspace(0.0, options.time, options.frames)
    with shown(quiet=quiet, title="simulating") as progress:
        trajectory = _trajectory(setting, times, options, progress)
    narrate(f"simulated to t = {times[-1]:g} in {trajectory.steps:,} steps", quiet)
    with shown(quiet=quiet, title="measuring") as progress:
        measures = measure(trajectory.times, trajectory.points, beta, progress)
    monotone = None
    if isinstance(system, System) and beta and setting.noise == 0 and system.plain:
        monotone = energy_never_falls(measures, beta, trajectory.error)
    again = f", {trajectory.rejected:,} tried again shorter" if setting.noise == 0 else ""
    simulation = Simulation(
        setting.title,
        (*setting.facts, ("integration", f"{trajectory.steps:,} steps{again}")),
        beta,
        trajectory.points,
        measures,
        theory,
        (
            *measured_claims(measures, trajectory.error, trajectory.steps, monotone),
            *_compared(setting, trajectory, theory),
        ),
        _marks_of(theory),
        _predicted_order(theory),
        system.frequencies.numpy() if isinstance(system, Kuramoto) else None,
    )
    return simulation, trajectory


def _theory(setting: ParticleSetting) -> tuple[Claim, ...]:
    system = setting.system
    if isinstance(system, Kuramoto):
        return check_kuramoto(system, setting.law, setting.noise)
    return with_noise(check_heads(setting.start, system), system, setting.noise, setting.start.shape[1])


def _trajectory(
    setting: ParticleSetting, times: np.ndarray, options: argparse.Namespace, progress: Progress
) -> ParticleTrajectory:
    if setting.noise == 0:
        return simulate(setting.system, setting.start, times, options.tolerance, progress)
    seed = options.seed or 0
    return simulate_noisy(setting.system, setting.start, times, setting.noise, seed, options.step, progress)


def _compared(setting: ParticleSetting, trajectory: ParticleTrajectory, theory: tuple[Claim, ...]) -> tuple[Claim, ...]:
    """What the simulation says of its step, where there is noise, and of the theory."""
    steps = (step_claim(trajectory),) if isinstance(trajectory, NoisyTrajectory) else ()
    if isinstance(setting.system, Kuramoto):
        return (*steps, *compare_kuramoto(theory, trajectory, setting.system))
    return steps or compare(theory, trajectory)


def _predicted_order(theory: tuple[Claim, ...]) -> float | None:
    return next((float(c.value) for c in theory if c.key == ORDER and isinstance(c.value, int | float)), None)


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
            "energy_share": None if measures.energy is None else measures.energy.tolist(),
            "order": measures.order.tolist(),
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
    """The points by time: .npz with `times`, `points` [K, n, d], `groups`, `order` and the `frequencies` of Kuramoto's
    model, or .csv with one row per token and time."""
    measures, points = simulation.measures, simulation.points

    def rows() -> Iterator[list[Any]]:
        for moment, time in enumerate(measures.times.tolist()):
            for token, place in enumerate(points[moment].tolist()):
                yield [time, token, int(measures.groups[moment, token]), *place]

    head = ["time", "token", "group", *(f"x{axis + 1}" for axis in range(points.shape[2]))]
    arrays = {"times": measures.times, "points": points, "groups": measures.groups, "order": measures.order}
    if simulation.frequencies is not None:
        arrays["frequencies"] = simulation.frequencies
    write_numbers(path, head, rows(), arrays)


# What writes the files that can be asked for, by option.
_WRITERS: dict[str, Callable[[Simulation, Path], object]] = {
    "page": write_page,
    "gif": write_gif,
    "video": write_video,
    "out": _write_data,
}
