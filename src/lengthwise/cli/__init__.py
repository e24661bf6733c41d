"""The command line. A function in a module of options, named and described as the command is, says what it takes, and
`--help` loads nothing else; `run` in `commands/NAME.py` does it, and is loaded when it is asked for.

Results go to stdout, narration and progress to stderr. Exit codes: 0 done, 1 internal error, 2 usage or bad input,
3 a required certificate was refused, 4 some runs failed, 130 interrupted.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import TYPE_CHECKING

from lengthwise.errors import LengthwiseError, OutOfReach, UnknownName, UntrustedCode, UsageError
from lengthwise.limits import lifted

if TYPE_CHECKING:
    from argparse import Namespace

    from lengthwise.cli.options import Parser

COMMANDS = {
    "check": "predict before training which encodings can hold, and why",
    "forecast": "predict how far a task or a trained model will hold",
    "advise": "recommend what to train a task with, and say why",
    "train": "train a model at short sizes and measure how far it holds",
    "train-length": "how long must training be for a given error beyond it?",
    "measure": "measure a model: accuracy by size, and other probes",
    "ask": "ask a run one question and print its answer",
    "inspect": "look inside a model: norms, constants, attention, tokens",
    "bound": "what a model's own training data guarantees about it",
    "bound plan": "what a training run could guarantee, and what it takes",
    "bound shift": "the largest error that a shift can cause, term by term",
    "bound contrastive": "bound the InfoNCE loss of an encoder from embeddings",
    "bound width": "how much error width can remove, for a known constant",
    "limit": "when attention becomes hard: limit transformers and runs",
    "limit simulate": "find a short word that represents a long one",
    "limit compare": "check whether two limit transformers agree up to a length",
    "contexture": "what contexts can teach, and how much of it a model learned",
    "particles": "simulate tokens on a sphere that attract each other",
    "particles phases": "phase diagram: when tokens form one cluster, by beta and d",
    "particles density": "a density on circle or sphere: how many peaks, and when",
    "study": "run a grid of tasks, encodings, models and seeds",
    "study status": "show the progress of a study and the time left",
    "study show": "print the results of a study",
    "study export": "export the results of a study as Parquet or CSV",
    "study rebuild": "rebuild the index of a study from its run folders",
    "shift": "measure how far test data are from training data, and why",
    "report": "write the report of a study as one offline HTML page",
    "view": "watch runs and studies on a local page, live",
    "tasks": "list the tasks, or show one with worked examples",
    "positions": "list the position encodings, or show one in numbers",
    "models": "list the models, or show one with its settings",
    "attentions": "list the attention rules, or show one with its settings",
    "examples": "copy examples that run, and a notebook, into a folder",
    "completion": "print the script that completes commands in your shell",
    "man": "print the manual page",
    "doctor": "check versions, threads, speed and extras",
}

_NO_MEMORY = "can't allocate memory"  # so torch says, in an error of no kind of its own

# What a file system refuses to whomever asks: names that are too long, full and read-only disks, missing rights.
_REFUSALS = {
    *(errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.EROFS),
    *(errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.ESTALE, errno.EMFILE, errno.ENFILE),
}

# The options that say how networks compute. `train` and `study` have a --precision of training, which is another thing.
HOW = {"device": "device", "precision": "measured_in", "compile": "compile"}

# Which module has the options of a command, by its first word: `study` is in study_options.py.
_OPTIONS = {
    **dict.fromkeys(("check", "forecast", "advise", "measure", "ask", "inspect"), "model"),
    **dict.fromkeys(("bound", "contexture"), "bound"),
    **dict.fromkeys(("study", "report", "view"), "study"),
    **dict.fromkeys(("shift", "tasks", "positions", "models", "attentions", "doctor"), "task"),
    **dict.fromkeys(("train", "train-length"), "train"),
    **dict.fromkeys(("examples", "completion", "man"), "help"),
    "limit": "limit",
    "particles": "particle",
}

SUMMARY = "Will a Transformer trained on short inputs hold on longer ones? How far, why?"
_HELP = """usage: lengthwise COMMAND [options]

{summary}

commands:
{commands}

options:
  -h, --help     show this help; `lengthwise COMMAND --help` describes a command
  -V, --version  show the version

example:
  lengthwise train sort --position learned+offset --train-size 20
