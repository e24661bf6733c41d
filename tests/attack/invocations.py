"""Invocations as an attacker would write them, each a function of a seed and its number alone.

An invocation is a list of arguments and the files it names. Most begin with something that would work, in which one to
three things are then wrong: a value, a file, an option too many. The options come from the parsers themselves, so that
a new command or option is attacked without another line here.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from attack import hostile_files
from attack.damage import MODELS, STUDY, damaged
from lengthwise.cli import COMMANDS, parser_of

NUMBERS = (
    *(
        "0",
        "-1",
        "1",
        "2",
        "3",
        "1.5",
        "-0",
        "1e3",
        "1e18",
        "1e308",
        "5e-324",
        "1e400",
        "-1e400",
        "nan",
        "inf",
        "-inf",
        "",
        " ",
        "1,2",
        "٣",
    ),
    *(
        "100000",
        "2147483648",
        "9223372036854775807",
        "9223372036854775808",
        "1000000000000",
        "9" * 400,
        "9" * 5000,
        "0x10",
    ),
)
TEXTS = (
    *(
        "",
        " ",
        "a",
        "none",
        "--",
        "-",
        "..",
        "/",
        "\u202e",
        "a\nb",
        "é" * 300,
        "a" * 5000,
        "%s%n",
        "{}",
        "'\"`",
        "None",
    ),
    *("sort:", "sort:alphabet", "sort:alphabet=x", "sort:alphabet=1000000000", "sort:alphabet=-1", "sort:alphabet=nan"),
    *(
        "rope:base=0",
        "rope:base=inf",
        "rope:factor=1e400",
        "a:b=c,d=e",
        ":",
        "::",
        "x.py::Y",
        "rope",
        "sort",
        "softmax",
    ),
    *(
        "lstm:width=1000000000",
        "curve",
        "ladder:items=1000000000",
        "sparsity:items=-1",
        "uniform",
        "full",
        "lora:rank=0",
    ),
    *(
        "runs/none",
        "/dev/zero",
        "/dev/null",
        "/proc/self/mem",
        "openai:",
        "openai:http://127.0.0.1:9,model=x",
        "\ud800",
    ),
)
EXPRESSIONS = (
    *("(ab)*", "a" * 3000, "(" * 5000, "a|" * 3000 + "a", "(a|b)*a" + "(a|b)" * 11, "a{1000000}", "[a-z]*", "[", "a**"),
    *("(((a*)*)*)*", "a{3,1}", "\\", "{a,b}*d{b,c}*", "ε", "()", "a{0}", "[^a]", "a?" * 200 + "a" * 200),
)
# Beginnings that work or nearly do. FILE is a file of the right kind, MODEL the folder or file of a model.
BEGINNINGS = (
    *("tasks", "tasks sort", "tasks --regex (ab)*", "tasks --dfa FILE.dfa", "tasks --data FILE.items", "tasks FILE.py"),
    *("tasks prose:path=FILE.text", "positions", "positions rope", "models", "models lstm", "attentions", "doctor"),
    *("examples", "examples --list", "completion bash", "man"),
    *("check sort", "check --regex (ab)*", "check --dfa FILE.dfa", "check --data FILE.items", "check FILE.py"),
    *("check --formulation FILE.pairs", "check --formulation FILE.layout.py", "check sort --program FILE.crasp"),
    *("check --data FILE.chains", "forecast parity", "advise parity", "shift FILE.items FILE.items", "shift sort sort"),
    *("train sort --dry-run", "train --data FILE.items --dry-run", "train FILE.py --dry-run"),
    *("train sort --steps 2 --batch 4 --depth 1 --width 16 --heads 1 --items 4 --train-size 4 --test-size 6",),
    *("train-length simple_task --dry-run", "train-length FILE.py --dry-run", "train-length kgram_law --dry-run"),
    *("train --formulation FILE.pairs --dry-run", "check --formulation FILE.layout.py --repair"),
    "train --formulation FILE.layout.py --steps 2 --batch 4 --depth 1 --width 16 --heads 1 --items 4 --train-size 4"
    " --test-size 6",
    *("train sort --model FILE.net.py::Net --dry-run", "measure FILE.net.py::build --task sort --items 4"),
    *("measure FILE.net.py::Net --task sort --items 4 --test-size 5", "inspect FILE.net.py::build --items 2"),
    *("study FILE.toml --no-report", "study FILE.toml --dry-run", "study quick --dry-run", "study --list"),
    *("study show x", "study status x", "study export x", "study rebuild x", "report x", "report atlas"),
    *("bound plan", "bound width", "contexture FILE.csv", "contexture FILE.npy", "particles --start FILE.npy --time 1"),
    *("bound plan --params 7B --tokens 1T --loss 2", "bound plan --params 7B --tokens 1T --loss 2 --method azuma"),
    *("bound width --constant 1 --units 100", "bound width --constant 1 --error 0.1", "report FILE.json.gz"),
    *("forecast parity --atlas FILE.json.gz", "advise parity --atlas FILE.json.gz", "examples FILE.text"),
    *("check --formulation FILE.pairs --repair", "check --data FILE.chains --test-data FILE.chains"),
    *(
        "contexture FILE.table.csv",
        "bound contrastive --positives FILE.table.csv",
        "limit majority",
        "limit FILE.limit",
    ),
    *("limit simulate majority --word 0101", "limit simulate majority --file FILE.text", "limit compare majority wave"),
    *("particles --time 1 --frames 3 --n 4", "particles --start FILE.table.csv --time 1 --frames 3"),
    *(
        "particles phases --d 2 --n 4 --starts 1 --betas 2 --frames 3 --time 1",
        "particles density --time 0.1 --frames 3",
    ),
)
OF_MODELS = (
    *("inspect MODEL --items 2", "inspect MODEL --data FILE.items", "inspect MODEL --probes layers --items 2"),
    *("measure MODEL --task sort --items 4 --test-size 5", "measure MODEL --items 4 --probe sparsity:items=2"),
    *("ask MODEL 3", "bound MODEL --data FILE.items", "limit MODEL --items 2", "forecast MODEL --seen 12 --items 4"),
    *(
        "forecast MODEL --seen 8 --items 4 --unlabelled FILE.items",
        "measure MODEL --task sort --items 4 --tokens FILE.dfa",
    ),
    *("measure MODEL --task needle --rope none --items 2 --text FILE.text",),
    "bound shift MODEL --from FILE.ids --to FILE.ids --items 4",
    *("contexture MODEL --items 8 --twins 1", "train --from MODEL --dry-run", "bound shift MODEL --to 14 --items 4"),
)
OF_STUDIES = (
    *("study show STUDY", "study status STUDY", "study export STUDY out.csv", "study export STUDY out.csv --claims"),
    *("study export STUDY out.json --summary", "study rebuild STUDY", "report STUDY", "view STUDY --bundle page"),
    *("check sort --against STUDY", "study export STUDY out.json.gz --atlas"),
    *("view . --bundle page", "view STUDY", "study show STUDY --analysis reach", "train sort --folder STUDY --dry-run"),
)
MODEL_SHARE, STUDY_SHARE = 0.25, 0.08


@dataclass(frozen=True)
class Invocation:
    """The arguments, and what makes the files that they name, in the folder it is given."""

    number: int
    arguments: list[str]
    writers: list[Callable[[Path], None]] = field(default_factory=list)

    def write(self, folder: Path) -> None:
        for writer in self.writers:
            writer(folder)


def invocation(seed: int, number: int, models: Sequence[str] = MODELS) -> Invocation:
    """The invocation of this number in the campaign of this seed."""
    draw = random.Random(f"{seed}:{number}")
    share = draw.random() if models else 1.0
    of_model = share < MODEL_SHARE + STUDY_SHARE
    words = draw.choice(OF_MODELS if share < MODEL_SHARE else OF_STUDIES if of_model else BEGINNINGS).split(" ")
    writers: list[Callable[[Path], None]] = []
    arguments = []
    for word in words:
        word, colons, inside = word.partition("::")
        for mark in ("FILE", "MODEL", "STUDY"):
            if mark in word:
                kinds = {"MODEL": models, "STUDY": (STUDY,)}
                name, writer = damaged(draw, kinds[mark]) if mark in kinds else hostile_files.file(draw, word)
                word = word[: word.index(mark)] + name
                writers.append(writer)
        arguments.append(word + colons + inside)
    for _ in range(draw.choice((0, 0, 0, 1) if of_model else (0, 1, 1, 1, 2, 3))):
        arguments = _with_a_fault(draw, arguments, writers)
    return Invocation(number, arguments, writers)


def _with_a_fault(draw: random.Random, arguments: list[str], writers: list[Callable[[Path], None]]) -> list[str]:
    kind = draw.random()
    if kind < 0.6 and (options := _options(arguments)):
        name, values, a_file = draw.choice(options)
        if not values:
            return [*arguments, name]
        value = draw.choice(values) if draw.random() < 0.8 else draw.choice(NUMBERS + TEXTS)
        if name == "--regex":
            value = draw.choice(EXPRESSIONS)
        elif a_file and draw.random() < 0.7:
            value, writer = hostile_files.file(draw, f"FILE.{draw.choice(hostile_files.KINDS)}")
            writers.append(writer)
        return [*arguments, name, value] if draw.random() < 0.8 else [*arguments, f"{name}={value}"]
    if kind < 0.8 and len(arguments) > 1:
        place = draw.randrange(1, len(arguments))
        return [*arguments[:place], draw.choice(NUMBERS + TEXTS), *arguments[place + 1 :]]
    if kind < 0.9 and len(arguments) > 1:
        place = draw.randrange(1, len(arguments))
        return [*arguments[:place], *arguments[place + 1 :]]
    return [*arguments, draw.choice(TEXTS)]


_known: dict[str, list[tuple[str, list[str], bool]]] = {}


def _options(arguments: list[str]) -> list[tuple[str, list[str], bool]]:
    """The options of a command: their names, the values that their parser lets through, if they take one, and whether
    that is a file."""
    name = " ".join(arguments[:2]) if " ".join(arguments[:2]) in COMMANDS else arguments[0]
    if name not in COMMANDS:
        return []
    if name not in _known:
        actions = [action for action in parser_of(name)._actions if action.option_strings and action.dest != "help"]
        _known[name] = [
            (
                action.option_strings[-1],
                [] if action.nargs == 0 else [value for value in NUMBERS + TEXTS if _taken(action, value)],
                str(action.metavar) in ("FILE", "START", "F"),
            )
            for action in actions
            if action.option_strings[-1] not in ("--yes", "--executor", "--video", "--gif", "--compile", "--open")
        ]
    return _known[name]


def _taken(action: argparse.Action, value: str) -> bool:
    try:
        (action.type or str)(value)  # pyright: ignore[reportCallIssue]
    except (ValueError, argparse.ArgumentTypeError):
        return False
    return True
