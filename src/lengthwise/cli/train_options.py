"""What `train` takes: the settings of models and of training are options by themselves."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from lengthwise.cli.options import Parser, add_computing, add_formulation, add_task_options, number, whole, whole_from
from lengthwise.models.architecture import Architecture
from lengthwise.models.named import MODEL_WORDS
from lengthwise.registry import SettingField, settings_of
from lengthwise.training.recipe import START_WORDS, Recipe

_READ = {int: (whole, "N"), float: (number, "X"), str: (str, "SPEC")}  # how the value of an option is read and shown


def train(parser: Parser) -> None:
    """Train a model on a task at short sizes, then measure it at every size up to the test size.

    The run is saved in a folder (below runs/, or where --folder says). Run the same command again to load the finished
    run, or to resume an interrupted one.

    `lengthwise train --from RUN --position none --steps 200` continues with the weights of another run, on its task and
    training size unless you give others. This example drops the positions of a model and recalibrates it.

    `lengthwise train --formulation layout.py` trains single reasoning steps of a layout of your own, in the format that
    `lengthwise check --formulation` reads. Attention is limited to the windows that settle its steps. To run whole
    chains, use `lengthwise measure RUN --probe recursion --trust`.

    With --select, several recipes, encodings or both are tried first. Each is trained to 0.8 of the training size and
    compared on the sizes from there to the training size. The best is then trained on all of them and measured beyond.
    """
    add_task_options(parser)
    add_formulation(parser)
    model, training = dict(settings_of(Architecture)), settings_of(Recipe)
    parser.add("--model SPEC", MODEL_WORDS)
    parser.add("--position SPEC", model.pop("position").words)
    parser.add_argument("--from", dest="start", metavar="RUN", help=START_WORDS)
    parser.add(
        "--train-size N", "train on sizes up to N (default: 20; less for tasks that end below 60)", whole_from(1)
    )
    parser.add("--test-size N", "measure at every size up to N (default: 3 x training size)", whole_from(1))
    parser.add("--items N", "test items per size (default: 200)", whole_from(1), default=200)
    parser.add("--seeds N", "train N seeds, starting from --seed (default: 1)", whole_from(1), default=1)
    parser.add("--keep SHARE", "with --seeds: keep seeds with at least this exact match in range", number)
    parser.add("--select WHAT", "select inside the training range among recipes, encodings or recipes,encodings")
    parser.add_argument(
        "--probe", action="append", metavar="SPEC", help="measure this as well, such as ladder:items=200; repeatable"
    )
    parser.add("--folder DIR", "where to save the run (default: below runs/)")
    parser.add_figure("write the curve to this .svg, .png or .html file")
    parser.add("--threads N", "torch threads (default: 1, best for small models)", whole_from(1), default=1)
    add_computing(parser, measures=False)
    parser.flag("--dry-run", "print the resolved plan and stop")
    _add_settings(parser, "model settings (default: the task's preset)", model)
    _add_settings(parser, "training settings (default: the task's preset)", training)


def _add_settings(parser: argparse.ArgumentParser, title: str, settings: Mapping[str, SettingField]) -> None:
    """An option for every setting, named and explained as its field is; not given, it stays None."""
    group = parser.add_argument_group(title)
    for name, one in settings.items():
        if one.flags is None:
            read, shown = _READ[one.kind]
            group.add_argument(f"--{name.replace('_', '-')}", type=read, metavar=one.shown or shown, help=one.words)
            continue
        either = group.add_mutually_exclusive_group()
        for flag, value, words in zip(one.flags, (True, False), one.words.split("|"), strict=True):
            either.add_argument(f"--{flag}", dest=name, action="store_const", const=value, help=words)
