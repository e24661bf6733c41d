"""Carry out what a page tells its reader to do, as written: `python release/pages.py PYTHON FOLDER PAGE ...`.

PYTHON is the interpreter of an environment with lengthwise, FOLDER an empty folder to work in. Blocks are taken in
order: a file that the text says to save is saved, commands of a terminal and programs are run. `pip install` is left
out, because the environment is there. Printed for each: seconds on the clock and of the processor (user and system).
Exit code 1: something failed, or the pages took more than 20 minutes.
"""

from __future__ import annotations

import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LIMIT = 20 * 60  # seconds on the clock
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVE = re.compile(r"Save\s+this\s+as\s+`([\w.-]+)`[^`]*\Z")
SHOWN = ("text",)  # languages of blocks that show something and ask for nothing


@dataclass(frozen=True)
class Step:
    """One thing to do: `kind` is save, run (a command) or program; `name` is a file, a command or the first line."""

    kind: str
    name: str
    content: str = ""


def steps(page: str) -> Iterator[Step]:
    """What a page asks for, in order. A block that is neither saved nor run nor shown is an error."""
    end = 0
    for block in _BLOCK.finditer(page):
        language, content = block.groups()
        before, end = page[end : block.start()], block.end()
        if saved := _SAVE.search(before):
            yield Step("save", saved[1], content)
        elif language == "console":
            for line in content.replace("\\\n", " ").splitlines():
                if not line.startswith("$ "):
                    raise SystemExit(f"a line of a terminal is a command, not {line!r}")
                if not line.startswith("$ pip install "):
                    yield Step("run", line[2:])
        elif language == "python":
            yield Step("program", f"program: {content.splitlines()[0]}", content)
        elif language not in SHOWN:
            raise SystemExit(f"a block of {language!r} that no sentence says to save")


def carried_out(step: Step, folder: Path, python: str) -> int:
    """The exit code; what is printed goes to the terminal of the caller."""
    if step.kind == "save":
        (folder / step.name).write_text(step.content, encoding="utf-8")
        return 0
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**kept, "PATH": f"{Path(python).parent}{os.pathsep}{kept.get('PATH', '')}"}
    command = ["bash", "-c", step.name] if step.kind == "run" else [python, "-c", step.content]
    return subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL).returncode


def _spent() -> tuple[float, float]:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.monotonic(), used.ru_utime + used.ru_stime


def main(python: str, place: str, *files: str) -> int:
    folder, rows = Path(place), []
    folder.mkdir(parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise SystemExit(f"{place} is not empty")
    for file in files:
        for step in steps(Path(file).read_text(encoding="utf-8")):
            print(f"$ {step.name}", flush=True)
            before = _spent()
            code = carried_out(step, folder, python)
            clock, processor = (after - start for after, start in zip(_spent(), before, strict=True))
            rows.append((clock, processor, code, step.name))
            if code:
                print(f"exit code {code}: {step.name}")
                return 1
    print("\n  clock  processor")
    for clock, processor, _, name in rows:
        print(f"{clock:7.1f}  {processor:9.1f}  {name}")
    clock, processor = (sum(row[column] for row in rows) for column in (0, 1))
    print(f"{clock:7.1f}  {processor:9.1f}  seconds in all; {len(rows)} steps; the limit is {LIMIT} on the clock")
    return int(clock > LIMIT)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
