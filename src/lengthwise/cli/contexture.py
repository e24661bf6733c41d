"""Say what contexts can teach: how strongly inputs x and contexts a are associated, how fast that decays, and how much
of it a representation holds, compared with random ones.

INPUT is a joint table (.npy, or .csv of numbers: one row per x, one column per a; whole numbers are counts), pairs
(.jsonl with lines {"x": ..., "a": ...}, or .csv with the header x,a), or the folder of a run: then x is what the model
has read, a the token asked for, and the representation its last hidden state, compared with random networks.

A representation for a table has one row per row of the table; for pairs, one row per pair, or one per different x in
the order of first appearance.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.options import Parser, add_trust, at_least, number, whole
from lengthwise.cli.output import narrate, wrapped, write_field, write_object
from lengthwise.errors import UsageError
from lengthwise.messages import sentence

if TYPE_CHECKING:
    from lengthwise.bounds.contexture.summary import Contexture
    from lengthwise.records import Claim

_SHOWN = 12  # squares that a terminal is shown


def add_options(parser: Parser) -> None:
    parser.add_argument("input", metavar="INPUT", help="a table, a file of pairs, or the folder of a run")
    add = parser.add_argument
    add("--representation", metavar="FILE", help="vectors of x as .npy or .csv, to be held against the contexts")
    add("--probabilities", action="store_true", help="a table of whole numbers is exact, not counts of a sample")
    add("--epsilon", type=number, metavar="E", help="with a table: bound tasks of compatibility 1 - E or more")
    add("--beta", type=number, default=1.0, metavar="B", help="the weight of dimensions in τ (1)")
    add("--d0", type=whole, default=512, metavar="N", help="the most dimensions that τ looks at (512)")
    add("--size", type=whole, metavar="N", help="of a run: the size of its items (the largest trained on)")
    add("--items", type=whole, metavar="N", help="of a run: how many test items (2000)")
    add("--twins", type=whole, metavar="N", help="of a run: how many random networks beside it (3)")
    add("--picture", metavar="FILE", help="draw the spectrum into this .svg, .png or .html file")
    add_trust(parser, "the run")


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.figure import check_figure

    check_figure(options.picture, "--picture")
    at_least(1, options.d0, "--d0")
    at_least(1, options.twins, "--twins")
    at_least(8, options.items, "--items")
    if not 0 < options.beta < float("inf"):
        raise UsageError(f"--beta is a number above 0, not {options.beta:g}")
    if options.epsilon is not None and not 0 <= options.epsilon <= 1:
        raise UsageError(f"--epsilon lies between 0 and 1, not {options.epsilon:g}")
    from lengthwise.cli.contexture_inputs import described

    found = described(options)
    if options.picture is not None:
        _draw(found, options.picture)
        narrate(f"picture in {options.picture}", options.quiet)
    if options.json:
        write_object("contexture", {**found.plain(), "picture": options.picture})
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
    for claim in found.claims:
        print(wrapped(_sentence(claim), "• ", "  "))
    if not found.representation:
        return
    title = "How much of it the representation holds"
    print(f"\n{title}\n{'─' * len(title)}")
    for claim in (*found.representation, *found.random):
        print(wrapped(_sentence(claim), "• ", "  "))
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
    if low > high:
        return f"The representation is aligned above random ones: {low:.4g} at least, against {high:.4g} at most."
    return f"The representation is not clearly above random ones: {low:.4g} at least, against {high:.4g} at most."


def _draw(found: Contexture, name: str) -> None:
    """The squares by their number, with the curve of the decay that was fitted."""
    import math

    from lengthwise.figures.chart_files import save_chart
    from lengthwise.figures.spectrum import spectrum_chart

    if not len(found.squares):
        raise UsageError("there is no spectrum to draw: pairs are too few; leave out --picture")
    rate = next((claim.value for claim in found.claims if claim.key == "contexture.decay"), None)
    fitted = [math.exp(-float(rate) * i) for i in range(1, len(found.squares) + 1)] if rate is not None else []
    words = [f"{found.what}; {found.how}.", *(str(claim) for claim in (*found.claims, *found.representation))]
    try:
        save_chart(Path(name), spectrum_chart(found.squares.tolist(), fitted), "Spectrum of the contexts", words)
    except OSError as error:
        raise UsageError(f"cannot write {name}: {error.strerror or error}") from error
