"""What `lengthwise particles` does."""

from __future__ import annotations

import argparse
from typing import Any

from lengthwise.cli.commands.particles_inputs import chosen_setting
from lengthwise.cli.commands.particles_outputs import check_outputs, write_outputs
from lengthwise.cli.commands.particles_run import simulated
from lengthwise.cli.output import narrate, wrapped, write_field, write_object
from lengthwise.geometry.particles.integrate import ParticleTrajectory
from lengthwise.records import Claim, json_ready
from lengthwise.reports.particles.simulation import TITLES, Simulation, readable, some_moments


def run(options: argparse.Namespace) -> int:
    check_outputs(options)
    setting = chosen_setting(options)
    for warning in setting.warnings:
        narrate(f"warning: {warning}", options.quiet)
    simulation, trajectory = simulated(setting, options.quiet)
    written = write_outputs(options, simulation)
    if options.json:
        write_object("particles", {**_plain(simulation, trajectory), "files": written})
        return 0
    _write(simulation)
    for name in written.values():
        print(f"\n{name}")
    return 0


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
    _heading("What theory predicts for this start")
    for claim in simulation.theory:
        if claim.status != "unknown":
            print(wrapped(_sentence(claim), "• ", "  "))
    silent = [claim for claim in simulation.theory if claim.status == "unknown"]
    if silent:
        print("\nTheory says nothing here about:")
    for claim in silent:
        print(wrapped(_why_silent(claim), "- ", "  "))
    _heading("What the simulation did")
    _write_moments(simulation)
    for claim in simulation.measured:
        print(wrapped(_sentence(claim), "• ", "  "))


def _heading(title: str) -> None:
    print(f"\n{title}\n{'─' * len(title)}")


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


def _write_moments(simulation: Simulation) -> None:
    rows = [TITLES, *some_moments(simulation.measures)]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True)))
    print()
