"""Bound the expected InfoNCE loss of an encoder from embeddings of yours.

Row i of --anchors and row i of --positives are the two views of pair i; they are divided by their lengths. Successive
blocks of K + 1 pairs are batches, in which the positives of the others are the negatives. With held-out pairs the bound
is that of a sample; for an encoder trained on these very pairs --bits says in how many bits it can be written down. A
bound at or above ln(1 + K), the loss of an encoder that tells nothing apart, is vacuous.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, number, whole


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--anchors", metavar="FILE", help="embeddings [pairs, dimensions] as .npy or .csv")
    add("--positives", metavar="FILE", help="embeddings of their partners, row by row")
    add("--negatives", type=whole, metavar="K", help="negatives of each anchor")
    add("--temperature", type=number, metavar="T", help="the temperature of the loss")
    add("--tuples", default="batches", metavar="HOW", help="batches, or disjoint: one anchor per block (batches)")
    add("--bits", type=number, default=0.0, metavar="N", help="description length of the encoder (0: held-out pairs)")
    add("--delta", type=number, default=0.05, metavar="D", help="the probability of being wrong (0.05)")
    parser.seed_help = ""
