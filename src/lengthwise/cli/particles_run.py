"""One simulation for the command line: progress while it goes on, then measures and claims."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lengthwise.cli.line_progress import line_shown
from lengthwise.cli.output import narrate

if TYPE_CHECKING:
    from lengthwise.cli.particles_inputs import Setting
    from lengthwise.geometry.particles.integrate import ParticleTrajectory
    from lengthwise.records import Claim
    from lengthwise.reports.particles.simulation import Mark, Simulation

_NAMES = {"particles.caps_shrink": "T1: caps have shrunk", "particles.caps_stay": "T2: caps still persist"}


def simulated(setting: Setting, quiet: bool) -> tuple[Simulation, ParticleTrajectory]:
    """Simulate, measure, and set theory beside it."""
    from lengthwise.geometry.particles.integrate import simulate
    from lengthwise.geometry.particles.theorems import check
    from lengthwise.reports.particles.simulation import (
        Simulation,
        energy_never_falls,
        measure,
        measured_claims,
    )

    theory = check(setting.start, setting.system)
    with time_reached(float(setting.times[-1]), quiet) as listener:
        trajectory = simulate(setting.system, setting.start, setting.times, setting.tolerance, listener)
    narrate(f"simulated to t = {setting.times[-1]:g} in {trajectory.steps:,} steps", quiet)
    n, d = setting.start.shape
    with moments_measured(len(setting.times), quiet) as told:
        measures = measure(trajectory.times, trajectory.points, setting.beta, told)
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
        (*measured_claims(measures, trajectory.error, trajectory.steps, monotone), *_beside(theory, trajectory)),
        marks_of(theory),
    )
    return simulation, trajectory


def _beside(theory: tuple[Claim, ...], trajectory: ParticleTrajectory) -> tuple[Claim, ...]:
    """What became of each claim of theory in this simulation."""
    from lengthwise.geometry.particles.comparison import compare

    return tuple(compare(theory, trajectory))


def marks_of(theory: tuple[Claim, ...]) -> tuple[Mark, ...]:
    """The times that theorems name, where they are finite and say something."""
    from lengthwise.reports.particles.simulation import Mark

    return tuple(
        Mark(float(claim.value), _NAMES[claim.key])
        for claim in theory
        if claim.key in _NAMES and claim.status == "holds" and isinstance(claim.value, float) and claim.value < 1e300
    )


@contextlib.contextmanager
def time_reached(last: float, quiet: bool) -> Iterator[Callable[[float], None] | None]:
    """A function that is told how far the simulation is, and shows it on a terminal; None where nobody looks."""
    with line_shown(quiet) as show:
        yield None if show is None else lambda time: show(f"simulating: t = {time:.4g} of {last:g}")


@contextlib.contextmanager
def moments_measured(count: int, quiet: bool) -> Iterator[Callable[[int], None] | None]:
    """The same for the measures, which take longer than the simulation where tokens are many."""
    with line_shown(quiet) as show:
        yield None if show is None else lambda done: show(f"measuring: {done} of {count} moments")
