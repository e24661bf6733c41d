"""Plan a guarantee: what could be promised about a language model of so many parameters, trained on so many tokens,
before it is trained? Prints the bound term by term beside chance, what a better one would take, and the gap along a
line of constant tokens a parameter.

Leave --params or --tokens out to have it found: the largest model, or the fewest tokens, at which the bound is still
below chance (--loss), or the gap below --gap. Numbers may be written 7B, 1.4e11 or 2T; a loss is in nats per token, or
in bits as 2.87bits.
"""

from __future__ import annotations

import argparse
import math

from lengthwise.cli.commands.amounts import amount
from lengthwise.cli.options import Parser, number


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--params", type=amount, metavar="N", help="how many parameters the model has")
    add("--tokens", type=amount, metavar="D", help="how many tokens it is trained on")
    add("--bits", type=number, default=3.0, metavar="B", help="bits per parameter after compression (3)")
    add("--loss", type=nats, metavar="NATS", help="the loss it will have on its training data")
    add("--vocabulary", type=amount, default=50_000, metavar="V", help="how many tokens there are to choose from (50k)")
    add("--delta", type=number, default=0.05, metavar="P", help="how likely the bound may fail (0.05)")
    add("--gap", type=nats, metavar="NATS", help="the gap to reach, where params or tokens are to be found")
    add("--quantisation-gap", type=nats, default=0.0, metavar="NATS", help="what compression adds to the loss (0)")
    add("--method", default="freedman", metavar="NAME", help="freedman or azuma (freedman)")
    add("--variation", type=nats, metavar="S", help="freedman: how much losses vary (a published fit)")
    add("--alpha", type=number, metavar="A", help="azuma: the weight of smoothing (the best)")
    add("--sample", type=amount, metavar="N", help="azuma: on how many tokens the loss is measured (all)")
    add("--smoothed", action="store_true", help="azuma: the loss is that of the smoothed model")
    add("--line", type=amount, default=20.0, metavar="RATIO", help="tokens a parameter along the line (20)")
    add("--figure", metavar="FILE", help="draw a map of gaps into this .svg, .png or .html file")
    parser.seed_help = ""


def nats(text: str) -> float:
    """A number of nats for argparse; bits where that is written behind it."""
    plain = text.strip().lower()
    in_bits = plain.endswith(("bits", "bit"))
    plain = plain.removesuffix("bits").removesuffix("bit").removesuffix("nats").strip()
    try:
        value = float(plain) * (math.log(2) if in_bits else 1.0)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of nats of 0 or more, such as 2.2 or 3.2bits")
    return value
