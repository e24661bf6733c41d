"""Let tokens on a sphere attract each other as attention does, and see whether they gather in one point.

It prints what theory predicts for this start and what the simulation did, and draws it: --page is one HTML file with a
sphere to rotate and a time slider, --gif and --video are films. SA is attention normalised over the keys; USA divides
by their number instead. Depth is time.

A start from a file has one token per row: an array .npy [n, d], comma-separated numbers (.csv), or one list of numbers
per line (.jsonl).
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, number, whole


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--n", type=whole, metavar="N", help="how many tokens (64)")
    add("--d", type=whole, metavar="D", help="in how many dimensions (3); 2 is a circle")
    add("--beta", type=number, default=9.0, metavar="B", help="the inverse temperature of attention (9)")
    add("--dynamics", default="sa", metavar="NAME", help="sa or usa (sa)")
    add("--start", default="uniform", metavar="START", help="uniform, orthogonal, caps, hemisphere or a file (uniform)")
    add("--caps", type=whole, metavar="K", help="with --start caps: how many (3)")
    add("--spread", type=number, metavar="A", help="with --start caps: their radius in radians (0.2)")
    add("--query", default="identity", metavar="Q", help="identity, negative, random, or a file [d, d] (identity)")
    add("--key", default="identity", metavar="K", help="the same for the keys: scores are beta <Qx, Ky> (identity)")
    add("--value", default="identity", metavar="V", help="identity, negative, random, or a file [d, d] (identity)")
    add("--time", type=number, default=40.0, metavar="T", help="how long (40)")
    add("--frames", type=whole, default=120, metavar="N", help="at how many moments to look (120)")
    add("--tolerance", type=number, default=1e-8, metavar="E", help="error that a step may add, in radians (1e-8)")
    add("--page", metavar="FILE", help="write the interactive picture as one HTML page")
    add("--gif", metavar="FILE", help="write a film as .gif")
    add("--video", metavar="FILE", help="write a film as .mp4, which needs ffmpeg")
    add("--out", metavar="FILE", help="write the points by time as .npz or .csv")
