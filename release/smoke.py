"""Smoke tests of an installed lengthwise, with the standard library alone: `python -I release/smoke.py`.

They run in an environment that holds the wheel and what it needs and nothing else, in a folder of their own, and end
with exit code 0. `release/alone.py` makes such an environment.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import importlib.util
import io
import json
import os
import sys
import tempfile
from pathlib import Path

# Tools of developers and packages of extras: a module of the core that imports one would work on their machines only.
ABSENT = ("pytest", "hypothesis", "beartype", "transformers", "httpx", "ray", "submitit", "pyarrow", "uvicorn", "numba")
TINY = "--steps 2 --batch 4 --depth 1 --width 16 --heads 2 --items 5 --train-size 4 --test-size 6"
STUDY = """
tasks = ["sort", "parity"]
positions = ["none", "rope"]
train_size = 3
items = 5
seeds = 1
model = { depth = 1, width = 16, heads = 1 }
training = { steps = 2, batch = 4 }
"""
# Commands in order, with the exit code of each.
COMMANDS = (
    ("tasks", 0),
    ("positions", 0),
    ("models", 0),
    ("attentions", 0),
    ("doctor --no-speed", 0),
    ("check sort", 0),
    ("forecast sort --position rope", 0),
    (f"train sort --folder run {TINY}", 0),
    ("measure run --items 5", 0),
    ("inspect run --items 2 --page looked.html", 0),
    ("study small.toml", 0),
    ("study show small", 0),
    ("report small --out report.html", 0),
    ("particles --n 8 --time 1 --frames 3 --page tokens.html", 0),
    ("check no_such_task", 2),
    ("view runs", 2),  # an extra that is not installed is named in one sentence
)


def check(holds: bool, what: str) -> None:
    if not holds:
        raise SystemExit(f"smoke: {what}")


def said(words: list[str]) -> tuple[int, str, str]:
    from lengthwise.cli import main

    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(words)
    return code, out.getvalue(), err.getvalue()


def test_the_environment() -> None:
    found = [name for name in ABSENT if importlib.util.find_spec(name)]
    check(not found, f"this is not an empty environment: it has {', '.join(found)}")


def test_the_package() -> None:
    import lengthwise as lw

    check("torch" not in sys.modules, "importing the package imports torch")
    check(lw.__version__ == importlib.metadata.version("lengthwise"), "the version is not that of the metadata")
    check(Path(lw.__file__).with_name("py.typed").exists(), "py.typed is missing")
    for name in lw.__all__:
        getattr(lw, name)
    check(len(lw.atlas()) > 1000, "the atlas is not in the package")


def test_help() -> None:
    from lengthwise.cli import COMMANDS as NAMES

    for name in NAMES:
        code, out, _ = said([*name.split(), "--help"])
        check(code == 0 and out.startswith("usage"), f"{name} --help")


def test_commands() -> None:
    Path("small.toml").write_text(STUDY, encoding="utf-8")
    for command, expected in COMMANDS:
        code, out, err = said(command.split())
        check(code == expected, f"lengthwise {command}: exit code {code}\n{err}")
        check(bool(out) if expected == 0 else len(err.strip().splitlines()) <= 3 and not out, f"lengthwise {command}")
    for page in ("looked.html", "report.html", "tokens.html"):
        check(Path(page).stat().st_size > 10_000, f"{page} is too small")
    check(json.loads(Path("run/run.json").read_text(encoding="utf-8"))["task"] is not None, "run.json")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (test_the_environment, test_the_package, test_help, test_commands):
            test()
            print(f"smoke: {test.__name__.removeprefix('test_').replace('_', ' ')}: passed", flush=True)
        os.chdir("/")
