"""The manual page of all commands, in roff, from the parsers that read them."""

from __future__ import annotations

import argparse
import textwrap

from lengthwise.cli import COMMANDS, SUMMARY, parser_of
from lengthwise.version import __version__

DATE = "2026-11-18"  # when the page was last gone over
EXIT_CODES = {
    0: "done",
    1: "internal error, or diverged training",
    2: "wrong usage or bad input: one sentence on stderr says what would be right",
    3: "a required certificate was refused",
    4: "some runs failed; the others are kept",
    130: "stopped by Ctrl-C; run the same command again to resume an interrupted run",
}
_STREAMS = """Results go to stdout, messages and progress to stderr. With --json a command prints one object, which has
`schema` (the version of its layout) and `command`; with --quiet only errors are written to stderr.

`lengthwise COMMAND --help` describes one command."""
_FILES = {
    "runs/": "the runs and studies of the current folder",
    "bounds/": "the results of lengthwise bound",
    "measured/": "prompts and answers of language models",
}


def manual() -> str:
    """The page, for man(1): lengthwise(1)."""
    lines = [
        rf'.TH LENGTHWISE 1 "{DATE}" "lengthwise {__version__}" "User Commands"',
        *(".SH NAME", *_filled(f"lengthwise - {SUMMARY}")),
        *(".SH SYNOPSIS", r".B lengthwise", r"\fICOMMAND\fR [\fIoptions\fR]"),
        *(".SH DESCRIPTION", *_paragraphs(_STREAMS)),
        ".SH COMMANDS",
    ]
    for name in COMMANDS:
        lines += _command(name)
    lines += [".SH EXIT STATUS", *(line for code, text in EXIT_CODES.items() for line in _entry(str(code), text))]
    lines += [".SH ENVIRONMENT", *_entry("NO_COLOR", "if set, progress is printed without colours")]
    lines += [".SH FILES", *(line for name, text in _FILES.items() for line in _entry(name, text))]
    example = "lengthwise train sort --position learned+offset --train-size 20"
    lines += [".SH EXAMPLES", ".EX", _roff(example), ".EE"]
    return "\n".join(lines) + "\n"


def _command(name: str) -> list[str]:
    parser = parser_of(name)
    usage = parser.format_usage().removeprefix("usage: ").strip()
    lines = [f".SS {_roff(usage)}", *_paragraphs(parser.description or "")]
    for group in parser._action_groups:
        if group._group_actions:
            own = group.title not in ("positional arguments", "options")
            lines += [".PP", f".I {_roff(group.title or '')}:"] if own else []
            lines += [line for action in group._group_actions for line in _entry(_written(action), action.help or "")]
    return lines


def _written(action: argparse.Action) -> str:
    """An argument or option as it is typed."""
    if not action.option_strings:
        return str(action.metavar)
    shown = action.metavar if isinstance(action.metavar, tuple) else (action.metavar,) if action.metavar else ()
    return ", ".join(action.option_strings) + "".join(f" {one}" for one in shown)


def _paragraphs(text: str) -> list[str]:
    """Text below a heading: a macro separates each paragraph from the one before."""
    return [line for part in text.strip().split("\n\n") for line in (".PP", *_filled(part))][1:]


def _entry(term: str, text: str) -> list[str]:
    return [".TP", rf"\fB{_roff(term)}\fR", *_filled(text)]


def _filled(text: str) -> list[str]:
    """A paragraph in lines that no formatter finds too long and none of which begins with a request."""
    lines = textwrap.wrap(_roff(" ".join(text.split())), 78, break_long_words=False, break_on_hyphens=False)
    return [rf"\&{line}" if line[0] in "'." else line for line in lines]


def _roff(text: str) -> str:
    """Text as roff reads it; a hyphen is a minus, which can be copied."""
    for sign, name in {"\\": r"\e", "-": r"\-", "`": r"\(ga", "^": r"\(ha", "~": r"\(ti", '"': r"\(dq"}.items():
        text = text.replace(sign, name)
    return "".join(sign if sign.isascii() else rf"\[u{ord(sign):04X}]" for sign in text)
