"""What `lengthwise particles phases` does."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.cli.commands.number_files import write_numbers
from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.output import wrapped, write_heading, write_list, write_object, written
from lengthwise.errors import UsageError
from lengthwise.figures.style import thinned
from lengthwise.geometry.particles.phases import PhaseSettings, in_words, line_claims, phase_rows, transition_rows
from lengthwise.progress import shown
from lengthwise.records import Claim
from lengthwise.reports.particles.phases import MEASURES, save_phases

Rows = list[dict[str, Any]]

_MEASURES = {"pairs": "share_pairs", "one": "share_one_cluster", "clusters": "clusters"}
_COLUMNS = 7  # times in the printed table
_LINES = 13  # betas in it
_FINER = 8  # points of the line for each step of beta


def run(options: argparse.Namespace) -> int:
    measure, kind = _MEASURES[options.show], options.dynamics.upper()
    if not 0 < options.delta < 1:
        raise UsageError(f"--delta must lie between 0 and 1, not {options.delta:g}")
    betas = np.linspace(0, options.most_beta, options.betas).tolist()
    times = np.linspace(0, options.time, options.frames).tolist()
    settings = PhaseSettings(options.n, options.starts, kind, options.seed or 0, options.delta)
    with shown(quiet=options.quiet, title="simulating") as progress:
        rows = phase_rows(options.d, betas, times, settings, progress)
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


def _words(options: argparse.Namespace, kind: str) -> list[str]:
    return [
        f"{options.n} tokens, independent and uniform on the sphere, {kind} with Q = K = V = I; averages over "
        f"{options.starts} starts, seed {options.seed or 0}. Two tokens are in one place when their inner product is "
        f"at least {1 - options.delta:g}.",
        "The share of pairs in one place, against time and beta and for some d, is what the survey draws "
        "(geshkovski2023); the line is ours: the time at which tokens that begin orthogonal come as near as that. As d "
        "grows, tokens drawn at random are nearly orthogonal.",
    ]


def _write_files(options: argparse.Namespace, rows: Rows, line: Rows, measure: str, words: list[str]) -> None:
    if options.figure is not None:
        with written(options.figure, options.quiet):
            save_phases(Path(options.figure), rows, line, measure, words)
    if options.out is not None:
        with written(options.out, options.quiet, "rows"):
            write_numbers(Path(options.out), list(rows[0]), ([*row.values()] for row in rows))


def _write(rows: Rows, line: Rows, measure: str, words: list[str]) -> None:
    for text in words:
        print(wrapped(text))
    times = thinned(sorted({row["time"] for row in rows}), _COLUMNS)
    for d in dict.fromkeys(row["d"] for row in rows):
        print(f"\nd = {d}: {MEASURES[measure]}, by beta (down) and time (across)")
        found = {(row["beta"], row["time"]): row[measure] for row in rows if row["d"] == d}
        pairs = list(zip(dict.fromkeys(row["beta"] for row in rows), line[::_FINER], strict=True))
        cells = [
            [f"{beta:.3g}", *(f"{found[beta, time]:.3g}" for time in times), f"{near['time']:.4g}"]
            for beta, near in thinned(pairs, _LINES)
        ]
        write_grid(["beta", *(f"{time:.3g}" for time in times), "line at"], cells, ())


def _write_claims(claims: tuple[Claim, ...]) -> None:
    write_heading("Does the line predict when half of the pairs are close?")
    write_list([str(claims[0]), *(f"{in_words(claim)} ({claim.kind})" for claim in claims[1:])])
