"""What `lengthwise bound contrastive` does."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from lengthwise.bounds.contrastive import ContrastiveBound, block_losses, contrastive_bound
from lengthwise.cli.commands.contexture_inputs import read_numbers
from lengthwise.cli.options import at_least
from lengthwise.cli.output import narrate, wrapped, write_field, write_object
from lengthwise.errors import UsageError


def run(options: argparse.Namespace) -> int:
    _check(options)

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
