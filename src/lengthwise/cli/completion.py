"""What can follow on a command line that is being typed, from the parsers that read it and the names that are known.

The scripts in `shells/` are all that differs between shells: they hand over the line up to the cursor, and show what
they get back. Nothing is loaded that the word at the cursor does not need.
"""

from __future__ import annotations

import argparse
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files

from lengthwise.cli import COMMANDS, commands_below, parser_of, split_command
from lengthwise.cli.options import OneOf
from lengthwise.registry import named_in

SHELLS = {"bash": "lengthwise.bash", "zsh": "_lengthwise", "fish": "lengthwise.fish"}
PATHS = "/"  # stands for all names of files and folders, which a shell completes by itself

# Which names an option or an argument takes: the registry of a kind of thing, "module:name".
_REGISTRIES = {
    "task": "lengthwise.tasks:tasks",
    "position": "lengthwise.positions:positions",
    "model": "lengthwise.models.named:models",
    "attention": "lengthwise.models.attention:attentions",
    "probe": "lengthwise.probes:probes",
    "analysis": "lengthwise.analyses:analyses",
    "executor": "lengthwise.executors:executors",
    "quantiser": "lengthwise.bounds.compression.quantisers:quantisers",
}
_WRAPPERS = "lengthwise.positions:wrappers"
_TAKES = {
    **{f"--{kind}": kind for kind in _REGISTRIES},
    "--probes": "probe",
    "TASK": "task",
    "POSITION": "position",
    "models MODEL": "model",
    "RULE": "attention",
}
_WORDS = {
    "--device": ("auto", "cpu", "cuda", "mps"),
    "--precision": ("float32", "bf16"),
    "bound shift --metric": ("states", "sequence", "measure"),
    "limit --mode": ("finite", "hardmax", "infinite"),
    "--size-rule": ("input length", "answer length"),
}
_BREAKS = re.compile(r".*[:=]", re.DOTALL)  # where bash begins a new word


def script(shell: str) -> str:
    """The script that a shell reads to complete commands of lengthwise."""
    return files("lengthwise.cli").joinpath("shells", SHELLS[shell]).read_text(encoding="utf-8")


def completions(line: str, shell: str = "zsh") -> dict[str, str]:
    """The words that can stand at the end of a line, each with its description. `PATHS` among them says that the name
    of a file or folder can stand there too. For bash a word begins after its last colon or equals sign."""
    *before, typed = _words_of(line)
    found = {word: text for word, text in _following(before, typed) if word == PATHS or word.startswith(typed)}
    start = _BREAKS.match(typed) if shell == "bash" else None
    behind = start.end() if start else 0
    return {word if word == PATHS else word[behind:]: text for word, text in found.items()}


def _words_of(line: str) -> list[str]:
    """The words of a line without the program; the last is the one being typed, and may be empty or lack a quote."""
    for end in ("", "'", '"'):
        try:
            words = shlex.split(line + end)
        except ValueError:
            continue
        begun = len(words) > 1 and (end or not line[-1:].isspace())
        return words[1:] if begun else [*words[1:], ""]
    return [""]


def _following(before: list[str], typed: str) -> Iterator[tuple[str, str]]:
    if not before:
        yield from ((name, text) for name, text in COMMANDS.items() if " " not in name)
        yield from (("--help", "show help"), ("--version", "show the version"))
        return
    name, given = split_command(before)
    if name not in COMMANDS:
        return
    parser = parser_of(name)
    options = {text: action for action in parser._actions for text in action.option_strings}
    open_option, used, places = _read(given, options)
    option, equals, _ = typed.partition("=")
    if open_option:
        yield from _values(name, open_option, options[open_option], typed)
    elif equals and option in options:
        for word, text in _values(name, option, options[option], typed.removeprefix(f"{option}=")):
            yield (word if word == PATHS else f"{option}={word}"), text
    elif typed.startswith("-"):
        repeatable = {text for text, action in options.items() if isinstance(action, argparse._AppendAction)}
        yield from ((text, action.help or "") for text, action in options.items() if text not in used - repeatable)
    else:
        if not given:
            yield from ((key.removeprefix(f"{name} "), text) for key, text in commands_below(name).items())
        expected = [action for action in parser._actions if not action.option_strings]
        for action in expected[places : places + 1]:
            yield from _values(name, str(action.metavar), action, typed)


def _read(given: list[str], options: Mapping[str, argparse.Action]) -> tuple[str, set[str], int]:
    """The option that the next word is a value of, if any; the options given; and how many arguments there were."""
    used, places, left, last = set[str](), 0, 0, ""
    for word in given:
        option, equals, _ = word.partition("=")
        if left:
            left -= 1
        elif option in options:
            used.add(option)
            count = options[option].nargs
            last, left = option, 0 if equals else count if isinstance(count, int) else 1
        else:
            places += 1
    return last if left else "", used, places


def _values(command: str, place: str, action: argparse.Action, typed: str) -> Iterable[tuple[str, str]]:
    """What can be the value of an option or an argument."""
    if isinstance(action.type, OneOf):
        return [(name, "") for name in action.type.names]
    for key in (f"{command} {place}", place):
        if key in _WORDS:
            return [(word, "") for word in _WORDS[key]]
        if key in _TAKES:
            return [*_named(_TAKES[key], typed), (PATHS, "")]
    if command == "study" and place == "STUDY":
        return [*((name, "") for name in named_in("lengthwise.studies.spec:builtin_names")()), (PATHS, "")]
    if place == "NAME":  # a study below runs/
        own = named_in("lengthwise.studies.store:study_names")()
        return [*((name, "") for name in (*own, *(["atlas"] if command == "report" else []))), (PATHS, "")]
    return [(PATHS, "")] if action.type in (None, str) else []  # numbers cannot be guessed


def _named(kind: str, typed: str) -> Iterator[tuple[str, str]]:
    """The names of a kind of thing; of wrappers behind the plus of an encoding."""
    base, plus, _ = typed.rpartition("+") if kind == "position" else ("", "", "")
    registry = named_in(_WRAPPERS if plus else _REGISTRIES[kind])
    for name in registry.names():
        maker = registry.maker(name)
        yield f"{base}{plus}{name}", (getattr(maker, "func", maker).__doc__ or "").strip().partition("\n")[0]
