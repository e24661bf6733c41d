"""The records of a study's analyses as text and as JSON, without their figures."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from lengthwise.analyses.analysis import analyse, analyses_of
from lengthwise.analyses.content import read_content, read_summary_content
from lengthwise.analyses.layout import in_short
from lengthwise.cli.commands.records import write_record
from lengthwise.records import Record
from lengthwise.studies.record import printable


def study_records(place: Path) -> list[Record]:
    """What the analyses of the study in a folder found, or of a study whose summary is in a file; without figures. Slow
    analyses are left to the report unless the study names its analyses."""
    study = dataclasses.replace(read_summary_content(place) if place.is_file() else read_content(place), pictures=False)
    return analyse(study, [one for one in analyses_of(study) if study.analyses or not one.slow])


def write_study_records(place: Path) -> None:
    """The records one after the other, each with the claims that matter most; those that then say nothing are left to
    the page."""
    for record in study_records(place):
        short = in_short(record)
        if short.failed or short.text or short.claims or short.tables:
            write_shortened(record)


def write_shortened(record: Record) -> None:
    """A record with the claims that its section lists; its text without the backticks that a page turns into code."""
    text = tuple(printable(one.replace("`", "")) for one in record.text)
    write_record(dataclasses.replace(in_short(record), text=text))


def plain_records(place: Path) -> list[dict[str, Any]]:
    """The records as JSON-ready data."""
    return [record.plain() for record in study_records(place)]
