"""What `lengthwise bound width` does."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.bound_tables import assumptions_table
from lengthwise.cli.commands.records import elsewhere, write_answer
from lengthwise.cli.output import write_object
from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.depth import barron_error, barron_width, deep_width
from lengthwise.records import Claim, Record

explain(
    {
        "bound_width.title": "How much error width can remove",
        "bound_width.error": (
            "{units:,} units in one hidden layer are enough for a root mean square error of {error:.4g} (proved)."
        ),
        "bound_width.wrong": "For answers of 0 and 1, at most {percent:.3g}% of them need be wrong.",
        "bound_width.any_wrong": "For answers of 0 and 1 this is vacuous: any share of them may be wrong.",
        "bound_width.deep": "With {layers} hidden layers, the width grows as error^-{exponent:.4g} (heuristic).",
        "bound_width.no_deep": "Nothing is known for {layers} hidden layers: smoothness × layers must be at most 1/2.",
    }
)


def run(options: argparse.Namespace) -> int:
    claims = _claims(options)
    rests = assumptions_table(assumption for claim in claims for assumption in claim.assumptions)
    text = tuple(_answer(claim) for claim in claims)
    record = Record("bound_width", {}, sentence("bound_width.title"), text, tuple(claims), (rests,))
    if options.json:
        write_object("bound width", record.plain())
    else:
        write_answer(record, elsewhere(options))
    return 0


def _answer(claim: Claim) -> str:
    """What a claim says, in a sentence."""
    found = claim.evidence
    if claim.key == "width.deep":
        return sentence("bound_width.no_deep" if claim.value is None else "bound_width.deep", found)
    if claim.key == "width.wrong":
        assert isinstance(claim.value, float)
        key = "bound_width.any_wrong" if claim.status == "vacuous" else "bound_width.wrong"
        return sentence(key, {"percent": 100 * claim.value})
    values = {"units": claim.value, "error": claim.value, **found}
    return sentence("bound_width.error", values)


def _claims(options: argparse.Namespace) -> list[Claim]:
    if options.constant is None or (options.units is None) == (options.error is None):
        raise UsageError("give --constant, and either --units or --error, as in --constant 2 --units 64")
    if options.smoothness is not None and options.error is None:
        raise UsageError("--smoothness goes with --error: the order of the width for that error")
    if options.units is not None:
        return barron_error(options.units, options.constant, options.radius)
    claims = [barron_width(options.error, options.constant, options.radius)]
    if options.smoothness is not None:
        claims.append(deep_width(options.error, options.smoothness, options.layers))
    return claims
