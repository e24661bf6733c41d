"""The command line: one file a command, loaded when it is asked for.

Results go to stdout, narration and progress to stderr. Exit codes: 0 done, 1 internal error, 2 usage or bad input,
3 a required certificate was refused, 4 some runs failed, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lengthwise.cli.options import Parser

COMMANDS = {
    "train": "train a model on a task at short sizes, measure how far it holds",
    "measure": "measure a saved run again, at other sizes or on other items",
    "tasks": "list the tasks, or show one with worked samples",
    "positions": "list the position encodings, or show one in figures",
    "doctor": "versions, threads, speed, extras and what is missing",
}

_HELP = """usage: lengthwise COMMAND [options]

Will a Transformer trained on short inputs hold on longer ones? How far, why?

commands:
{commands}

options:
  -h, --help     this text; `lengthwise COMMAND --help` for that command's
  -V, --version  the version

example:
  lengthwise train sort --position learned+offset --train-size 20
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the return value is the exit code."""
    for stream in (sys.stdout, sys.stderr):
        if reconfigure := getattr(stream, "reconfigure", None):
            reconfigure(errors="replace")  # a sign that the terminal cannot show is no reason to fail
    try:
        return _guarded(sys.argv[1:] if arguments is None else arguments)
    except KeyboardInterrupt:
        print("lengthwise: stopped; nothing was changed", file=sys.stderr)
        return 130
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _guarded(arguments: list[str]) -> int:
    """The exit code, with the errors a user can meet turned into their sentences."""
    from lengthwise.cli.output import complain
    from lengthwise.errors import LengthwiseError

    try:
        code = _run(arguments)
    except LengthwiseError as error:
        complain(str(error))
        code = error.exit_code
    sys.stdout.flush()
    return code


def parser_of(name: str) -> Parser:
    """The parser of a command; its description is the docstring of the command's module."""
    from lengthwise.cli.options import Parser

    command = importlib.import_module(f"lengthwise.cli.{name}")
    parser = Parser(f"lengthwise {name}", command.__doc__)
    command.add_options(parser)
    parser.add_common()
    return parser


def _run(arguments: list[str]) -> int:
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help", "help"):
        print(_HELP.format(commands="\n".join(f"  {key:<9}  {text}" for key, text in COMMANDS.items())), end="")
        return 0
    if name in ("-V", "--version"):
        from lengthwise import __version__

        print(f"lengthwise {__version__}")
        return 0
    if name not in COMMANDS:
        from lengthwise.errors import UnknownName
        from lengthwise.registry import nearest

        if name.startswith("-"):
            raise UnknownName(f"a command comes before options such as {name}; `lengthwise --help` lists the commands")
        raise UnknownName(f"unknown command {name!r}; {nearest(name, COMMANDS)}`lengthwise --help` lists them")
    parser = parser_of(name)
    if {"-h", "--help"} & set(arguments[1:]):
        print(parser.format_help(), end="")
        return 0
    options = parser.parse_intermixed_args(arguments[1:])
    return importlib.import_module(f"lengthwise.cli.{name}").run(options)
