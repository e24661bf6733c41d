"""Options that several commands share, and a parser whose complaints are one sentence."""

from __future__ import annotations

import argparse
import difflib
import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

from lengthwise.cli.output import width, wrapped
from lengthwise.errors import UsageError
from lengthwise.limits import LARGEST, MOST_COUNT, MOST_SIZE, shown_count
from lengthwise.outputs import check_output

_SIZE_RULES = ("input length", "answer length")
_LONGEST = 40  # characters of an argument that a complaint repeats
_SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}


class Parser(argparse.ArgumentParser):
    """argparse, with one sentence for a wrong option and the nearest right one; options are written in full."""

    def __init__(self, prog: str, description: str | None = None) -> None:
        super().__init__(prog, description=description, formatter_class=_Formatter, allow_abbrev=False)
        self.seed_help = "random seed (default: 0)"
        self._outputs: dict[str, tuple[str, ...]] = {}  # the endings that an option for a file takes

    def add(self, option: str, words: str, kind: Callable[[str], Any] = str, default: Any = None) -> None:
        """An option with a value, written as in `--items N`."""
        name, metavar = option.split(" ")
        self.add_argument(name, metavar=metavar, help=words, type=kind, default=default)

    def flag(self, option: str, words: str) -> None:
        """An option without a value."""
        self.add_argument(option, action="store_true", help=words)

    def add_output(self, option: str, endings: tuple[str, ...], words: str) -> None:
        """An option for a file to write; `check_outputs` looks at it before any work is done."""
        self._outputs[option] = endings
        self.add_argument(option, metavar="FILE", help=words)

    def add_figure(self, words: str = "write a figure to this .svg, .png or .html file") -> None:
        self.add_output("--figure", (".svg", ".png", ".html"), words)

    def check_outputs(self, options: argparse.Namespace) -> None:
        """Refuse files that cannot be written."""
        for option, endings in self._outputs.items():
            check_place(getattr(options, option.removeprefix("--")), option, endings)

    def add_common(self) -> None:
        """The options of every command, and the usage line; called when the command has added its own."""
        if self.seed_help:  # empty: nothing is random
            self.add_argument("--seed", type=whole, metavar="N", help=self.seed_help)
        self.add_argument("--json", action="store_true", help="print one JSON object instead of text")
        self.add_argument("--quiet", action="store_true", help="do not write messages or progress to stderr")
        places = [action for action in self._actions if not action.option_strings]
        names = [f"[{place.metavar}]" if place.nargs == "?" else str(place.metavar) for place in places]
        self.usage = " ".join(["%(prog)s", *names, "[options]"])

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        """`--option=--` has no value: argparse takes the dashes for the mark that ends options, and makes it a list."""
        if action.option_strings and action.nargs is None and arg_strings == ["--"]:
            raise argparse.ArgumentError(action, "expected one argument")
        return super()._get_values(action, arg_strings)  # pyright: ignore[reportAttributeAccessIssue]

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments: "):
            message = self._unknown(next(iter(message.removeprefix("unrecognized arguments: ").split()), ""))
        message = message.removeprefix("argument ").replace(": expected one argument", " needs a value after it")
        message = re.sub(r"^([\w-]+): (?=must )", r"\1 ", message)  # the types below
        raise UsageError(message.replace(": not allowed with argument ", " excludes "))

    def _unknown(self, wrong: str) -> str:
        if not wrong.startswith("-"):
            return f"{wrong!r} is one argument too many; `{self.prog} --help` says what it takes"
        wrong = wrong.split("=")[0]
        # Compared without the dashes, which make any two options look alike.
        known = {option.lstrip("-"): option for action in self._actions for option in action.option_strings}
        close = difflib.get_close_matches(wrong.lstrip("-"), known, n=1)
        near = f"did you mean {known[close[0]]}? " if close else ""
        return f"there is no option {wrong}; {near}`{self.prog} --help` lists them"


