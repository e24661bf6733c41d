"""Compute a phase diagram for the command line, and show it."""

from __future__ import annotations

import argparse
import csv
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.cli.commands.figure import ENDINGS
from lengthwise.cli.commands.particles_outputs import progress_shown
from lengthwise.cli.options import at_least, check_place
from lengthwise.cli.output import narrate, wrapped, write_object
from lengthwise.errors import UsageError
from lengthwise.figures.style import thinned
from lengthwise.geometry.particles.phases import PhaseSettings, in_words, line_claims, phase_rows, transition_rows
from lengthwise.outputs import replace_output
from lengthwise.records import Claim
from lengthwise.reports.particles.phases import MEASURES, save_phases

_COLUMNS = 7  # times in the printed table
_LINES = 13  # betas in it
_FINER = 8  # points of the line for each step of beta


def run_phases(options: argparse.Namespace) -> int:
    measure = _measure(options)
    dimensions = _dimensions(options)
    check_place(options.figure, "--figure", ENDINGS)
    check_place(options.out, "--out", (".csv",))
    kind = "SA" if options.dynamics.lower() == "sa" else "USA"
    betas = np.linspace(0, options.most_beta, options.betas).tolist()
    times = np.linspace(0, options.time, options.frames).tolist()
    settings = PhaseSettings(options.n, options.starts, kind, options.seed or 0, options.delta)
    with progress_shown("simulating", options.quiet) as progress:
        rows = phase_rows(dimensions, betas, times, settings, progress)
    # Finer than the cells, as the line bends; every beta of the cells is among these.
    fine = np.linspace(0, options.most_beta, _FINER * (options.betas - 1) + 1)
    line = transition_rows(fine.tolist(), options.n, kind, options.delta)
    words = _words(options, kind)
    claims = line_claims(rows, line, options.n)
    _write_files(options, rows, line, measure, words)
    if options.json:
        plain = [claim.plain() for claim in claims]
        write_object("particles phases", {"words": words, "rows": rows, "line": line, "claims": plain})
    else:
        _write(rows, line, measure, words)
        _write_claims(claims)
    return 0


def _measure(options: argparse.Namespace) -> str:
    names = {"pairs": "share_pairs", "one": "share_one_cluster", "clusters": "clusters"}
    if options.show not in names:
        raise UsageError(f"--show is {', '.join(names)}, not {options.show!r}")
    if options.dynamics.lower() not in ("sa", "usa"):
        raise UsageError(f"--dynamics is sa or usa, not {options.dynamics!r}")
    at_least(2, options.n, "--n")
    at_least(1, options.starts, "--starts")
    at_least(2, options.betas, "--betas")
    at_least(2, options.frames, "--frames")
    for name, value in (("--time", options.time), ("--most-beta", options.most_beta)):
        if not 0 < value < float("inf"):
            raise UsageError(f"{name} is a number above 0, not {value:g}")
    if not 0 < options.delta < 1:
        raise UsageError(f"--delta lies between 0 and 1, not {options.delta:g}")
    return names[options.show]


def _dimensions(options: argparse.Namespace) -> list[int]:
    try:
        found = [int(part) for part in options.d.split(",")]
    except ValueError:
        raise UsageError(f"--d is whole numbers separated by commas, such as 2,8,32, not {options.d!r}") from None
    at_least(2, min(found), "--d")
    return found


def _words(options: argparse.Namespace, kind: str) -> list[str]:
    return [
        f"{options.n} tokens, independent and uniform on the sphere, {kind} with Q = K = V = I; averages over "
        f"{options.starts} starts, seed {options.seed or 0}. Two tokens are in one place when their inner product is "
        f"at least {1 - options.delta:g}.",
        "The share of pairs in one place, against time and beta and for some d, is what the survey draws "
        "(geshkovski2023); the line is ours: the time at which tokens that begin orthogonal come as near as that. As d "
        "grows, tokens drawn at random are nearly orthogonal.",
    ]


def _write_files(
    options: argparse.Namespace,
    rows: list[dict[str, Any]],
    line: list[dict[str, float]],
    measure: str,
    words: list[str],
) -> None:
    try:
        if options.figure is not None:
            save_phases(Path(options.figure), rows, line, measure, words)
            narrate(f"figure in {options.figure}", options.quiet)
        if options.out is not None:
            with replace_output(Path(options.out)) as part, part.open("w", encoding="utf-8", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
            narrate(f"rows in {options.out}", options.quiet)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror or error}") from error


def _write(rows: list[dict[str, Any]], line: list[dict[str, float]], measure: str, words: list[str]) -> None:
    for text in words:
        print(wrapped(text))
    times = thinned(sorted({row["time"] for row in rows}), _COLUMNS)
    for d in dict.fromkeys(row["d"] for row in rows):
        print(f"\nd = {d}: {MEASURES[measure]}, by beta (down) and time (across)")
        print("".join([f"{'beta':>7}", *(f"{time:>9.3g}" for time in times), f"{'line at':>10}"]))
        found = {(row["beta"], row["time"]): row[measure] for row in rows if row["d"] == d}
        pairs = list(zip(dict.fromkeys(row["beta"] for row in rows), line[::_FINER], strict=True))
        for beta, near in thinned(pairs, _LINES):
            cells = [f"{found[beta, time]:>9.3g}" for time in times]
            print("".join([f"{beta:>7.3g}", *cells, f"{near['time']:>10.4g}"]))


def _write_claims(claims: tuple[Claim, ...]) -> None:
    title = "Does the line predict when half of the pairs are close?"
    print(f"\n{title}\n{'─' * len(title)}")
    print(wrapped(str(claims[0]), "• ", "  "))
    for claim in claims[1:]:
        print(wrapped(f"{in_words(claim)} ({claim.kind})", "• ", "  "))
