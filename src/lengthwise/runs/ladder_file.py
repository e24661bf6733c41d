"""The ladder of a run on disk: `ladder.json` in the run's folder, whole or not there. Needs no torch."""

from __future__ import annotations

import json
from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.files import read_json, sha256, write_text
from lengthwise.integrity import LADDER, RUN, read_record
from lengthwise.measurement.ladder import Ladder, LadderSettings


def write_ladder(folder: Path, ladder: Ladder) -> None:
    """Write a ladder on one line: it holds thousands of numbers, which indentation would only make longer."""
    write_text(folder / LADDER, json.dumps(ladder.plain(), ensure_ascii=False, allow_nan=False) + "\n")


def read_ladder(folder: Path) -> Ladder:
    """The ladder in a run's folder; a damaged one is a usage error that names the file."""
    path = folder / LADDER
    data = read_json(path)
    if (folder / RUN).exists() and read_record(folder)["files"].get(LADDER) != sha256(path):
        raise UsageError(
            f"{path} is not the file that was saved (its SHA-256 differs); delete it, and the same study measures it "
            "again"
        )
    try:
        return Ladder.from_plain(data)
    except (LookupError, TypeError, AttributeError, ValueError) as error:
        raise UsageError(
            f"{path} is damaged ({type(error).__name__}: {error}); delete it, and the same study measures it again"
        ) from error


def holds_ladder(folder: Path, asked: LadderSettings, recorded: LadderSettings | None) -> bool:
    """Whether the ladder that is asked for is there and whole. `recorded` is what run.json says, which is written after
    the ladder: where they differ, the work was interrupted between the two."""
    if recorded != asked:
        return False
    try:
        return read_ladder(folder).settings == asked
    except UsageError:
        return False
