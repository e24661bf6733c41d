"""What the options of `lengthwise particles` describe: a start, what moves it, and words for both."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from lengthwise.cli.commands.number_files import read_numbers
from lengthwise.errors import UsageError
from lengthwise.geometry.particles import starts
from lengthwise.geometry.particles.dynamics import ManyHeads
from lengthwise.geometry.particles.frequencies import LAWS, FrequencyLaw
from lengthwise.geometry.particles.kuramoto import Kuramoto
from lengthwise.geometry.particles.system import System, norm_of
from lengthwise.limits import check_reach
from lengthwise.seeds import Seeds

Facts = tuple[tuple[str, str], ...]

STARTS = ("uniform", "orthogonal", "caps", "hemisphere")
MATRICES = ("identity", "negative", "random")
LETTERS = {"query": "Q", "key": "K", "value": "V"}
FILES = (".npy", ".csv", ".jsonl")
TOKENS, DIMENSIONS, CAPS, SPREAD = 64, 3, 3, 0.2
BETA, COUPLING, WIDTH, LAW = 9.0, 2.0, 0.5, "lorentzian"
KURAMOTO = "kuramoto"
OF_KURAMOTO, OF_ATTENTION = ("coupling", "frequencies", "width"), ("beta", "heads", "query", "key", "value")

MOST_NUMBERS = 200_000_000  # coordinates that are kept, 1.6 GB
MANY_STEPS = 50_000  # some minutes
_COPIES = 4  # of a matrix that is not the identity: the tensor, its norm and what these need


@dataclass(frozen=True, eq=False)
class ParticleSetting:
    """A start [n, d] of unit vectors, the system that moves it, the noise, and words. `beta` is that of all heads, None
    where they differ or there is none; `law` is that of the frequencies, where it is known."""

    start: np.ndarray
    system: System | ManyHeads | Kuramoto
    noise: float
    title: str
    facts: Facts
    warnings: list[str]
    beta: float | None = None
    law: FrequencyLaw | None = None


def setting_of(options: argparse.Namespace) -> ParticleSetting:
    """The setting; what is wrong with the options is a usage error."""
    kuramoto = options.dynamics == KURAMOTO
    _check_numbers(options, kuramoto)
    start, begun, warnings = _start(options, 2 if kuramoto else DIMENSIONS)
    after: list[tuple[str, str]] = [("start", begun)]
    if options.noise > 0:
        how = "halved until the order parameter settles" if options.step is None else f"{options.step:g}"
        after.append(("noise", f"D = {options.noise:g}, Brownian motion on the sphere; step {how}"))
    after.append(("time", f"0 to {options.time:g}, looked at in {options.frames} moments"))
    made = _oscillators if kuramoto else _heads
    return made(options, start, tuple(after), warnings)


def _named(start: np.ndarray, dynamics: str) -> str:
    n, d = start.shape
    return f"{n:,} token{'' if n == 1 else 's'} in {d} dimensions, {dynamics}"


def _shaken(noise: float) -> str:
    return f", D = {noise:g}" if noise > 0 else ""


# Kuramoto


def _oscillators(options: argparse.Namespace, start: np.ndarray, after: Facts, warnings: list[str]) -> ParticleSetting:
    if start.shape[1] != 2:
        raise UsageError(f"Kuramoto's oscillators live on a circle, so --d must be 2, not {start.shape[1]}")
    coupling = COUPLING if options.coupling is None else options.coupling
    if not math.isfinite(coupling):
        raise UsageError(f"--coupling must be a finite number, not {coupling:g}")
    frequencies, law, words = _frequencies(options, len(start))
    system = Kuramoto(coupling, torch.from_numpy(frequencies))
    facts = (
        ("dynamics", "Kuramoto: own frequency, and attraction by the sine of the difference"),
        ("coupling", f"K = {coupling:g}"),
        ("frequencies", words),
        *after,
    )
    title = _named(start, f"Kuramoto, K = {coupling:g}") + _shaken(options.noise)
    fastest = float(np.abs(frequencies).max()) * options.time
    if options.noise == 0 and 6 * fastest > MANY_STEPS:  # about six steps per radian were measured at tolerance 1e-8
        warnings.append(
            f"the fastest token turns by {fastest:.3g} radians, so this may take more than {MANY_STEPS:,} steps; a "
            "shorter --time, a smaller --width, a larger --tolerance or --frequencies normal takes fewer"
        )
    return ParticleSetting(start, system, options.noise, title, facts, warnings, law=law)


def _frequencies(options: argparse.Namespace, n: int) -> tuple[np.ndarray, FrequencyLaw | None, str]:
    """The natural frequencies [n], their law where it is known, and words."""
    chosen = LAW if options.frequencies is None else options.frequencies
    if chosen in LAWS:
        if chosen == "equal":
            if options.width is not None:
                raise UsageError("--width goes with lorentzian, normal or uniform frequencies; equal ones have none")
            return np.zeros(n), FrequencyLaw("equal", 0.0), "all equal to 0"
        law = FrequencyLaw(chosen, WIDTH if options.width is None else options.width)
        seed = options.seed or 0
        words = f"{n} quantiles of a {chosen} law of width {law.width:g}, in an order of seed {seed}"
        return law.quantiles(n, seed), law, words
    path = Path(chosen)
    if path.suffix.lower() not in FILES:
        names = f"{', '.join(LAWS)} or a file that ends in {', '.join(FILES)}"
        raise UsageError(f"--frequencies must be {names}, not {chosen!r}")
    if options.width is not None:
        raise UsageError("--width goes with --frequencies lorentzian, normal or uniform, not with a file")
    found = read_numbers(path, "--frequencies", FILES)
    if found.shape != (n, 1):
        raise UsageError(f"{path} is {found.shape[0]} x {found.shape[1]}, and must hold one frequency for each of {n}")
    return found[:, 0], None, f"`{path}`"


# Attention


def _heads(options: argparse.Namespace, start: np.ndarray, after: Facts, warnings: list[str]) -> ParticleSetting:
    d, kind = start.shape[1], options.dynamics.upper()
    given = {name: _entries(getattr(options, name)) for name in ("beta", *LETTERS)}
    counts = {len(entries) for entries in given.values()} - {1} | ({options.heads} if options.heads else set())
    if len(counts - {1}) > 1 or (options.heads == 1 and counts != {1}):
        raise UsageError("--beta, --query, --key and --value have one entry, or one for each of --heads heads")
    count = max(counts, default=1)
    betas = [_beta(text) for text in _each(given["beta"], count)]
    matrices = {name: _matrices(options, name, given[name], d, count) for name in LETTERS}
    systems = []
    for head, beta in enumerate(betas):
        parts = (None if m is None else torch.from_numpy(m) for m, _ in (matrices[name][head] for name in LETTERS))
        systems.append(System(kind, beta, *parts))
    facts = [("dynamics", "SA, normalised over the keys" if kind == "SA" else "USA, divided by the number of tokens")]
    facts += [("heads", f"{count}, whose velocities add up")] if count > 1 else []
    facts += [("beta", ", ".join(f"{beta:g}" for beta in dict.fromkeys(betas)))]
    facts += [after[0]]
    for name, found in matrices.items():
        if name == "value" or any(matrix is not None for matrix, _ in found):
            facts.append((name, "; ".join(dict.fromkeys(words for _, words in found))))
    alike = len(set(betas)) == 1
    shown = f"β = {betas[0]:g}" if alike else f"β = {', '.join(f'{beta:g}' for beta in betas)}"
    title = _named(start, f"{kind}, {f'{count} heads, ' if count > 1 else ''}{shown}") + _shaken(options.noise)
    for system in systems:
        warnings = warnings + _about_steps(system, options.time, options.noise)
    system = systems[0] if count == 1 else ManyHeads(tuple(systems))
    beta = betas[0] if alike else None
    return ParticleSetting(start, system, options.noise, title, (*facts, *after[1:]), warnings, beta)


def _entries(text: str | None) -> list[str]:
    """What an option says for each head."""
    return [""] if text is None else [part.strip() for part in text.split(",")]


def _each(entries: Sequence[str], count: int) -> list[str]:
    return list(entries) * count if len(entries) == 1 else list(entries)


def _beta(text: str) -> float:
    try:
        beta = float(text) if text else BETA
    except ValueError:
        raise UsageError(f"--beta must be a number, or one for each head as in 1,4, not {text!r}") from None
    if not (math.isfinite(beta) and beta >= 0):
        raise UsageError(f"--beta must be a number of at least 0, not {beta:g}; --value negative makes tokens repel")
    return beta


def _matrices(
    options: argparse.Namespace, name: str, entries: Sequence[str], d: int, count: int
) -> list[tuple[np.ndarray | None, str]]:
    """The matrix of each head, None for the identity, and words for it."""
    chosen = _each(entries, count)
    return [_matrix(text or "identity", name, d, options.seed or 0, head, count) for head, text in enumerate(chosen)]


def _about_steps(system: System, time: float, noise: float) -> list[str]:
    """A warning where USA without noise may take very many steps.

    Its tokens move at speeds up to |V| e^s, s = beta |Q^T K| the greatest score, and steps cannot be longer than a few
    over that, whatever the tolerance: 0.35 to 0.5 steps in a unit of time and speed were measured for Q = K = V = I, 16
    tokens and beta from 6 to 9. With other matrices tokens may stay away from the greatest score.
    """
    if system.kind == "SA" or noise > 0:
        return []
    score, speed = float(system.beta) * norm_of(system.scores), norm_of(system.value)
    if not speed or math.log(0.35 * time * speed) + score <= math.log(MANY_STEPS):
        return []
    return [
        f"USA moves tokens at speeds up to {speed:.3g} e^{score:.3g}, so this may take more than {MANY_STEPS:,} steps, "
        "minutes to hours; a smaller --beta, a shorter --time or --dynamics sa takes fewer"
    ]


# Starts and matrices


def _check_numbers(options: argparse.Namespace, kuramoto: bool) -> None:
    if not 0 < options.tolerance <= 0.1:
        raise UsageError(f"--tolerance must be above 0 and at most 0.1 radians, not {options.tolerance:g}")
    if not (math.isfinite(options.noise) and options.noise >= 0):
        raise UsageError(f"--noise must be a number of at least 0, not {options.noise:g}")
    if options.step is not None and options.noise == 0:
        raise UsageError("--step goes with --noise; without noise, steps follow from --tolerance")
    for name in OF_ATTENTION if kuramoto else OF_KURAMOTO:
        if getattr(options, name) is not None:
            raise UsageError(f"--{name} goes with --dynamics {'sa or usa' if kuramoto else KURAMOTO}")
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


def _start(options: argparse.Namespace, usual: int) -> tuple[np.ndarray, str, list[str]]:
    """The start, words for it, and warnings."""
    if options.start not in STARTS:
        return _start_from_file(options)
    seed = options.seed or 0
    n = TOKENS if options.n is None else options.n
    d = usual if options.d is None else options.d
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
            f"--start must be {', '.join(STARTS)} or a file that ends in {', '.join(FILES)}, not {options.start!r}"
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
            f"row {wrong + 1} of {path} has length {lengths[wrong]:g}, so it has no direction; leave it out"
        )
    off = int((np.abs(lengths - 1) > 1e-6).sum())
    warnings = [f"{off} of {len(points)} tokens in {path} were no unit vectors and were divided by their length"]
    return points / lengths[:, None], f"`{path}`", warnings if off else []


def _matrix(chosen: str, name: str, d: int, seed: int, head: int, count: int) -> tuple[np.ndarray | None, str]:
    """The matrix of a head for the option `name`, query, key or value, None for the identity, and words for it."""
    letter = LETTERS[name]
    if chosen == "identity":
        return None, f"{letter} = I" + (": tokens attract each other" if name == "value" else "")
    if chosen in MATRICES:
        check_reach(f"a matrix of {d:,} x {d:,} numbers", memory=_COPIES * 8.0 * d * d)
    if chosen == "negative":
        return -np.eye(d), f"{letter} = −I" + (": tokens repel each other" if name == "value" else "")
    if chosen == "random":
        key = Seeds(seed).key(name, head) if head else Seeds(seed).key(name)
        drawn = np.random.default_rng(key).standard_normal((d, d)) / math.sqrt(d)
        each = ", another for each head" if count > 1 else ""
        return drawn, f"random: independent normal entries of variance 1/d, seed {seed}{each}"
    path = Path(chosen)
    if path.suffix.lower() not in FILES:
        names = f"{', '.join(MATRICES)} or a file that ends in {', '.join(FILES)}"
        raise UsageError(f"--{name} must be {names}, not {chosen!r}")
    matrix = read_numbers(path, f"--{name}", FILES)
    if matrix.shape != (d, d):
        raise UsageError(f"the {name} matrix in {path} is {matrix.shape[0]} x {matrix.shape[1]}, and must be {d} x {d}")
    return matrix, f"`{path}`"
