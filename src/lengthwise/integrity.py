"""A run that is used again is the run that was saved.

The record of a run holds the SHA-256 of the files beside it (`files`) and of itself (`sha256`). Both are compared
whenever the run is used: what was damaged or edited is refused in one sentence that names the file. This finds
accidents and edits; somebody who also rewrites the record is not stopped by it. Needs no torch.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import read_json, sha256

RUN, CURVE, LADDER = "run.json", "curve.json", "ladder.json"
CONFIG, WEIGHTS, COORDINATES = "config.json", "model.safetensors", "form.safetensors"
MODEL = (CONFIG, WEIGHTS, COORDINATES)
ALWAYS = (*MODEL, CURVE)  # a ladder that is gone or damaged is measured again, so it is checked where it is read


def digests(folder: Path, names: Iterable[str]) -> dict[str, str]:
    """The SHA-256 of those of the files that are there."""
    return {name: sha256(folder / name) for name in names if (folder / name).is_file()}


def sealed(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record with a checksum of its own content."""
    return {**record, "sha256": _checksum(record)}


def is_sealed(record: Mapping[str, Any]) -> bool:
    """Whether the checksum of a record fits its content."""
    return record.get("sha256") == _checksum(record)


def read_record(folder: Path, name: str = RUN) -> dict[str, Any]:
    """The record in a folder, as it was written; one that was changed since is a usage error."""
    record = read_json(folder / name)
    if not (isinstance(record, dict) and isinstance(record.get("files"), dict) and "sha256" in record):
        raise UsageError(
            f"{folder / name} does not say which files belong to it: it was not written by this version of lengthwise, "
            f"or is incomplete; {_again(folder)}"
        )
    if not is_sealed(record):
        raise UsageError(f"{folder / name} was changed after it was written (its checksum differs); {_again(folder)}")
    return record


def check_files(folder: Path, record: Mapping[str, Any], names: Iterable[str] = ALWAYS) -> None:
    """Refuse files that are not those that the record was written for. O(bytes), about a gigabyte a second."""
    kept = record["files"]
    for name in names:
        path = folder / name
        if name not in kept:
            if path.exists():
                raise UsageError(f"{path} does not belong to the run in {folder}; remove it, or {_again(folder)}")
            continue
        try:
            found = sha256(path)
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}; {_again(folder)}") from error
        if found != kept[name]:
            raise UsageError(f"{path} is not the file that was saved (its SHA-256 differs); {_again(folder)}")


def check_run(folder: Path) -> dict[str, Any]:
    """The record of the finished run in a folder, after all its files were compared with it."""
    record = read_record(folder)
    check_files(folder, record)
    return record


def _checksum(record: Mapping[str, Any]) -> str:
    content = {name: value for name, value in record.items() if name != "sha256"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _again(folder: Path) -> str:
    return f"restore it, or delete {folder} to have the run trained again"
