"""What `train` takes: the settings of models and of training are options by themselves."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from lengthwise.cli.options import (
    OneOf,
    Parser,
    a_size,
    add_computing,
    add_formulation,
    add_task_options,
    add_trust,
    add_yes,
    number,
    whole,
    whole_from,
)
from lengthwise.limits import MOST_SEEDS
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
    parser.add("--train-size N", "train on sizes up to N (default: 20; less for tasks that end below 60)", a_size)
    parser.add("--test-size N", "measure at every size up to N (default: 3 x training size)", a_size)
    parser.add("--items N", "test items per size (default: 200)", whole_from(1), default=200)
    parser.add("--seeds N", "train N seeds, starting from --seed (default: 1)", whole_from(1, MOST_SEEDS), default=1)
    parser.add("--keep SHARE", "with --seeds: keep seeds with at least this exact match in range", number)
    parser.add("--select WHAT", "select inside the training range among recipes, encodings or recipes,encodings")
    parser.add_argument(
        "--probe", action="append", metavar="SPEC", help="measure this as well, such as ladder:items=200; repeatable"
    )
    parser.add("--folder DIR", "where to save the run (default: below runs/)")
    parser.add_figure("write the curve to this .svg, .png or .html file")
    parser.add("--threads N", "torch threads (default: 1, best for small models)", whole_from(1, 1024), default=1)
    add_computing(parser, measures=False)
    parser.flag("--dry-run", "print the resolved plan and stop")
    add_yes(parser)
    _add_settings(parser, "model settings (default: the task's preset)", model)
    _add_settings(parser, "training settings (default: the task's preset)", training)


def train_length(parser: Parser) -> None:
    """Say how long training must be for the error of a real-valued task beyond it to stay below a bound.

    Models are trained at growing lengths, all seeds of each, until the plateau of the error (that of the last doubling
    of test sizes, up to 8 times the training length) is below --error, or the lengths or the minutes end. Each task
    gets three training lengths at least. Then exponents are fitted, with intervals, and set next to what theory says.

    The runs are saved in a folder, as those of a study are. Run the same command again to resume; `lengthwise study
    show` and `lengthwise report` read the folder as well.

    Example: lengthwise train-length simple_task --error 0.01 --vary omega=1,2,4,8
    """
    parser.add_argument("task", nargs="?", metavar="TASK", help="simple_task, modp_task, kgram_law, or my.py::Task")
    parser.add("--error X", "the error that the plateau must be below (default: 0.01)", number, default=0.01)
    parser.add("--vary SETTING=LIST", "values of one setting of the task, such as period=2,3,5 (default: the family's)")
    words = "average, worst, or dirichlet for the average over Dirichlet prompts (default: average)"
    parser.add("--measure HOW", words, OneOf("average", "worst", "dirichlet"), default="average")
    parser.add(
        "--sizes LIST", "training lengths to try, in increasing order (default: 8,16,32,64)", default="8,16,32,64"
    )
    parser.add("--seeds N", "number of seeds per training length (default: 3)", whole_from(1, MOST_SEEDS), default=3)
    parser.add("--minutes M", "budget: start no run after M minutes (default: 30)", number, default=30.0)
    parser.add("--position SPEC", "position encoding of all tasks (default: the one of each task's theory)")
    parser.add("--steps N", "training steps per run (default: the task's preset)", whole_from(1))
    parser.add("--folder DIR", "where to save the runs (default: runs/train-length-FAMILY)")
    parser.add("--executor SPEC", "local:workers=4, … (default: local)", default="local")
    parser.flag("--dry-run", "print the number of runs and the time they may take, and stop")
    add_yes(parser)
    parser.flag("--no-report", "do not write the report at the end")
    add_computing(parser, measures=False)
    add_trust(parser, "the folder")
    parser.seed_help = "first seed (default: 0)"


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
