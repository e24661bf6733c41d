"""What `lengthwise bound contrastive` does."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from lengthwise.bounds.contrastive import ContrastiveBound, block_losses, contrastive_bound
from lengthwise.cli.commands.number_files import read_numbers
from lengthwise.cli.output import warn, write_field, write_list, write_object
from lengthwise.errors import UsageError


def run(options: argparse.Namespace) -> int:
    _check(options)
    anchors, positives = read_numbers(Path(options.anchors)), read_numbers(Path(options.positives))
    losses = block_losses(anchors, positives, options.negatives, options.temperature, options.tuples)
    if left := len(anchors) - len(losses) * (options.negatives + 1):
        warn([f"the last {left} pairs fill no block of {options.negatives + 1} and are left out"], options.quiet)
    chosen = {"bits": options.bits, "delta": options.delta, "checked": True}
    loss, count = float(losses.mean()), len(losses)
    bound = contrastive_bound(loss, count, options.negatives, options.temperature, **chosen)
    if options.json:
        claim = bound.claim()
        content = {"loss": bound.risk.terms[0].value, "chance": bound.chance, "bound": bound.risk.total}
        content |= {"status": claim.status, "pairs": len(anchors), "claim": claim.plain()}
        write_object("bound contrastive", content)
    else:
        _write(bound, len(anchors))
    return 0


def _check(options: argparse.Namespace) -> None:
    for name in ("anchors", "positives", "negatives", "temperature"):
        if getattr(options, name) is None:
            raise UsageError(
                f"--{name} is missing; as in --anchors a.npy --positives b.npy --negatives 15 --temperature 0.5"
            )


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
    write_list([str(bound.claim())])
    write_list((f"{assumption.check}: {assumption.statement}" for assumption in bound.risk.assumptions), "- ", "  ")
