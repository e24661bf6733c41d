"""Draw the phase diagram of tokens on a sphere: over time and beta, for each dimension, are they in one place?

Tokens begin independently and uniformly. The colour is the share of pairs whose inner product is within delta of 1,
over several starts; the line is the time at which tokens that begin orthogonal come as near. The diagram is printed as
a table of that share, and below it where the line predicts when the tokens gather.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, number, whole


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--d", default="2,8,32,128,512", metavar="LIST", help="the dimensions (2,8,32,128,512)")
    add("--n", type=whole, default=32, metavar="N", help="how many tokens (32)")
    add("--starts", type=whole, default=24, metavar="N", help="how many starts are averaged (24)")
    add("--most-beta", type=number, default=9.0, metavar="B", help="beta goes from 0 to this (9)")
    add("--betas", type=whole, default=37, metavar="N", help="at how many values of beta (37)")
    add("--time", type=number, default=30.0, metavar="T", help="how long (30)")
    add("--frames", type=whole, default=61, metavar="N", help="at how many moments to look (61)")
    add("--dynamics", default="sa", metavar="NAME", help="sa or usa (sa)")
    add("--delta", type=number, default=1e-3, metavar="D", help="how near 1 an inner product must be (0.001)")
    add("--show", default="pairs", metavar="WHAT", help="pairs, one (all tokens in one cluster) or clusters (pairs)")
    add("--figure", metavar="FILE", help="draw it into this .svg, .png or .html file")
    add("--out", metavar="FILE", help="write the rows as .csv")