"""


def main(arguments: list[str] | None = None) -> int:
    """Run a command; the return value is the exit code."""
    from lengthwise.terminal import standard_streams, visible_streams

    with standard_streams(), visible_streams():
        try:
            return _guarded(sys.argv[1:] if arguments is None else arguments)
        except KeyboardInterrupt:
            print("lengthwise: stopped; nothing was changed", file=sys.stderr)
            return 130
        except BrokenPipeError:  # the reader of our output went away, as `head` does
            return 0
        except Exception:  # a defect: its traceback may hold data too
            import traceback

            traceback.print_exc()
            return 1


def _guarded(arguments: list[str]) -> int:
    """The exit code, with the errors a user can meet turned into their sentences."""
    from lengthwise.cli.output import complain

    try:
        _check_text(arguments)
        code = _run(arguments)
    except LengthwiseError as error:
        here = {UntrustedCode: " (here: --trust)", OutOfReach: " (here: --yes)"}.get(type(error), "")
        complain(f"{error}{here}")
        code = error.exit_code
    except SystemExit as error:  # nothing here exits; code of the user's did
        complain(f"code that was run called exit({error.code!r}), which ends nothing here; let it return or raise")
        code = 2
    except (MemoryError, RuntimeError) as error:
        if not _is_of_memory(error):
            raise
        complain("this takes more memory than the machine gives; ask for less: smaller sizes, batches or models")
        code = 2
    except OSError as error:
        if error.errno not in _REFUSALS:
            raise
        complain(f"{error.filename or 'a file'} cannot be used: {error.strerror}")
        code = 2
    except (Exception, KeyboardInterrupt):
        raise
    except BaseException as error:  # nothing here raises one that is no Exception; code of the user's did
        kind = type(error).__name__
        complain(f"code that was run raised {kind}, which is no subclass of Exception; let it raise one")
        code = 2
    sys.stdout.flush()
    return code


def _check_text(arguments: list[str]) -> None:
    """Refuse arguments that are not text: bytes that are not UTF-8 arrive as halves of characters."""
    for one in arguments:
        if "\0" in one or any("\ud800" <= sign <= "\udfff" for sign in one):
            raise UsageError(f"the argument {ascii(one)[:80]} is not UTF-8 text; rename the file if it is one")


def _is_of_memory(error: Exception) -> bool:
    """Whether memory was refused; torch says so in words alone."""
    return isinstance(error, MemoryError) or _NO_MEMORY in str(error)


def parser_of(name: str) -> Parser:
    """The parser of a command."""
    from lengthwise.cli.options import Parser

    module = importlib.import_module(f"lengthwise.cli.{_OPTIONS[name.partition(' ')[0]]}_options")
    add_options = getattr(module, _in_python(name))
    parser = Parser(f"lengthwise {name}", add_options.__doc__)
    add_options(parser)
    parser.add_common()
    return parser


def _in_python(name: str) -> str:
    """The name of a command's options and of its module."""
    return name.replace(" ", "_").replace("-", "_")


def split_command(arguments: list[str]) -> tuple[str, list[str]]:
    """The command, of two words where there is such a one, and what follows it."""
    words = 2 if " ".join(arguments[:2]) in COMMANDS else 1
    return " ".join(arguments[:words]) or "--help", arguments[words:]


def commands_below(name: str) -> dict[str, str]:
    """The commands of two words that begin with this one."""
    return {key: text for key, text in COMMANDS.items() if key.startswith(f"{name} ")}


def _listed(commands: dict[str, str]) -> str:
    wide = max(len(key) for key in commands)
    return "\n".join(f"  {key:<{wide}}  {text}" for key, text in commands.items())


def _run(arguments: list[str]) -> int:
    name, rest = split_command(arguments)
    if name in ("-h", "--help", "help"):
        print(_HELP.format(summary=SUMMARY, commands=_listed(COMMANDS)), end="")
        return 0
    if name in ("-V", "--version"):
        from lengthwise.version import __version__

        print(f"lengthwise {__version__}")
        return 0
    _check_known(name, rest)
    parser = parser_of(name)
    if {"-h", "--help"} & set(rest):
        more = f"\ncommands:\n{_listed(commands_below(name))}\n" if commands_below(name) else ""
        print(parser.format_help() + more, end="")
        return 0
    options = parser.parse_intermixed_args(rest)
    parser.check_outputs(options)
    return _carried_out(name, options)


def _carried_out(name: str, options: Namespace) -> int:
    """Run a command. Stored data may name files of code only with --trust; what is skipped without it is reported."""
    from lengthwise.cli.output import warn
    from lengthwise.hardware import computing
    from lengthwise.progress import waited
    from lengthwise.trust import trusting

    _check_folder()
    how = {name: given for name in HOW if (given := getattr(options, HOW[name], None))}
    yes = getattr(options, "yes", False)
    serves = name == "view" and options.bundle is None  # and waits for visitors
    told = waited(name, options.quiet or serves)
    with trusting(getattr(options, "trust", False)) as refused, lifted(yes), computing(**how), told:
        code = importlib.import_module(f"lengthwise.cli.commands.{_in_python(name)}").run(options)
    left_out = "is named by stored data and was not run; --trust runs it"
    warn([f"the Python file {path} {left_out}" for path in refused], options.quiet)
    return code


def _check_folder() -> None:
    """Refuse to begin in a folder that was deleted, where neither a path nor torch's libraries are found."""
    try:
        os.getcwd()
    except OSError as error:
        raise UsageError(f"the current directory cannot be used: {error.strerror}; change to another one") from None


def _check_known(name: str, rest: list[str]) -> None:
    """Refuse a command that does not exist; `study shwo NAME` is one, as `study` takes one name alone."""
    from lengthwise.registry import nearest

    if name.startswith("-"):
        raise UnknownName(f"a command comes before options such as {name}; `lengthwise --help` lists the commands")
    if name not in COMMANDS:
        raise UnknownName(f"unknown command {name!r}; {nearest(name, COMMANDS)}`lengthwise --help` lists them")
    if commands_below(name) and len(rest) > 1 and not (rest[0].startswith("-") or rest[1].startswith("-")):
        wrong = f"{name} {rest[0]}"
        if near := nearest(wrong, commands_below(name)):
            raise UnknownName(f"unknown command {wrong!r}; {near}`lengthwise {name} --help` lists them")
