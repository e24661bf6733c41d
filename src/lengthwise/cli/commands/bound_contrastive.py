"""What `lengthwise bound contrastive` does."""

from __future__ import annotations

import argparse
import math
from pathlib import Path

from lengthwise.bounds.contrastive import ContrastiveBound, block_losses, contrastive_bound
from lengthwise.cli.commands.bound_tables import assumptions_table, terms_table
from lengthwise.cli.commands.number_files import read_numbers
from lengthwise.cli.commands.records import elsewhere, write_answer
from lengthwise.cli.output import warn, write_object
from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.records import Record

explain(
    {
        "bound_contrastive.title": "What the pairs guarantee for the encoder",
        "bound_contrastive.holds": (
            "Below chance: an expected loss of at most {total:.4f} nats ({bits:.4f} bits); chance is {chance:.4f} nats."
        ),
        "bound_contrastive.vacuous": (
            "Vacuous: an expected loss of at most {total:.4f} nats ({bits:.4f} bits), and chance is {chance:.4f} nats."
        ),
        "bound_contrastive.sample": (
            "Measured: {loss:.4f} nats on {pairs:,} pairs, in {blocks:g} blocks with {negatives} negatives each."
        ),
    }
)


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
        write_answer(_record(bound, len(anchors)), elsewhere(options))
    return 0


def _check(options: argparse.Namespace) -> None:
    for name in ("anchors", "positives", "negatives", "temperature"):
        if getattr(options, name) is None:
            raise UsageError(
                f"--{name} is missing; as in --anchors a.npy --positives b.npy --negatives 15 --temperature 0.5"
            )


def _record(bound: ContrastiveBound, pairs: int) -> Record:
    loss, sampling = bound.risk.terms
    values = {"total": bound.risk.total, "bits": bound.risk.total / math.log(2), "chance": bound.chance}
    values |= {"pairs": pairs, "blocks": bound.effective, "negatives": bound.negatives, "loss": loss.value}
    terms = [("loss", loss.value, loss.how), ("sampling", sampling.value, sampling.how)]
    terms += [("bound", bound.risk.total, "at most"), ("chance", bound.chance, f"ln(1 + {bound.negatives})")]
    keys = ("vacuous" if bound.risk.status == "vacuous" else "holds", "sample")
    text = tuple(sentence(f"bound_contrastive.{key}", values) for key in keys)
    tables = (terms_table(terms), assumptions_table(bound.risk.assumptions))
    return Record("bound_contrastive", {}, sentence("bound_contrastive.title"), text, (bound.claim(),), tables)
