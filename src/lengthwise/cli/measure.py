"""Put probes to a trained model: accuracy by size unless --probe names others.

A saved run is measured at other sizes, on other items, on another task, or read with another encoding of the same
parameters. Extending a model's context is tried this way: train with rope, then measure with
--position rope:scaling=yarn,factor=3. `--list-probes` lists what can be measured.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_task_options, add_trust, whole


def add_options(parser: Parser) -> None:
    what = "the folder of a run, a Hub folder, a GGUF file, or my.py::build"
    parser.add_argument("subject", nargs="?", metavar="SUBJECT", help=what)
    add_task_options(parser, "measure on this task, which has the same symbols (the run's own)")
    add = parser.add_argument
    add("--probe", action="append", metavar="SPEC", help="what to measure, as ladder:items=200; repeatable (curve)")
    add("--list-probes", action="store_true", help="list the probes")
    add("--test-size", type=whole, metavar="N", help="measure at every size up to this (the run's own test size)")
    add("--sizes", metavar="N,N,…", help="measure at these sizes instead, as 10,20,60")
    add("--items", type=whole, default=200, metavar="N", help="test items at each size (200)")
    add("--position", metavar="SPEC", help="read the model with this encoding instead of its own")
    add("--generate", action="store_true", help="also write answers token by token: do they agree?")
    add("--figure", metavar="FILE", help="draw the curve into this .svg, .png or .html file")
    add_trust(parser, "the run")
    parser.seed_help = "the seed of the test items (the run's own)"
