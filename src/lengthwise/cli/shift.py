"""Measure how far test trajectories are from training ones: two files, a task at two sizes, or a task's ladder.

The distance is Wasserstein-1 with a certificate, compared with the noise between two samples of one distribution, and
explained: which numbers and which trajectories account for it. A file holds one JSON object per line, such as
{"text": "3 1 2"} or {"input": ..., "answer": ...}, optionally with "weight", "depth" and "features". The first sample
is training.

Metrics: features (length, depth, backtracks ...), contour (the depth profile), edit, ngrams:n=2, and
hidden:model=FOLDER (mean hidden states of a frozen model).

With --ladder the levels of a task (deeper, wider, other values) are measured one by one, each against training.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_trust, whole


def add_options(parser: Parser) -> None:
    add = parser.add_argument
    add("first", metavar="FIRST", help="the training file; or a task with --from and --to, or --ladder")
    add("second", nargs="?", metavar="SECOND", help="the file to compare with it")
    add("--from", dest="from_sizes", metavar="SIZES", help="with a task: the training size or sizes, such as 5-10")
    add("--to", dest="to_sizes", metavar="SIZES", help="with a task: the size or sizes to compare with")
    add("--ladder", action="store_true", help="with a task: every level of its ladder, each against training")
    add("--train-size", type=whole, metavar="N", help="with --ladder: the largest size of training")
    add("--metric", default="features", metavar="SPEC", help="how far apart two trajectories are (features)")
    add("--method", metavar="NAME", help="how the distance is computed (auto: chosen and reported)")
    add("--items", type=whole, metavar="N", help="with a task: trajectories at each end or level (200)")
    add("--resamples", type=whole, metavar="N", help="splits and permutations for the noise (100)")
    add("--figure", metavar="FILE", help="draw it into this .svg, .png or .html file")
    add("--require", action="store_true", help="exit with 3 if the distance is not certified")
    add_trust(parser, "the run of hidden:model=RUN")
