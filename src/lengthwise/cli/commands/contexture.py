"""What `lengthwise contexture` does."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from lengthwise.bounds.contexture.summary import Contexture
from lengthwise.cli.commands.contexture_inputs import described
from lengthwise.cli.commands.figure import check_figure
from lengthwise.cli.options import at_least
from lengthwise.cli.output import narrate, wrapped, write_field, write_object
from lengthwise.errors import UsageError
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.spectrum import spectrum_chart
from lengthwise.messages import sentence
from lengthwise.records import Claim

_SHOWN = 12  # squares that a terminal is shown


def run(options: argparse.Namespace) -> int:
    check_figure(options.figure, "--figure")
    at_least(1, options.d0, "--d0")
    at_least(1, options.twins, "--twins")
    at_least(8, options.items, "--items")
    if not 0 < options.beta < float("inf"):
        raise UsageError(f"--beta is a number above 0, not {options.beta:g}")
    if options.epsilon is not None and not 0 <= options.epsilon <= 1:
        raise UsageError(f"--epsilon lies between 0 and 1, not {options.epsilon:g}")

    found = described(options)
    if options.figure is not None:
        _draw(found, options.figure)
        narrate(f"figure in {options.figure}", options.quiet)
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
    if not len(found.squares):
        raise UsageError("there is no spectrum to draw: pairs are too few; leave out --figure")
    rate = next((claim.value for claim in found.claims if claim.key == "contexture.decay"), None)
    fitted = [math.exp(-float(rate) * i) for i in range(1, len(found.squares) + 1)] if rate is not None else []
    words = [f"{found.what}; {found.how}.", *(str(claim) for claim in (*found.claims, *found.representation))]
    try:
        save_chart(Path(name), spectrum_chart(found.squares.tolist(), fitted), "Spectrum of the contexts", words)
    except OSError as error:
        raise UsageError(f"cannot write {name}: {error.strerror or error}") from error
