"""What `lengthwise contexture` does: a table, pairs or a run, read, described and drawn."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.bounds.contexture.summary import Contexture, contexture_of_pairs, contexture_of_table
from lengthwise.bounds.contexture.table import codes_of, joint_table
from lengthwise.cli.commands.number_files import read_numbers
from lengthwise.cli.output import narrate, warn, wrapped, write_field, write_heading, write_list, write_object, written
from lengthwise.errors import UsageError
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.spectrum import spectrum_chart
from lengthwise.messages import sentence
from lengthwise.probes.probe import Context
from lengthwise.probes.representations import RepresentationsProbe
from lengthwise.probes.representations.states import contexture_of
from lengthwise.reading import parse_json, read_csv, read_lines
from lengthwise.records import Claim
from lengthwise.runs.run import load_run
from lengthwise.seeds import Floats, Ints

_SHOWN = 12  # squares that a terminal is shown
_HEADERS = ({"x": 0, "a": 1}, {"x": 1, "a": 0})
_KINDS = "a table (.npy, .csv), pairs (.jsonl, .csv with the header x,a) or the folder of a run"


def run(options: argparse.Namespace) -> int:
    if options.epsilon is not None and not 0 <= options.epsilon <= 1:
        raise UsageError(f"--epsilon must lie between 0 and 1, not {options.epsilon:g}")
    found = _described(options)
    if options.figure is not None:
        _draw(found, options.figure, options.quiet)
    if options.json:
        write_object("contexture", {**found.plain(), "figure": options.figure})
    else:
        _write(found)
    return 0


def _write(found: Contexture) -> None:
    print(found.what[0].upper() + found.what[1:])
    write_field("spectrum", found.how)
    if len(found.squares):
        some = ", ".join(f"{square:.4f}" for square in found.squares[:_SHOWN])
        left = len(found.squares) - _SHOWN
        write_field("s_i²", some + (f" and {left} more" if left > 0 else ""))
    write_list(map(_sentence, found.claims))
    if found.representation:
        write_heading("How much of it the representation holds")
        write_list(map(_sentence, (*found.representation, *found.random)))
        print(wrapped(_verdict(found)))


def _sentence(claim: Claim) -> str:
    """The claim; one that abstains says why."""
    text = str(claim)
    if claim.evidence.get("abstains"):
        text += f"; τ = {claim.evidence['tau']:.4g}; {sentence('contexture.abstains', claim.evidence)}"
    return text


def _verdict(found: Contexture) -> str:
    """Whether the representation lies above every random one, by the intervals."""
    own, others = found.representation[0], found.random
    assert own.value is not None
    low = own.interval.low if own.interval else float(own.value)
    high = max(other.interval.high for other in others if other.interval)
    above = "aligned" if low > high else "not clearly"
    return f"The representation is {above} above random ones: {low:.4g} at least, against {high:.4g} at most."


def _draw(found: Contexture, name: str, quiet: bool) -> None:
    """The squares by their number, with the curve of the decay that was fitted."""
    if not len(found.squares):
        raise UsageError("there is no spectrum to draw: pairs are too few; leave out --figure")
    rate = next((claim.value for claim in found.claims if claim.key == "contexture.decay"), None)
    fitted = [math.exp(-float(rate) * i) for i in range(1, len(found.squares) + 1)] if rate is not None else []
    words = [f"{found.what}; {found.how}.", *(str(claim) for claim in (*found.claims, *found.representation))]
    with written(name, quiet):
        save_chart(Path(name), spectrum_chart(found.squares.tolist(), fitted), "Spectrum of the contexts", words)


def _described(options: argparse.Namespace) -> Contexture:
    """All that is said of the input that the options name."""
    path = Path(options.input)
    if path.is_dir():
        return _of_run(options, path)
    for option in ("size", "items", "twins"):
        if getattr(options, option) is not None:
            raise UsageError(f"--{option} goes with the folder of a run, which {path} is not")
    if not path.is_file():
        raise UsageError(f"there is no {path}; give {_KINDS}")
    kind = path.suffix.lower()
    if kind not in (".npy", ".csv", ".jsonl"):
        raise UsageError(f"{path} is not {_KINDS}")
    pairs = _pairs(path) if kind == ".jsonl" or (kind == ".csv" and _header(path)) else None
    return _of_table(options, path) if pairs is None else _of_pairs(options, pairs)


def _of_table(options: argparse.Namespace, path: Path) -> Contexture:
    numbers = read_numbers(path)
    counts = not options.probabilities and bool((numbers == np.floor(numbers)).all())
    table = joint_table(numbers, counts)
    if counts:
        said = (
            "whole numbers are read as counts, and the spectrum of counts is too large; pairs in .jsonl are estimated "
        )
        warn([said + "without that bias, and --probabilities says that a table is exact"], options.quiet)
    features = _features(options)
    if features is not None and len(features) != len(numbers):
        raise UsageError(
            f"{options.representation} has {len(features)} rows, and the table {len(numbers)}; "
            "a representation has one row per row of the table"
        )
    features = None if features is None else features[table.rows]
    return contexture_of_table(table, features, epsilon=options.epsilon, **_choice(options))


def _of_pairs(options: argparse.Namespace, pairs: tuple[Ints, Ints]) -> Contexture:
    x, a = pairs
    if options.epsilon is not None or options.probabilities:
        raise UsageError("--epsilon and --probabilities go with a joint table, and these are pairs")
    features, different = _features(options), int(x.max()) + 1
    if features is not None and len(features) not in (len(x), different):
        raise UsageError(
            f"{options.representation} has {len(features)} rows; it needs one per pair ({len(x)}) or one for each "
            f"different x ({different})"
        )
    features = features if features is None or len(features) == len(x) else features[x]
    return contexture_of_pairs(x, a, features, **_choice(options))


def _features(options: argparse.Namespace) -> Floats | None:
    return None if options.representation is None else read_numbers(Path(options.representation))


def _choice(options: argparse.Namespace) -> dict[str, Any]:
    return {"beta": options.beta, "most_dimensions": options.d0, "seed": options.seed or 0}


def _of_run(options: argparse.Namespace, folder: Path) -> Contexture:
    if options.representation is not None or options.epsilon is not None or options.probabilities:
        raise UsageError(
            "--representation, --epsilon and --probabilities go with a file, and this is the folder of a run"
        )
    found = load_run(folder)
    plan, given = found.plan, {"items": options.items, "twins": options.twins}
    chosen = {name: value for name, value in given.items() if value is not None}
    probe = RepresentationsProbe(**chosen, beta=options.beta, most_dimensions=options.d0)
    sizes = probe.sizes(plan.task, plan.train_size, plan.test_size) if options.size is None else [options.size]
    seed = plan.seed if options.seed is None else options.seed
    context = Context(plan.task, plan.train_size, tuple(sizes), seed=seed)
    context = dataclasses.replace(context, progress=lambda doing, *_: narrate(f"{doing} …", options.quiet))
    return contexture_of(probe, found.subject().capability("transformer"), context)


def _header(path: Path) -> dict[str, int] | None:
    """Where x and a stand, if the first line names them."""
    first = next(iter(read_csv(path)), [])
    named = {name.strip().lower(): place for place, name in enumerate(first)}
    return named if named in _HEADERS else None


def _pairs(path: Path) -> tuple[Ints, Ints]:
    """The codes of x and of a, numbered as they first appear."""
    rows = _csv_pairs(path) if path.suffix.lower() == ".csv" else _json_pairs(path)
    if len(rows) < 2:
        raise UsageError(f"{path} holds {len(rows)} pairs; 2 or more are needed")
    (x, xs), (a, contexts) = (codes_of([row[side] for row in rows]) for side in (0, 1))
    for name, different in (("x", xs), ("a", contexts)):
        if len(different) < 2:
            raise UsageError(f"every {name} of {path} is the same; nothing can be associated with what never varies")
    return x, a


def _csv_pairs(path: Path) -> list[tuple[str, str]]:
    places = _header(path) or {}
    rows = read_csv(path)[1:]
    for number, row in enumerate(rows, start=2):
        if len(row) != 2:
            raise UsageError(f"line {number} of {path} has {len(row)} columns; a pair has two, x and a")
    return [(row[places["x"]], row[places["a"]]) for row in rows]


def _json_pairs(path: Path) -> list[tuple[str, str]]:
    return [_json_pair(line, f"line {number} of {path}") for number, line in read_lines(path) if line.strip()]


def _json_pair(line: str, where: str) -> tuple[str, str]:
    try:
        row: Any = parse_json(line)
        return json.dumps(row["x"], sort_keys=True), json.dumps(row["a"], sort_keys=True)
    except (ValueError, KeyError, TypeError) as error:
        raise UsageError(f'{where} is not a pair; a pair is written {{"x": ..., "a": ...}}') from error
