"""Invocations that once failed, kept with the files they name, so that they do not depend on how a campaign draws.

A file is kept as its content, compressed, or as what it is: a folder, a pipe, a link with its target. Of a copied model
or study only the files that were changed are kept, with the name of what they were copied from.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import stat
import tempfile
import zlib
from pathlib import Path
from typing import Any

from attack.damage import MODELS, STORE, STUDY
from attack.invocations import Invocation

REPRODUCERS = Path(__file__).parent / "reproducers.json"
_COPIED = (*MODELS, STUDY)


def keep(one: Invocation, fault: str) -> None:
    """Add a failure to those that are tested for ever."""
    known = json.loads(REPRODUCERS.read_text())
    entry = plain(one, fault)
    if entry not in known:
        REPRODUCERS.write_text(json.dumps([*known, entry], indent=1) + "\n")


def plain(one: Invocation, fault: str) -> dict[str, Any]:
    """An invocation as JSON can hold it."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        one.write(folder)
        found = {str(path.relative_to(folder)): _described(path) for path in sorted(folder.rglob("*"))}
    store = Path(os.environ[STORE])
    copied = sorted({name.partition("/")[0] for name in found} & set(_COPIED))
    before = {str(path.relative_to(store)): _described(path) for name in copied for path in _below(store / name)}
    changed = {name: how for name, how in found.items() if before.get(name) != how}
    gone = sorted(before.keys() - found.keys())
    return {"arguments": one.arguments, "fault": fault, "copied": copied, "files": changed, "gone": gone}


def restored(kept: dict[str, Any]) -> Invocation:
    """The invocation again."""

    def write(folder: Path) -> None:
        for name in kept["copied"]:
            source = Path(os.environ[STORE]) / name
            (shutil.copytree if source.is_dir() else shutil.copyfile)(source, folder / name)
        for name in (*kept["gone"], *kept["files"]):
            if (folder / name).is_file() or (folder / name).is_symlink():
                (folder / name).unlink()
        for name, how in kept["files"].items():
            _made(folder / name, how)

    return Invocation(0, kept["arguments"], [write])


def _below(place: Path) -> list[Path]:
    return [place, *place.rglob("*")]


def _described(path: Path) -> dict[str, str]:
    if path.is_symlink():
        return {"link": os.readlink(path)}
    mode = path.stat().st_mode
    if not stat.S_ISREG(mode):
        return {"folder": ""} if stat.S_ISDIR(mode) else {"pipe": ""}
    return {"content": base64.b64encode(zlib.compress(path.read_bytes(), 9)).decode(), "mode": f"{mode & 0o777:o}"}


def _made(path: Path, how: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if "link" in how:
        path.symlink_to(how["link"])
    elif "folder" in how:
        path.mkdir(exist_ok=True)
    elif "pipe" in how:
        os.mkfifo(path)
    else:
        path.write_bytes(zlib.decompress(base64.b64decode(how["content"])))
        path.chmod(int(how["mode"], 8))
