"""Let a density of infinitely many tokens on the circle or the sphere attract itself, from a nearly uniform start.

It counts the peaks over time, and compares them with the wave that grows fastest according to linear theory; on the
circle its crests are about the number of clusters that appear first. --figure draws the density over angle and time.
The scheme keeps mass and never makes a density negative; docs/theorems-particles.md has its orders.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, number, whole

CELLS, LEVEL, GROWTHS = 400, 4, 24  # GROWTHS: e-folds of the fastest wave in the default time


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("--d", type=whole, default=2, metavar="D", help="2, a circle, or 3, a sphere (2)")
    add("--beta", type=number, default=9.0, metavar="B", help="the inverse temperature of attention (9)")
    add("--dynamics", default="sa", metavar="NAME", help="sa or usa (sa)")
    add("--noise", type=number, metavar="A", help="disturbance of the start, a share of it (0.01; sphere 0.05)")
    add("--time", type=number, metavar="T", help=f"how long ({GROWTHS} over the rate of the fastest wave)")
    add("--frames", type=whole, default=121, metavar="N", help="at how many moments to look (121)")
    add("--cells", type=whole, metavar="N", help=f"with --d 2: cells of the circle ({CELLS})")
    add("--level", type=whole, metavar="N", help=f"with --d 3: 10 * 4^N + 2 cells of the sphere ({LEVEL})")
    add("--figure", metavar="FILE", help="draw it into this .svg, .png or .html file")
    add("--out", metavar="FILE", help="write the density by time as .npz or .csv")
