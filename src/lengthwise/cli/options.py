"""Options that several commands share, and a parser whose complaints are one sentence."""

from __future__ import annotations

import argparse
import sys
from typing import NoReturn

from lengthwise.errors import UsageError


class Parser(argparse.ArgumentParser):
    """argparse, with one sentence for a wrong option and the nearest right one."""

    def __init__(self, prog: str, description: str | None = None) -> None:
        super().__init__(prog, description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        self._optionals.title = "options"

    def add_common(self) -> None:
        self.add_argument("--seed", type=whole, default=None, help="the seed of everything random (default 0)")
        self.add_argument("--json", action="store_true", help="print one JSON object instead of text")
        self.add_argument("--quiet", action="store_true", help="no narration and no progress on stderr")

    def error(self, message: str) -> NoReturn:
        if message.startswith("unrecognized arguments: "):
            from lengthwise.registry import nearest

            wrong = message.removeprefix("unrecognized arguments: ").split()[0].split("=")[0]
            known = [option for action in self._actions for option in action.option_strings]
            message = f"there is no option {wrong}; {nearest(wrong, known)}`{self.prog} --help` lists them"
        print(f"{self.prog}: {message}", file=sys.stderr)
        raise SystemExit(2)


def whole(text: str) -> int:
    """A whole number, for argparse."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def add_task_options(parser: argparse.ArgumentParser) -> None:
    """The ways to say which task: a name, a Python file, a regular expression, an automaton, a file of items."""
    parser.add_argument(
        "task", nargs="?", help="a name (`lengthwise tasks`), with settings as sort:alphabet=40; or my.py::Task"
    )
    group = parser.add_argument_group("your own task")
    group.add_argument("--regex", metavar="R", help='a regular language: next legal symbols of its words, "(ab)*"')
    group.add_argument("--dfa", metavar="FILE", help="the same from an automaton in a JSON file")
    group.add_argument(
        "--member", action="store_true", help="with --regex or --dfa: ask whether a word is in the language"
    )
    group.add_argument("--data", metavar="FILE", help='JSONL with lines {"input": …, "answer": …}')
    group.add_argument("--size-column", metavar="NAME", help="with --data: the column that holds the size")
    group.add_argument(
        "--size-rule", metavar="RULE", help='with --data: "input length" (the default) or "answer length"'
    )
    group.add_argument(
        "--axis", metavar="NAME", help="let the size count another axis of the task, such as depth; needs --at"
    )
    group.add_argument("--at", type=whole, metavar="N", help="with --axis: the fixed size along the task's first axis")


def task_chosen(options: argparse.Namespace) -> str | dict[str, object] | None:
    """The spec of the task the options describe, or None."""
    given = [name for name in ("task", "regex", "dfa", "data") if getattr(options, name) is not None]
    if len(given) > 1:
        raise UsageError(f"the task is given twice, by {given[0]} and --{given[1]}; give one of them")
    if not given:
        return None
    for name, needs in (("member", ("regex", "dfa")), ("size_column", ("data",)), ("size_rule", ("data",))):
        if getattr(options, name) and given[0] not in needs:
            raise UsageError(f"--{name.replace('_', '-')} goes with {' or '.join('--' + need for need in needs)}")
    spec = _plain_spec(options, given[0])
    if (options.axis is None) != (options.at is None):
        raise UsageError("--axis and --at go together: --axis depth --at 40 grows the depth of words of length 40")
    if options.axis is None:
        return spec
    from lengthwise.registry import format_spec

    return {
        "name": "along",
        "task": spec if isinstance(spec, str) else format_spec(spec),
        "axis": options.axis,
        "at": options.at,
    }


def _plain_spec(options: argparse.Namespace, given: str) -> str | dict[str, object]:
    if given in ("regex", "dfa"):
        key = "expression" if given == "regex" else "dfa"
        return {"name": "regular_member" if options.member else "regular", key: getattr(options, given)}
    if given == "data":
        if options.size_column and options.size_rule:
            raise UsageError("--size-column and --size-rule exclude each other")
        return {
            "name": "jsonl",
            "path": options.data,
            "size": options.size_column or options.size_rule or "input length",
        }
    return options.task


def task_needed(options: argparse.Namespace) -> str | dict[str, object]:
    """The spec of the task; a usage error when there is none."""
    spec = task_chosen(options)
    if spec is None:
        raise UsageError(
            'say which task: a name from `lengthwise tasks`, my.py::Task, --regex "(ab)*" or --data items.jsonl'
        )
    return spec
