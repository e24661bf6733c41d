"""One simulation for the command line: progress while it runs, then measures and claims."""

from __future__ import annotations

from lengthwise.cli.commands.particles_inputs import ParticleSetting
from lengthwise.cli.commands.particles_outputs import progress_shown
from lengthwise.cli.output import narrate
from lengthwise.geometry.particles.comparison import compare
from lengthwise.geometry.particles.integrate import ParticleTrajectory, simulate
from lengthwise.geometry.particles.theorems import check
from lengthwise.records import Claim
from lengthwise.reports.particles.simulation import Mark, Simulation, energy_never_falls, measure, measured_claims

_NAMES = {"particles.caps_shrink": "T1: caps have shrunk", "particles.caps_stay": "T2: caps still persist"}


def simulated(setting: ParticleSetting, quiet: bool) -> tuple[Simulation, ParticleTrajectory]:
    """Simulate, measure, and compare with theory."""
    theory = check(setting.start, setting.system)
    with progress_shown("simulating", quiet) as progress:
        trajectory = simulate(setting.system, setting.start, setting.times, setting.tolerance, progress)
    narrate(f"simulated to t = {setting.times[-1]:g} in {trajectory.steps:,} steps", quiet)
    n, d = setting.start.shape
    with progress_shown("measuring", quiet) as progress:
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
        marks_of(theory),
    )
    return simulation, trajectory


def marks_of(theory: tuple[Claim, ...]) -> tuple[Mark, ...]:
    """The times that theorems name, where they are finite and say something."""
    return tuple(
        Mark(float(claim.value), _NAMES[claim.key])
        for claim in theory
        if claim.key in _NAMES and claim.status == "holds" and isinstance(claim.value, float) and claim.value < 1e300
    )
