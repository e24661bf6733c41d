"""The command line: one file a command, loaded when it is asked for.

Results go to stdout, narration and progress to stderr. Exit codes: 0 done, 1 internal error, 2 usage or bad input,
3 a required certificate was refused, 4 some runs failed, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys

COMMANDS = {
    "train": "train a model on a task at short sizes and measure how far it holds",
    "measure": "measure a saved run again, at other sizes or on other items",
    "tasks": "list the tasks, or show one with worked samples",
    "positions": "list the position encodings, or show one in figures",
    "doctor": "versions, threads, speed, extras and what is missing",
}

_HELP = """Usage: lengthwise COMMAND [options]

Will a Transformer trained on short inputs hold on longer ones? How far, and why?

Commands:
{commands}

Options:
  --help       this text; `lengthwise COMMAND --help` for a command's options
  --version    the version

Example:
  lengthwise train sort --position learned+offset --train-size 20 --test-size 60
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the return value is the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    name = arguments[0] if arguments else "--help"
    if name in ("-h", "--help", "help"):
        print(_HELP.format(commands="\n".join(f"  {key:<12} {text}" for key, text in COMMANDS.items())), end="")
        return 0
    if name in ("-V", "--version"):
        from lengthwise import __version__

        print(f"lengthwise {__version__}")
        return 0
    from lengthwise.cli.output import complain
    from lengthwise.errors import LengthwiseError

    if name not in COMMANDS:
        from lengthwise.registry import nearest

        complain(f"unknown command {name!r}; {nearest(name, COMMANDS)}`lengthwise --help` lists them")
        return 2
    try:
        return _run(name, arguments[1:])
    except LengthwiseError as error:
        complain(str(error))
        return error.exit_code
    except KeyboardInterrupt:
        complain("stopped")
        return 130
    except BrokenPipeError:  # the reader of our output went away, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _run(name: str, arguments: list[str]) -> int:
    from lengthwise.cli.options import Parser

    command = importlib.import_module(f"lengthwise.cli.{name}")
    parser = Parser(prog=f"lengthwise {name}", description=command.__doc__)
    command.add_options(parser)
    parser.add_common()
    code = command.run(parser.parse_args(arguments))
    sys.stdout.flush()
    return code
