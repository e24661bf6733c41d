"""What `lengthwise particles` is to simulate, read from its options and files and checked before any work is done."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from lengthwise.cli.commands.number_files import read_numbers
from lengthwise.errors import UsageError
from lengthwise.geometry.particles import starts
from lengthwise.geometry.particles.system import System
from lengthwise.seeds import Seeds

STARTS = ("uniform", "orthogonal", "caps", "hemisphere")
MATRICES = ("identity", "negative", "random")
LETTERS = {"query": "Q", "key": "K", "value": "V"}
FILES = (".npy", ".csv", ".jsonl")
TOKENS, DIMENSIONS, CAPS, SPREAD = 64, 3, 3, 0.2

MOST_NUMBERS = 200_000_000  # coordinates that are kept, 1.6 GB
MANY_STEPS = 50_000  # some minutes


@dataclass(frozen=True, eq=False)
class ParticleSetting:
    """A start [n, d] of unit vectors, the system that moves it, when to look, and words for all of it."""

    start: np.ndarray
    system: System
    beta: float
    attracts: bool  # Q, K and V are the identity, so the energy cannot fall
    times: np.ndarray
    tolerance: float
    facts: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]


def chosen_setting(options: argparse.Namespace) -> ParticleSetting:
    """The setting that the options describe; what is wrong with them is a usage error."""
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
    times = np.linspace(0.0, options.time, options.frames)
    system = System(kind, options.beta, query, key, value)
    attracts = query is key is value is None
    warnings += _about_steps(system, d, options.time)
    return ParticleSetting(start, system, options.beta, attracts, times, options.tolerance, facts, tuple(warnings))


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
