"""Bound what a model loses, from its own training data: its description in bits, its losses on the data, and every
bound that follows, term by term, in nats and bits and compared with chance.

MODEL is the folder of a run, a folder with config.json and safetensors (GPT-2, Llama, Mistral, Qwen2), or a GGUF file.
The data of a run are its own training items, drawn again. For another model they are --data FILE, one document per
line: {"text": …} or {"tokens": […]}, or plain text; without it the built-in text stands in, and no bound is certified.
With --tokens (such as 2T) the data are treated as a sample of a training set of that size.
"""

from __future__ import annotations

from lengthwise.cli.commands.amounts import amount
from lengthwise.cli.options import Parser, add_trust, number, whole


def add_options(parser: Parser) -> None:
    parser.add_argument("model", metavar="MODEL", help="a run, a folder of the Hugging Face Hub, or a GGUF file")
    add = parser.add_argument
    add("--data", metavar="FILE", help="its training data, or a sample of them, one document per line")
    add("--tokens", type=amount, metavar="N", help="number of training tokens that DATA was sampled from, such as 2T")
    add("--documents", type=amount, metavar="N", help="number of training documents that DATA was sampled from")
    add("--quantiser", default="", metavar="SPEC", help="such as kmeans:levels=16, or exact (the best of a few)")
    add("--aim", default="tokens", metavar="WHAT", help="choose it for the bounds of tokens or documents (tokens)")
    add("--delta", type=number, default=0.05, metavar="P", help="probability that a bound fails (0.05)")
    add("--sample", type=whole, metavar="N", help="number of documents or items to draw from the data (all)")
    add("--limit", type=amount, metavar="N", help="stop after this many predicted tokens")
    add("--window", type=whole, metavar="N", help="tokens per window (as many as the model reads, up to 1024)")
    add("--held-out", type=whole, metavar="N", help="number of fresh items of a run to compare with the bounds")
    add("--out", metavar="FOLDER", help="keep the work here (bounds/MODEL-…); run again to resume")
    add("--figure", metavar="FILE", help="draw the terms of the best bounds of the loss: .svg, .png or .html")
    add("--page", metavar="FILE", help="also write everything as one HTML page")
    add("--require", action="store_true", help="exit with code 3 if no bound is below chance")
    add_trust(parser, "the run")
    parser.seed_help = "the seed of --sample and --held-out (0)"
