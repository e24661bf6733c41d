"""What `lengthwise particles` does: simulate, compare with theory, and write the files that were asked for."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lengthwise.cli.commands.number_files import read_numbers, write_numbers
from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.output import narrate, warn, write_field, write_heading, write_list, write_object, written
from lengthwise.errors import UsageError
from lengthwise.geometry.particles import starts
from lengthwise.geometry.particles.comparison import compare
from lengthwise.geometry.particles.integrate import ParticleTrajectory, simulate
from lengthwise.geometry.particles.system import System
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
from lengthwise.seeds import Seeds

Facts = tuple[tuple[str, str], ...]

STARTS = ("uniform", "orthogonal", "caps", "hemisphere")
MATRICES = ("identity", "negative", "random")
LETTERS = {"query": "Q", "key": "K", "value": "V"}
FILES = (".npy", ".csv", ".jsonl")
TOKENS, DIMENSIONS, CAPS, SPREAD = 64, 3, 3, 0.2

MOST_NUMBERS = 200_000_000  # coordinates that are kept, 1.6 GB
MANY_STEPS = 50_000  # some minutes
_NAMES = {"particles.caps_shrink": "T1: caps have shrunk", "particles.caps_stay": "T2: caps still persist"}


def run(options: argparse.Namespace) -> int:
    if options.gif is not None or options.video is not None:
        check_film_tools(options.gif is not None, options.video is not None)
    start, system, facts, warnings = _setting(options)
    warn(warnings, options.quiet)
    simulation, trajectory = _simulated(start, system, facts, options)
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


def _simulated(
    start: np.ndarray, system: System, facts: Facts, options: argparse.Namespace
) -> tuple[Simulation, ParticleTrajectory]:
    """Simulate, measure, and compare with theory."""
    (n, d), beta, quiet = start.shape, options.beta, options.quiet
    theory, times = check(start, system), np.linspace(0.0, options.time, options.frames)
    with shown(quiet=quiet, title="simulating") as progress:
        trajectory = simulate(system, start, times, options.tolerance, progress)
    narrate(f"simulated to t = {times[-1]:g} in {trajectory.steps:,} steps", quiet)
    with shown(quiet=quiet, title="measuring") as progress:
        measures = measure(trajectory.times, trajectory.points, beta, progress)
    attracts = system.query is system.key is system.value is None  # all are the identity, so the energy cannot fall
    monotone = energy_never_falls(measures, beta, trajectory.error) if attracts and beta > 0 else None
    simulation = Simulation(
        f"{n:,} token{'' if n == 1 else 's'} in {d} dimensions, {system.kind}, β = {beta:g}",
        (*facts, ("integration", f"{trajectory.steps:,} steps, {trajectory.rejected:,} tried again shorter")),
        beta,
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


def _setting(options: argparse.Namespace) -> tuple[np.ndarray, System, Facts, list[str]]:
    """What the options describe: a start [n, d] of unit vectors, the system that moves it, words for both, and
    warnings; what is wrong with them is a usage error."""
    _check_numbers(options)
    start, begun, warnings = _start(options)
    d = start.shape[1]
    matrices = {name: _matrix(options, name, d) for name in LETTERS}
    kind = options.dynamics.upper()
    query, key, value = (None if matrix is None else torch.from_numpy(matrix) for matrix, _ in matrices.values())
    facts = (
        ("dynamics", "SA, normalised over the keys" if kind == "SA" else "USA, divided by the number of tokens"),
        ("beta", f"{options.beta:g}"),
        ("start", begun),
        *((name, words) for name, (matrix, words) in matrices.items() if name == "value" or matrix is not None),
        ("time", f"0 to {options.time:g}, looked at in {options.frames} moments"),
    )
    system = System(kind, options.beta, query, key, value)
    return start, system, facts, warnings + _about_steps(system, d, options.time)


def _about_steps(system: System, d: int, time: float) -> list[str]:
    """A warning where USA may take very many steps.

    Its tokens move at speeds up to |V| e^s, s = beta |Q^T K| the greatest score, and steps cannot be longer than a few
    over that, whatever the tolerance: 0.35 to 0.5 steps in a unit of time and speed were measured for Q = K = V = I, 16
    tokens and beta from 6 to 9. With other matrices tokens may stay away from the greatest score.
    """
    if system.kind == "SA":
        return []
    one = torch.eye(d, dtype=torch.float64)
    query, key, value = (one if matrix is None else matrix for matrix in (system.query, system.key, system.value))
    score = float(system.beta) * float(torch.linalg.matrix_norm(query.mT @ key, 2))
    speed = float(torch.linalg.matrix_norm(value, 2))
    if not speed or math.log(0.35 * time * speed) + score <= math.log(MANY_STEPS):
        return []
    return [
        f"USA moves tokens at speeds up to {speed:.3g} e^{score:.3g}, so this may take more than {MANY_STEPS:,} steps, "
        "minutes to hours; a smaller --beta, a shorter --time or --dynamics sa takes fewer"
    ]


def _check_numbers(options: argparse.Namespace) -> None:
    if not (math.isfinite(options.beta) and options.beta >= 0):
        raise UsageError(f"--beta is a number of at least 0, not {options.beta:g}; --value negative makes tokens repel")
    if not 0 < options.tolerance <= 0.1:
        raise UsageError(f"--tolerance lies above 0 and is at most 0.1 radians, not {options.tolerance:g}")
    if options.start != "caps":
        for name in ("caps", "spread"):
            if getattr(options, name) is not None:
                raise UsageError(f"--{name} goes with --start caps")


def _check_amount(n: int, d: int, frames: int) -> None:
    if n * d * frames > MOST_NUMBERS:
        raise UsageError(
            f"{n} tokens in {d} dimensions at {frames} moments are more than {MOST_NUMBERS:,} numbers; "
            "take fewer --frames"
        )


def _start(options: argparse.Namespace) -> tuple[np.ndarray, str, list[str]]:
    """The start, words for it, and warnings."""
    if options.start not in STARTS:
        return _start_from_file(options)
    seed = options.seed or 0
    n = TOKENS if options.n is None else options.n
    d = DIMENSIONS if options.d is None else options.d
    _check_amount(n, d, options.frames)
    if options.start == "uniform":
        return starts.uniform(n, d, seed).numpy(), f"independent and uniform, seed {seed}", []
    if options.start == "hemisphere":
        return starts.hemisphere(n, d, seed).numpy(), f"uniform on a hemisphere, seed {seed}", []
    if options.start == "orthogonal":
        if n > d:
            raise UsageError(
                f"{n} tokens cannot be orthogonal in {d} dimensions; give --d {n} or more, or a smaller --n"
            )
        return starts.orthogonal(n, d).numpy(), "orthogonal", []
    k = CAPS if options.caps is None else options.caps
    spread = SPREAD if options.spread is None else options.spread
    return starts.caps(n, d, k, spread, seed).numpy(), f"{k} caps of {spread:g} radians, seed {seed}", []


def _start_from_file(options: argparse.Namespace) -> tuple[np.ndarray, str, list[str]]:
    """Points from a file. Others than unit vectors are divided by their length, and a warning says so."""
    path = Path(options.start)
    if path.suffix.lower() not in FILES:
        raise UsageError(
            f"--start is {', '.join(STARTS)} or a file that ends in {', '.join(FILES)}, not {options.start!r}"
        )
    points = read_numbers(path, "--start", FILES)
    for name, given, found in (("--n", options.n, points.shape[0]), ("--d", options.d, points.shape[1])):
        if given is not None and given != found:
            raise UsageError(
                f"{path} holds {points.shape[0]} tokens in {points.shape[1]} dimensions, not {name} {given}"
            )
    if points.shape[1] < 2:
        raise UsageError(f"{path} holds tokens of 1 dimension; a circle, the least, has 2")
    _check_amount(points.shape[0], points.shape[1], options.frames)
    lengths = np.linalg.norm(points, axis=1)
    if not lengths.min() > 0 or not np.isfinite(lengths).all():
        wrong = int(np.flatnonzero(~(np.isfinite(lengths) & (lengths > 0)))[0])
        raise UsageError(
            f"row {wrong + 1} of {path} has length {lengths[wrong]:g}, so it is no direction; leave it out"
        )
    off = int((np.abs(lengths - 1) > 1e-6).sum())
    warnings = [f"{off} of {len(points)} tokens in {path} were no unit vectors and were divided by their length"]
    return points / lengths[:, None], f"`{path}`", warnings if off else []


def _matrix(options: argparse.Namespace, name: str, d: int) -> tuple[np.ndarray | None, str]:
    """The matrix of the option `name`, query, key or value, None for the identity, and words for it."""
    chosen, letter = getattr(options, name), LETTERS[name]
    if chosen == "identity":
        return None, f"{letter} = I" + (": tokens attract each other" if name == "value" else "")
    if chosen == "negative":
        return -np.eye(d), f"{letter} = −I" + (": tokens repel each other" if name == "value" else "")
    if chosen == "random":
        seed = options.seed or 0
        drawn = np.random.default_rng(Seeds(seed).key(name)).standard_normal((d, d)) / math.sqrt(d)
        return drawn, f"random: independent normal entries of variance 1/d, seed {seed}"
    path = Path(chosen)
    if path.suffix.lower() not in FILES:
        names = f"{', '.join(MATRICES)} or a file that ends in {', '.join(FILES)}"
        raise UsageError(f"--{name} is {names}, not {chosen!r}")
    matrix = read_numbers(path, f"--{name}", FILES)
    if matrix.shape != (d, d):
        raise UsageError(f"the {name} matrix in {path} is {matrix.shape[0]} x {matrix.shape[1]}, and must be {d} x {d}")
    return matrix, f"`{path}`"


# What writes the files that can be asked for, by option.
_WRITERS: dict[str, Callable[[Simulation, Path], object]] = {
    "page": write_page,
    "gif": write_gif,
    "video": write_video,
    "out": _write_data,
}
