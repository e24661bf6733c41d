"""Predict before training whether a model can hold beyond its training size, with which encoding, and why.

The card begins with one line of advice. Then it has a verdict for each encoding: can hold (a solution exists that works
at every length; training may still miss it), cannot hold (there is an obstruction) or unknown. Each has its reason,
which can be checked by hand, and what would change it. --against compares verdicts with what a study measured.

A formulation of your own is a Python file with `starts(size)` and `step(state)`, or a JSONL file of lines
{"state": "1 0 1", "next": "1 1"}.
"""

from __future__ import annotations

from lengthwise.cli.options import Parser, add_task_options, whole


def add_options(parser: Parser) -> None:
    add_task_options(parser)
    add = parser.add_argument
    add("--formulation", metavar="FILE", help="a layout of reasoning steps of your own, .py or .jsonl")
    add("--position", action="append", metavar="SPEC", help="an encoding; may be repeated (the usual five)")
    add(
        "--train-size",
        type=whole,
        metavar="N",
        help="train on sizes up to this (20, or a third of a task that ends early)",
    )
    add("--test-size", type=whole, metavar="N", help="use on sizes up to this (3 x training size)")
    add("--items", type=whole, metavar="N", help="training items planned, for coverage (the preset's steps x batch)")
    add("--decoder", action="store_true", help="a layout of steps as a causal decoder writes it, seeing all before")
    add("--program", metavar="FILE", help="check a C-RASP program of your own against the task (docs/programs.md)")
    add("--explain", action="store_true", help="every opinion: the models it binds, its assumptions, its source")
    add("--against", metavar="STUDY", help="compare predictions with the measurements of a study")
