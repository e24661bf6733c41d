"""What `lengthwise examples` does."""

from __future__ import annotations

import argparse
import os
import re
from importlib.resources import files
from pathlib import Path

from lengthwise.cli.output import narrate, write_object, write_rows
from lengthwise.errors import UsageError
from lengthwise.files import replace_file, writing

HOME = "lengthwise-examples"
_ENDINGS = (".md", ".toml", ".py", ".json", ".jsonl", ".ipynb")
_DESCRIBED = re.compile(r"^(?!#)([^`\n]+), `([^`]+)`", re.MULTILINE)


def run(options: argparse.Namespace) -> int:
    home = files("lengthwise").joinpath("examples")
    content = {one.name: one.read_bytes() for one in home.iterdir() if one.name.endswith(_ENDINGS)}
    if options.list:
        return _list(content, options)
    folder = Path(options.folder or HOME)
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder} is a file; give the folder to copy the examples into")
    theirs = [name for name, data in content.items() if _differs(folder / name, data)]
    if theirs and not options.overwrite:
        raise UsageError(
            f"{', '.join(sorted(theirs))} in {folder} would be overwritten; "
            "choose another folder, or use --overwrite to replace them"
        )
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in content.items():
            with replace_file(folder / name) as part:
                part.write_bytes(data)
    if options.json:
        write_object("examples", {"folder": str(folder), "files": sorted(content)})
    else:
        print(folder)
        narrate(f"{len(content)} files; {folder / 'README.md'} gives the command that runs each", options.quiet)
    return 0


def _differs(path: Path, data: bytes) -> bool:
    """Whether something else is there; a large file is not read, and a link that leads nowhere is something too."""
    same = path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
    return os.path.lexists(path) and not same


def _list(content: dict[str, bytes], options: argparse.Namespace) -> int:
    """The examples as README.md describes them."""
    told = {name: text for text, name in _DESCRIBED.findall(content["README.md"].decode())}
    if options.json:
        write_object("examples", {"examples": told})
    else:
        write_rows(sorted(told.items()))
    return 0
