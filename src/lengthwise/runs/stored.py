"""What was measured of a run, on disk: `records/SLUG.json` in its folder, one file per probe. Needs no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import check_inside, read_json, write_text
from lengthwise.integrity import RECORDS, damage, record_file
from lengthwise.records import Record


def write_record(folder: Path, slug: str, record: Record) -> str:
    """Write a record on one line, as it may hold thousands of numbers; returns its name below the folder."""
    check_inside(folder / RECORDS, folder).mkdir(exist_ok=True)
    text = json.dumps(record.plain(), ensure_ascii=False, allow_nan=False)
    write_text(folder / record_file(slug), text + "\n")
    return record_file(slug)


def read_records(folder: Path, run: Mapping[str, Any]) -> dict[str, Record]:
    """The records that the record of a run names, each whole; a damaged one is a usage error that names its file."""
    return {slug: read_stored(folder, run, slug) for slug in run.get("records", ())}


def read_stored(folder: Path, run: Mapping[str, Any], slug: str) -> Record:
    """The record of one probe."""
    if wrong := damage(folder, run, slug):
        raise UsageError(wrong)
    path = folder / record_file(slug)
    try:
        return Record.from_plain(read_json(path))
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(f"{path} is not the record of a probe ({type(error).__name__}: {error})") from error