class _Formatter(argparse.HelpFormatter):
    """Help in as many columns as all other text, with the paragraphs of a docstring kept apart."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=22, width=width())

    def _fill_text(self, text: str, width: int, indent: str) -> str:  # noqa: ARG002
        return "\n\n".join(wrapped(" ".join(part.split()), indent, indent) for part in text.strip().split("\n\n"))


def whole(text: str) -> int:
    """A whole number, for argparse."""
    try:
        value = int(text)
    except ValueError:
        shown = repr(text) if len(text) <= _LONGEST else f"{text[:_LONGEST]!r}… of {len(text):,} characters"
        raise argparse.ArgumentTypeError(f"{shown} is not a whole number") from None
    if abs(value) > LARGEST:
        raise argparse.ArgumentTypeError(f"must be a whole number of 64 bits, not {shown_count(value)}")
    return value


def whole_from(least: int, most: int = MOST_COUNT) -> Callable[[str], int]:
    """A whole number between the least that makes sense and the most that a machine can hold, for argparse."""

    def read(text: str) -> int:
        value = whole(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"must be at least {least}, not {value}")
        if value > most:
            raise argparse.ArgumentTypeError(f"must be at most {most:,}, not {shown_count(value)}")
        return value

    return read


def wholes_from(least: int, most: int = MOST_COUNT) -> Callable[[str], list[int]]:
    """Such whole numbers with commas between them, for argparse."""
    read = whole_from(least, most)
    return lambda text: [read(part) for part in text.split(",")]


a_size = whole_from(1, MOST_SIZE)


class OneOf:
    """One of these names in any case, for argparse."""

    def __init__(self, *names: str) -> None:
        self.names = names

    def __call__(self, text: str) -> str:
        if text.lower() not in self.names:
            known = f"{', '.join(self.names[:-1])} or {self.names[-1]}"
            raise argparse.ArgumentTypeError(f"must be {known}, not {text!r}")
        return text.lower()


def above_0(text: str) -> float:
    """A finite number above 0, for argparse."""
    value = number(text)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number above 0, not {value:g}")
    return value


def above_0_to(most: float) -> Callable[[str], float]:
    """A number above 0 that is not beyond what can be done, for argparse."""

    def read(text: str) -> float:
        value = above_0(text)
        if value > most:
            raise argparse.ArgumentTypeError(f"must be at most {most:g}, not {value:g}")
        return value

    return read


def number(text: str) -> float:
    """A number, for argparse."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def amount(text: str) -> float:
    """A number above 0, for argparse, perhaps with k, M, B (or G) or T behind it."""
    plain = text.strip().lower()
    value = _float(plain[:-1]) * _SUFFIXES[plain[-1]] if plain[-1:] in {*_SUFFIXES} else _float(plain)
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, such as 7B, 1.4e11 or 2T")
    return value


def nats(text: str) -> float:
    """A number of nats, for argparse; of bits where that is written behind it."""
    plain = text.strip().lower()
    unit = math.log(2) if plain.endswith(("bits", "bit")) else 1.0
    value = unit * _float(plain.removesuffix("bits").removesuffix("bit").removesuffix("nats"))
    if not 0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of nats of 0 or more, such as 2.2 or 3.2bits")
    return value


def _float(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def add_trust(parser: argparse.ArgumentParser, what: str) -> None:
    """The option that lets stored data name Python files; `cli.main` acts on it."""
    parser.add_argument("--trust", action="store_true", help=f"run the Python files that {what} names")


def add_yes(parser: argparse.ArgumentParser) -> None:
    """The option that lifts the limits on memory and time; `cli.main` acts on it."""
    words = "start even if it seems to need more memory or time than the limits allow"
    parser.add_argument("--yes", action="store_true", help=words)


def add_device(parser: Parser) -> None:
    """Where networks compute, alone: what is computed from the weights is neither rounded nor compiled."""
    parser.add("--device NAME", "auto, cpu, cuda, cuda:1 or mps (default: cpu)")


def add_computing(parser: Parser, measures: bool = True) -> None:
    """The options that say how networks compute; `cli.main` acts on them. Of what is trained, the precision is one of
    the settings of training."""
    add_device(parser)
    if measures:
        words = "float32, or bf16 for matrix products in bfloat16 (default: float32)"
        parser.add_argument("--precision", dest="measured_in", metavar="HOW", help=words)
    parser.flag("--compile", "compile the network with torch: takes a minute at first, then runs faster")


def check_place(name: str | None, option: str, endings: tuple[str, ...] = ()) -> None:
    """Refuse a file that cannot be written, that has another ending than `endings`, or that is there already and is no
    output of ours, before any work is done for it."""
    if name is None:
        return
    path = Path(name)
    if endings and path.suffix.lower() not in endings:
        known = " or ".join(filter(None, (", ".join(endings[:-1]), endings[-1])))
        raise UsageError(f"{option} takes a file that ends in {known}, not {name!r}")
    if path.is_dir() or not path.parent.is_dir() or not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"cannot write {name} there; give {option} a file in a folder that exists")
    check_output(path, option)


