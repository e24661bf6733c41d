"""Bound the expected InfoNCE loss of an encoder from embeddings of yours.

Row i of --anchors and row i of --positives are the two views of pair i; they are divided by their lengths. Successive
blocks of K + 1 pairs are batches, in which the positives of the others are the negatives. With held-out pairs the bound
is that of a sample; for an encoder trained on these very pairs --bits says in how many bits it can be written down. A
bound at or above ln(1 + K), the loss of an encoder that tells nothing apart, is vacuous.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.options import Parser, at_least, number, whole
from lengthwise.cli.output import narrate, wrapped, write_field, write_object
from lengthwise.errors import UsageError

if TYPE_CHECKING:
    from lengthwise.bounds.contrastive import ContrastiveBound


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--anchors", metavar="FILE", help="embeddings [pairs, dimensions] as .npy or .csv")
    add("--positives", metavar="FILE", help="embeddings of their partners, row by row")
    add("--negatives", type=whole, metavar="K", help="negatives of each anchor")
    add("--temperature", type=number, metavar="T", help="the temperature of the loss")
    add("--tuples", default="batches", metavar="HOW", help="batches, or disjoint: one anchor a block (batches)")
    add("--bits", type=number, default=0.0, metavar="N", help="description length of the encoder (0: held-out pairs)")
    add("--delta", type=number, default=0.05, metavar="D", help="the probability of being wrong (0.05)")
    parser.seed_help = "not used: nothing here is random"


def run(options: argparse.Namespace) -> int:
    _check(options)
    from lengthwise.bounds.contrastive import block_losses, contrastive_bound
    from lengthwise.cli.contexture_inputs import read_numbers

    anchors, positives = read_numbers(Path(options.anchors)), read_numbers(Path(options.positives))
    losses = block_losses(anchors, positives, options.negatives, options.temperature, options.tuples)
    left = len(anchors) - len(losses) * (options.negatives + 1)
    if left:
        narrate(
            f"warning: the last {left} pairs fill no block of {options.negatives + 1} and are left out", options.quiet
        )
    bound = contrastive_bound(
        float(losses.mean()),
        len(losses),
        options.negatives,
        options.temperature,
        bits=options.bits,
        delta=options.delta,
        checked=True,
    )
    if options.json:
        claim = bound.claim()
        content = {"loss": bound.risk.terms[0].value, "chance": bound.chance, "bound": bound.risk.total}
        write_object(
            "bound contrastive", {**content, "status": claim.status, "pairs": len(anchors), "claim": claim.plain()}
        )
    else:
        _write(bound, len(anchors))
    return 0


def _check(options: argparse.Namespace) -> None:
    for name in ("anchors", "positives", "negatives", "temperature"):
        if getattr(options, name) is None:
            raise UsageError(
                f"--{name} is missing; as in --anchors a.npy --positives b.npy --negatives 15 --temperature 0.5"
            )
    at_least(1, options.negatives, "--negatives")
    if options.tuples not in ("batches", "disjoint"):
        raise UsageError(f"--tuples is batches or disjoint, not {options.tuples!r}")


def _write(bound: ContrastiveBound, pairs: int) -> None:
    def both(nats: float) -> str:
        return f"{nats:.4f} nats, {nats / math.log(2):.4f} bits"

    loss, sampling = bound.risk.terms
    write_field("pairs", f"{pairs}, in {bound.effective:g} blocks with {bound.negatives} negatives each")
    write_field("loss", both(loss.value))
    write_field("sampling", f"{both(sampling.value)}: {sampling.how}")
    write_field("bound", both(bound.risk.total))
    write_field("chance", f"{both(bound.chance)}: ln(1 + {bound.negatives})")
    write_field("status", "vacuous: chance is as good" if bound.risk.status == "vacuous" else "holds: below chance")
    print()
    print(wrapped(str(bound.claim()), "• ", "  "))
    for assumption in bound.risk.assumptions:
        print(wrapped(f"{assumption.check}: {assumption.statement}", "  - ", "    "))
