"""Let tokens on a sphere attract each other as attention does, and see whether they gather in one point.

It prints what theory predicts for this start and what the simulation did, and draws it: --page is one HTML file with a
sphere to rotate and a time slider, --gif and --video are films. SA is attention normalised over the keys; USA divides
by their number instead. Depth is time.

A start from a file has one token per row: an array .npy [n, d], comma-separated numbers (.csv), or one list of numbers
per line (.jsonl).
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from lengthwise.cli.options import Parser, number, whole
from lengthwise.cli.output import narrate, wrapped, write_field, write_object
from lengthwise.records import Claim, json_ready

if TYPE_CHECKING:
    from lengthwise.geometry.particles.integrate import ParticleTrajectory
    from lengthwise.reports.particles.simulation import Simulation


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--n", type=whole, metavar="N", help="how many tokens (64)")
    add("--d", type=whole, metavar="D", help="in how many dimensions (3); 2 is a circle")
    add("--beta", type=number, default=9.0, metavar="B", help="the inverse temperature of attention (9)")
    add("--dynamics", default="sa", metavar="NAME", help="sa or usa (sa)")
    add("--start", default="uniform", metavar="START", help="uniform, orthogonal, caps, hemisphere or a file (uniform)")
    add("--caps", type=whole, metavar="K", help="with --start caps: how many (3)")
    add("--spread", type=number, metavar="A", help="with --start caps: their radius in radians (0.2)")
    add("--query", default="identity", metavar="Q", help="identity, negative, random, or a file [d, d] (identity)")
    add("--key", default="identity", metavar="K", help="the same for the keys: scores are beta <Qx, Ky> (identity)")
    add("--value", default="identity", metavar="V", help="identity, negative, random, or a file [d, d] (identity)")
    add("--time", type=number, default=40.0, metavar="T", help="how long (40)")
    add("--frames", type=whole, default=120, metavar="N", help="at how many moments to look (120)")
    add("--tolerance", type=number, default=1e-8, metavar="E", help="error that a step may add, in radians (1e-8)")
    add("--page", metavar="FILE", help="write the interactive picture as one HTML page")
    add("--gif", metavar="FILE", help="write a film as .gif")
    add("--video", metavar="FILE", help="write a film as .mp4, which needs ffmpeg")
    add("--out", metavar="FILE", help="write the points by time as .npz or .csv")


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.particles_inputs import chosen_setting
    from lengthwise.cli.particles_outputs import check_outputs, write_outputs
    from lengthwise.cli.particles_run import simulated

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
    from lengthwise.reports.particles.simulation import readable

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
    from lengthwise.reports.particles.simulation import TITLES, some_moments

    rows = [TITLES, *some_moments(simulation.measures)]
    wide = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.rjust(w) for cell, w in zip(row, wide, strict=True)))
    print()
