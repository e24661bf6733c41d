"""Draw the phase diagram of tokens on a sphere: over time and beta, for each dimension, are they in one place?

Tokens begin independently and uniformly. The colour is the share of pairs whose inner product is within delta of 1,
over several starts; the line is the time at which tokens that begin orthogonal come as near. The diagram is printed as
a table of that share, and below it where the line tells when the tokens gather.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengthwise.cli.line_progress import line_shown
from lengthwise.cli.options import Parser, at_least, check_place, number, whole
from lengthwise.cli.output import narrate, wrapped, write_object
from lengthwise.errors import UsageError

if TYPE_CHECKING:
    from lengthwise.records import Claim

_COLUMNS = 7  # times in the printed table
_LINES = 13  # betas in it
_FINER = 8  # points of the line for each step of beta


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--d", default="2,8,32,128,512", metavar="LIST", help="the dimensions (2,8,32,128,512)")
    add("--n", type=whole, default=32, metavar="N", help="how many tokens (32)")
    add("--starts", type=whole, default=24, metavar="N", help="how many starts are averaged (24)")
    add("--most-beta", type=number, default=9.0, metavar="B", help="beta goes from 0 to this (9)")
    add("--betas", type=whole, default=37, metavar="N", help="at how many values of beta (37)")
    add("--time", type=number, default=30.0, metavar="T", help="how long (30)")
    add("--frames", type=whole, default=61, metavar="N", help="at how many moments to look (61)")
    add("--dynamics", default="sa", metavar="NAME", help="sa or usa (sa)")
    add("--delta", type=number, default=1e-3, metavar="D", help="how near 1 an inner product must be (0.001)")
    add("--show", default="pairs", metavar="WHAT", help="pairs, one (all tokens in one cluster) or clusters (pairs)")
    add("--picture", metavar="FILE", help="draw it into this .svg, .png or .html file")
    add("--out", metavar="FILE", help="write the rows as .csv")


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.figure import ENDINGS

    measure = _measure(options)
    dimensions = _dimensions(options)
    check_place(options.picture, "--picture", ENDINGS)
    check_place(options.out, "--out", (".csv",))
    import numpy as np

    from lengthwise.geometry.particles.phase_claims import line_claims
    from lengthwise.geometry.particles.phases import PhaseSettings, phase_rows, transition_rows

    kind = "SA" if options.dynamics.lower() == "sa" else "USA"
    betas = np.linspace(0, options.most_beta, options.betas).tolist()
    times = np.linspace(0, options.time, options.frames).tolist()
    settings = PhaseSettings(options.n, options.starts, kind, options.seed or 0, options.delta)
    with _reached(options.time, options.quiet) as listener:
        rows = phase_rows(dimensions, betas, times, settings, listener)
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
        raise UsageError(f"--d is whole numbers with commas between, as 2,8,32, not {options.d!r}") from None
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
    from lengthwise.outputs import replace_output
    from lengthwise.reports.particles.phases import save_phases

    try:
        if options.picture is not None:
            save_phases(Path(options.picture), rows, line, measure, words)
            narrate(f"picture in {options.picture}", options.quiet)
        if options.out is not None:
            with replace_output(Path(options.out)) as part, part.open("w", encoding="utf-8", newline="") as file:
                table = csv.DictWriter(file, list(rows[0]))
                table.writeheader()
                table.writerows(rows)
            narrate(f"rows in {options.out}", options.quiet)
    except OSError as error:
        raise UsageError(f"cannot write {error.filename}: {error.strerror or error}") from error


def _write(rows: list[dict[str, Any]], line: list[dict[str, float]], measure: str, words: list[str]) -> None:
    from lengthwise.reports.figure import thinned
    from lengthwise.reports.particles.phases import MEASURES

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
    from lengthwise.geometry.particles.phase_claims import in_words

    title = "Does the line tell when half of the pairs are close?"
    print(f"\n{title}\n{'─' * len(title)}")
    print(wrapped(str(claims[0]), "• ", "  "))
    for claim in claims[1:]:
        print(wrapped(f"{in_words(claim)} ({claim.kind})", "• ", "  "))


@contextlib.contextmanager
def _reached(last: float, quiet: bool) -> Iterator[Callable[[int, float], None] | None]:
    """A function that is told how far the work is, and shows it on a terminal; None where nobody looks."""
    with line_shown(quiet) as show:
        yield None if show is None else lambda d, time: show(f"simulating d = {d}: t = {time:.3g} of {last:g}")
