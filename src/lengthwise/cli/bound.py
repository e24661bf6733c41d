"""Bound what a model loses, from its own training data: its description in bits, its losses on the data, and every
bound that follows, term by term, in nats and bits beside chance.

MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2), or a GGUF file.
The data of a run are its own training items, drawn again. Of another model they are --data FILE, a document a line:
{"text": …} or {"tokens": […]}, or plain text; without it the built-in text stands in, and no bound is then certified.
With --tokens (as 2T) the data are taken for a sample of a training set of that size.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.amounts import amount
from lengthwise.cli.options import Parser, add_trust, check_place, number, whole
from lengthwise.cli.output import narrate, write_object
from lengthwise.errors import CertificateRefused

if TYPE_CHECKING:
    from lengthwise.guarantees.guarantee import Guarantee


def add_options(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a run, a folder of the Hugging Face Hub, or a GGUF file")
    add = parser.add_argument
    add("--data", metavar="FILE", help="its training data, or a sample of them, a document a line")
    add("--tokens", type=amount, metavar="N", help="the data are a sample of so many training tokens, as 2T")
    add("--documents", type=amount, metavar="N", help="the data are a sample of so many training documents")
    add("--quantiser", metavar="SPEC", help="as kmeans:levels=16, or exact (the best of a few)")
    add("--aim", default="tokens", metavar="WHAT", help="choose it for the bounds of tokens or documents (tokens)")
    add("--delta", type=number, default=0.05, metavar="P", help="how likely a bound may fail (0.05)")
    add("--sample", type=whole, metavar="N", help="look at so many documents or items, drawn evenly (all)")
    add("--limit", type=amount, metavar="N", help="stop after so many predicted tokens")
    add("--context", type=whole, metavar="N", help="tokens of a window (those the model reads, up to 1024)")
    add("--held-out", type=whole, metavar="N", help="measure so many fresh items of a run beside the bounds")
    add("--output", metavar="FOLDER", help="keep the work here (bounds/MODEL-…); the same command goes on")
    add("--picture", metavar="FILE", help="draw the terms of the best bounds of the loss: .svg, .png or .html")
    add("--require", action="store_true", help="exit with 3 where no bound is below chance")
    add_trust(parser, "the run")
    parser.seed_help = "the seed of --sample and --held-out (0)"


def run(options: argparse.Namespace) -> int:
    check_place(options.picture, "--picture", (".svg", ".png", ".html"))
    if (Path(options.model) / "run.json").exists():
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is loaded: small models are faster on one core
    from lengthwise.cli.bound_progress import telling
    from lengthwise.cli.bound_text import write_guarantee
    from lengthwise.guarantees.bound import bound

    with telling(options.quiet) as listener:
        found = bound(
            options.model,
            data=options.data,
            tokens=_whole(options.tokens),
            documents=_whole(options.documents),
            quantiser=options.quantiser,
            aim=options.aim,
            delta=options.delta,
            sample=options.sample,
            limit=_whole(options.limit),
            context=options.context,
            held_out=options.held_out,
            folder=options.output,
            seed=options.seed or 0,
            listener=listener,
        )
    if options.picture is not None:
        _draw(found, Path(options.picture), options.quiet)
    if options.json:
        write_object("bound", found.plain())
    else:
        write_guarantee(found)
    if options.require and (found.vacuous or found.broken):
        raise CertificateRefused("no bound is below chance" if found.vacuous else "a bound is below what was measured")
    return 0


def _whole(value: float | None) -> int | None:
    return None if value is None else max(1, round(value))


def _draw(found: Guarantee, path: Path, quiet: bool) -> None:
    from lengthwise.errors import UsageError
    from lengthwise.figures.chart_files import save_chart
    from lengthwise.reports.guarantee import guarantee_chart

    best = [one for level in ("documents", "tokens") if (one := found.best("loss", level)) is not None]
    words = [
        f"{found.described}. Data: {found.data}.",
        f"Message: {found.description.bits:,} bits. Loss on the data: {found.losses.loss:.4f} nats a token. "
        f"Each bound holds with probability {1 - found.delta:g}.",
    ]
    try:
        save_chart(path, guarantee_chart(best), f"What is guaranteed of {found.model}", words)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error
    narrate(f"picture in {path}", quiet)
