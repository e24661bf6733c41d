"""Write docs/reference/cli.md from what `lengthwise --help` and `lengthwise COMMAND --help` print, and the manual page.

python docs/make_cli.py
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

from lengthwise.cli import COMMANDS, main
from lengthwise.cli.manual import EXIT_CODES, manual

PAGE = Path(__file__).parent / "reference" / "cli.md"
MANUAL = Path(__file__).parent / "reference" / "lengthwise.1"

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
"""


def page() -> str:
    """The whole of docs/reference/cli.md, its help 80 columns wide."""
    codes = "".join(f"| {code} | {text} |\n" for code, text in EXIT_CODES.items())
    parts = [_HEAD + codes, _section("lengthwise", [])]
    parts += [_section(f"lengthwise {name}", name.split()) for name in COMMANDS]
    return "\n".join(parts)


def _section(title: str, command: list[str]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as text:  # no terminal, so the width is fixed
        main([*command, "--help"])
    return f"## {title}\n\n```text\n{text.getvalue().rstrip()}\n```\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    MANUAL.write_text(manual(), encoding="utf-8")
