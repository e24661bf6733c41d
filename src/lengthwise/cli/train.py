"""Train a model on a task at short sizes, then measure it at every size up to the test size.

The run is kept in a folder (runs/… unless --folder says otherwise). Run the same command again to get the finished run,
or to resume an interrupted one.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from lengthwise.cli.options import add_task_options, number, whole
from lengthwise.models.architecture import Architecture
from lengthwise.registry import SettingField, settings_of
from lengthwise.training.recipe import Recipe

_READ = {int: (whole, "N"), float: (number, "X"), str: (str, "SPEC")}  # how the value of an option is read and shown


def add_options(parser: argparse.ArgumentParser) -> None:
    add_task_options(parser)
    add = parser.add_argument
    model, training = dict(settings_of(Architecture)), settings_of(Recipe)
    add("--position", default="none", metavar="SPEC", help=model.pop("position").words)
    add("--train-size", type=whole, metavar="N", help="train on sizes up to this (20; less where a task ends below 60)")
    add("--test-size", type=whole, metavar="N", help="measure at every size up to this (3 x training size)")
    add("--items", type=whole, default=200, metavar="N", help="test items at each size (200)")
    add("--seeds", type=whole, default=1, metavar="N", help="train N seeds, from --seed on (1)")
    add("--keep", type=number, metavar="SHARE", help="with --seeds: keep those with this exact match in range")
    add("--probe", action="append", metavar="SPEC", help="measure this as well, as ladder:items=200; repeatable")
    add("--folder", metavar="DIR", help="where the run is kept (below runs/)")
    add("--figure", metavar="FILE", help="draw the curve into this .svg, .png or .html file")
    add("--threads", type=whole, default=1, metavar="N", help="torch threads (1: best for small models)")
    add("--dry-run", action="store_true", help="print the resolved plan and stop")
    _add_settings(parser, "the model (the task's preset where not given)", model)
    _add_settings(parser, "training (the task's preset where not given)", training)


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
