"""What `lengthwise bound shift` does."""

from __future__ import annotations

import argparse
from pathlib import Path

from lengthwise.cli.commands.records import elsewhere, write_answer
from lengthwise.cli.output import write_object, written
from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.style import alt, paper_spec
from lengthwise.figures.waterfall import waterfall_text
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.shift_bound import ShiftBoundProbe
from lengthwise.records import Record
from lengthwise.reports.record_section import RecordPage, write_record_page
from lengthwise.subjects.open import open_subject
from lengthwise.tasks import tasks


def run(options: argparse.Namespace) -> int:
    if options.target is None:
        raise UsageError("--to is missing: a level or a size of the task, or a file; as in --task sort --to 40")
    probe = ShiftBoundProbe(
        options.target, options.source, options.metric, options.items, options.delta, options.separation
    )
    subject = open_subject(options.subject, options.tokens)
    task = None if options.task is None else tasks.make(options.task)
    record = ask(probe, subject, Context(task, options.train_size, seed=options.seed or 0))
    if options.figure is not None:
        with written(options.figure, options.quiet):
            drawn = alt.Chart.from_dict(paper_spec(record.figures[0]))
            save_chart(Path(options.figure), drawn, record.title, record.text)
    if options.page is not None:
        page = RecordPage(record.title, record.text[:1], (("model", subject.name), *subject.facts), (record,))
        write_record_page(page, Path(options.page))
    if options.json:
        write_object("bound shift", record.plain())
    else:
        _write(record, elsewhere(options))
    status = record.claim("shift_bound.certified").status
    if options.require and status != "holds":
        raise CertificateRefused(f"the certified bound is {status}")
    return 0


def _write(record: Record, where: str) -> None:
    write_answer(record, where)
    for row in record.table("shift_bound.terms").records()[:2]:
        terms = [(name.replace("_", " "), float(row[name] or 0.0)) for name in _TERMS]
        print(f"\n{row['constant']} constant")
        print(waterfall_text(terms, 1.0))


_TERMS = ("source_risk", "shift", "labels", "sampling")
