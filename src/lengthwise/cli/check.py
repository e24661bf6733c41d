"""Say before training whether a model can hold beyond its training size, with which encoding, and why.

The card begins with one line of advice. Then it has a verdict for each encoding: can hold (a solution exists that works
at every length; training may still miss it), cannot hold (there is an obstruction) or unknown. Each has its reason,
which can be checked by hand, and what would change it. --against compares verdicts with what a study measured.

A formulation of your own is a Python file with `starts(size)` and `step(state)`, or a JSONL file of lines
{"state": "1 0 1", "next": "1 1"}.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from lengthwise.cli.options import Parser, add_task_options, at_least, task_chosen, whole
from lengthwise.errors import UsageError

if TYPE_CHECKING:
    from lengthwise.oracle.check import Card

_ENCODINGS = ("none", "learned", "sinusoidal", "t5", "alibi", "kerple", "fire", "rope")
_WRAPPERS = ("offset", "randomized")


def add_options(parser: Parser) -> None:
    add_task_options(parser)
    add = parser.add_argument
    add("--formulation", metavar="FILE", help="a layout of reasoning steps of your own, .py or .jsonl")
    add("--position", action="append", metavar="SPEC", help="an encoding; may be given again (the usual five)")
    add(
        "--train-size",
        type=whole,
        metavar="N",
        help="train on sizes up to this (20, or a third of a task that ends early)",
    )
    add("--test-size", type=whole, metavar="N", help="to be used up to this size (3 x training size)")
    add("--items", type=whole, metavar="N", help="training items planned, for coverage (the preset's steps x batch)")
    add("--decoder", action="store_true", help="a layout of steps as a causal decoder writes it, seeing all before")
    add("--program", metavar="FILE", help="check a C-RASP program of your own against the task (docs/programs.md)")
    add("--explain", action="store_true", help="every opinion: the models it binds, its assumptions, its source")
    add("--against", metavar="STUDY", help="compare predictions with the measurements of a study")


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.output import write_object

    at_least(1, options.train_size, "--train-size")
    at_least(1, options.items, "--items")
    spec = task_chosen(options)
    given = [spec is not None, options.formulation is not None, options.against is not None]
    if sum(given) != 1:
        raise UsageError(
            "check takes one of TASK, --regex, --dfa, --data, --formulation and --against, as in "
            "`lengthwise check sort` or `lengthwise check --against huang2025`"
        )
    if options.against is not None:
        _refuse_with_against(options)
        from lengthwise.cli.against import run_against

        return run_against(options.against, options.json, options.quiet)
    if options.program is not None:
        return _check_program(options, spec)
    card = _card(options, spec)
    if options.json:
        write_object("check", card.plain())
    else:
        from lengthwise.cli.check_card import write_card

        write_card(card, options.explain)
    return 0


def _refuse_with_against(options: argparse.Namespace) -> None:
    for name in ("position", "train_size", "test_size", "items", "decoder", "program", "explain"):
        if getattr(options, name) not in (None, False):
            raise UsageError(f"--{name.replace('_', '-')} does not go with --against: the study says it")


def _card(options: argparse.Namespace, spec: str | dict[str, object] | None) -> Card:
    from lengthwise.oracle.check import POSITIONS, check

    positions = tuple(dict.fromkeys(options.position or POSITIONS))
    for encoding in positions:
        _check_encoding(encoding)
    train_size = options.train_size
    choice = {
        "test_size": options.test_size,
        "items": options.items,
        "seed": options.seed or 0,
        "decoder": options.decoder,
    }
    if options.formulation is not None:
        from lengthwise.cli.line_progress import counted_lines
        from lengthwise.oracle.check_own import check_formulation

        with counted_lines(options.quiet) as told:
            return check_formulation(options.formulation, positions, train_size=train_size, progress=told, **choice)
    from lengthwise.tasks import tasks

    assert spec is not None
    return check(tasks.make(spec), positions, train_size=train_size, **choice)


def _check_program(options: argparse.Namespace, spec: str | dict[str, object] | None) -> int:
    """Compare a user's program with the solver of a task; exit code 3 if it is wrong."""
    from lengthwise.cli.output import wrapped, write_object
    from lengthwise.errors import CertificateRefused
    from lengthwise.oracle.programs.text import load_program
    from lengthwise.oracle.programs.verify import verify_program
    from lengthwise.tasks import tasks

    if spec is None:
        raise UsageError("--program is checked against a task, as in `lengthwise check sort --program mine.txt`")
    found = verify_program(load_program(options.program), tasks.make(spec), budget_seconds=5.0)
    if options.json:
        write_object("check", {"program": options.program, **found.plain(), "claim": found.claim().plain()})
    else:
        print("\n".join(map(wrapped, found.explain())))
    if found.mismatch is not None:
        raise CertificateRefused(f"{options.program} does not solve the task: {found.mismatch}")
    return 0


def _check_encoding(spec: str) -> None:
    """Refuse an encoding that does not exist; those that do are known by name, so that torch is not loaded for them."""
    from lengthwise.oracle.opinion import encoding_names

    base, *wrappers = encoding_names(spec)
    if base not in _ENCODINGS or any(wrapper not in _WRAPPERS for wrapper in wrappers):
        from lengthwise.positions import make_position

        make_position(spec)
