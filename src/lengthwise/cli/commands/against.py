"""`lengthwise check --against STUDY`: the oracle's verdicts and what the runs of a study did, as text or as JSON."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from lengthwise.analyses.agreement import AgreementAnalysis
from lengthwise.analyses.content import read_content
from lengthwise.analyses.layout import LAYOUT, PageLayout
from lengthwise.cli.commands.study_answer import write_shortened
from lengthwise.cli.output import narrate, wrapped, write_object
from lengthwise.studies.folders import study_folder
from lengthwise.studies.record import printable


def run_against(name: str | Path, json: bool, quiet: bool) -> int:
    """Compare the oracle with the study of this name below runs/, or in this folder; the exit code."""
    study = dataclasses.replace(read_content(study_folder(name)), pictures=False)
    narrate(f"looking at {len({row.task for row in study.rows})} tasks …", quiet)
    record = AgreementAnalysis().analyse(study)
    if json:
        write_object("check", {key: value for key, value in record.data.items() if key != LAYOUT})
        return 0
    write_shortened(record)
    for heading, items in PageLayout.of(record).lists:
        print(f"\n{printable(heading)}")
        for text in items:
            print(wrapped(printable(text.replace("`", "")), "  ", "    "))
    return 0
