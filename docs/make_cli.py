"""Write docs/reference/cli.md from what `lengthwise --help` and `lengthwise COMMAND --help` print.

python docs/make_cli.py
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from lengthwise.cli import COMMANDS, main

PAGE = Path(__file__).parent / "reference" / "cli.md"

_HEAD = """# The command line

<!-- Written by docs/make_cli.py from the help of the commands; a change here is lost. -->

Results go to stdout, messages and progress to stderr. With `--json` a command prints one object, which has `schema`
(the version of its layout) and `command`; with `--quiet` only errors are written to stderr.
Control characters in names and texts are printed as escapes such as `\\x1b`, so data cannot control your terminal.

Figures, pages, animations and tables replace an existing file only if lengthwise wrote it and it has not changed
since: each carries a checksum of its own content. Any other file is left unchanged, and the command stops with exit
code 2. A `.csv` file cannot carry a checksum and is never replaced.

| exit code | meaning |
|---|---|
| 0 | done |
| 1 | internal error, or diverged training |
| 2 | wrong usage or bad input: one sentence on stderr says what would be right |
| 3 | a required certificate was refused |
| 4 | some runs failed; the others are kept |
| 130 | stopped by Ctrl-C; run the same command again to resume an interrupted run |
"""


def page() -> str:
    """The whole of docs/reference/cli.md, its help 80 columns wide."""
    parts = [_HEAD, _section("lengthwise", [])]
    parts += [_section(f"lengthwise {name}", name.split()) for name in COMMANDS]
    return "\n".join(parts)


def _section(title: str, command: list[str]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as text:  # no terminal, so the width is fixed
        main([*command, "--help"])
    return f"## {title}\n\n```text\n{text.getvalue().rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