def add_task_options(parser: argparse.ArgumentParser, text: str = "") -> None:
    """The ways to say which task: a name, a Python file, a regular expression, an automaton, a file of items."""
    text = text or "a task name such as sort or sort:alphabet=40 (see `lengthwise tasks`), or my.py::Task"
    parser.add_argument("task", nargs="?", metavar="TASK", help=text)
    group = parser.add_argument_group("your own task")
    group.add_argument("--regex", metavar="R", help='a regular language, "(ab)*": which symbols may come next')
    group.add_argument("--dfa", metavar="FILE", help="the same for an automaton in a JSON file")
    group.add_argument("--member", action="store_true", help="with --regex or --dfa: ask whether a word belongs to it")
    group.add_argument("--data", metavar="FILE", help='JSONL with lines {"input": …, "answer": …}')
    group.add_argument("--size-column", metavar="NAME", help="with --data: the column that holds the size")
    group.add_argument("--size-rule", metavar="RULE", help='with --data: "input length" (default) or "answer length"')
    group.add_argument("--axis", metavar="NAME", help="let the size count another axis of the task, such as depth")
    group.add_argument("--at", type=whole, metavar="N", help="with --axis: the fixed size along the first axis")


def add_formulation(parser: argparse.ArgumentParser) -> None:
    """A layout of the user's own, for commands that train or measure one."""
    words = "your own layout of reasoning steps, .py or .jsonl, as `lengthwise check --formulation` reads it"
    parser.add_argument("--formulation", dest="layout", metavar="FILE", help=words)


def task_chosen(options: argparse.Namespace) -> str | dict[str, object] | None:
    """The spec of the task the options describe, or None."""
    ways = {"task": "TASK", "regex": "--regex", "dfa": "--dfa", "data": "--data", "layout": "--formulation"}
    given = [way for way in ways if getattr(options, way, None) is not None]
    if len(given) > 1:
        raise UsageError(f"the task is given twice, by {ways[given[0]]} and {ways[given[1]]}; give one of them")
    way = given[0] if given else None
    if way and not getattr(options, way).strip():
        raise UsageError(f"{ways[way]} is empty; it says which task, as in `lengthwise tasks sort`")
    for name, needs in (("member", ("regex", "dfa")), ("size_column", ("data",)), ("size_rule", ("data",))):
        if getattr(options, name) and way not in needs:
            raise UsageError(f"--{name.replace('_', '-')} goes with {' or '.join('--' + need for need in needs)}")
    if (options.axis is None) != (options.at is None):
        raise UsageError("--axis and --at go together: --axis depth --at 40 grows the depth of words of length 40")
    if way is None:
        if options.axis is not None:
            raise UsageError("--axis goes with a task, as in `lengthwise tasks dyck_k --axis depth --at 40`")
        return None
    spec = _plain_spec(options, way)
    if options.axis is None:
        return spec
    from lengthwise.registry import format_spec

    base = spec if isinstance(spec, str) else format_spec(spec)
    return {"name": "along", "task": base, "axis": options.axis, "at": options.at}


def _plain_spec(options: argparse.Namespace, way: str) -> str | dict[str, object]:
    if way in ("regex", "dfa"):
        key = "expression" if way == "regex" else "dfa"
        return {"name": "regular_member" if options.member else "regular", key: getattr(options, way)}
    if way == "data":
        if options.size_column and options.size_rule:
            raise UsageError("--size-column and --size-rule exclude each other; give one of them")
        if options.size_rule not in (None, *_SIZE_RULES):
            rules = " or ".join(f'"{rule}"' for rule in _SIZE_RULES)
            raise UsageError(f"--size-rule must be {rules}, not {options.size_rule!r}; --size-column names a column")
        size = options.size_column or options.size_rule or "input length"
        return {"name": "jsonl", "path": options.data, "size": size}
    if way == "layout":
        return layout_spec(options.layout)
    return options.task


def layout_spec(path: str) -> str | dict[str, object]:
    """The task of a layout: its file of functions or of pairs, or a class in a file."""
    return path if "::" in path else {"name": "layout", "path": path}


def task_needed(options: argparse.Namespace) -> str | dict[str, object]:
    """The spec of the task; a usage error when there is none."""
    spec = task_chosen(options)
    if spec is None:
        raise UsageError(
            'say which task: a name from `lengthwise tasks`, my.py::Task, --regex "(ab)*" or --data items.jsonl'
        )
    return spec
