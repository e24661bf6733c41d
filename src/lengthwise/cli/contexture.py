"""Say what contexts can teach: how strongly inputs x and contexts a are associated, how fast that decays, and how much
of it a representation holds, compared with random ones.

INPUT is a joint table (.npy, or .csv of numbers: one row per x, one column per a; whole numbers are counts), pairs
(.jsonl with lines {"x": ..., "a": ...}, or .csv with the header x,a), or the folder of a run: then x is what the model
has read, a the token asked for, and the representation its last hidden state, compared with random networks.

A representation for a table has one row per row of the table; for pairs, one row per pair, or one per different x in
the order of first appearance.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_trust, number, whole


def add_options(parser: Parser) -> None:
    parser.add_argument("input", metavar="INPUT", help="a table, a file of pairs, or the folder of a run")
    add = parser.add_argument
    add("--representation", metavar="FILE", help="vectors of x as .npy or .csv, to be held against the contexts")
    add("--probabilities", action="store_true", help="a table of whole numbers is exact, not counts of a sample")
    add("--epsilon", type=number, metavar="E", help="with a table: bound tasks of compatibility 1 - E or more")
    add("--beta", type=number, default=1.0, metavar="B", help="the weight of dimensions in τ (1)")
    add("--d0", type=whole, default=512, metavar="N", help="the most dimensions that τ looks at (512)")
    add("--size", type=whole, metavar="N", help="of a run: the size of its items (the largest trained on)")
    add("--items", type=whole, metavar="N", help="of a run: how many test items (2000)")
    add("--twins", type=whole, metavar="N", help="of a run: how many random networks beside it (3)")
    add("--figure", metavar="FILE", help="draw the spectrum into this .svg, .png or .html file")
    add_trust(parser, "the run")
