"""What `lengthwise bound` does."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from lengthwise.cli.commands.records import elsewhere, write_answer
from lengthwise.cli.output import write_object, written
from lengthwise.errors import CertificateRefused
from lengthwise.figures.chart_files import save_chart
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.bound import bound
from lengthwise.progress import shown
from lengthwise.reports.guarantee import guarantee_chart
from lengthwise.reports.record_section import RecordPage, write_record_page


def run(options: argparse.Namespace) -> int:
    if (Path(options.model) / "run.json").exists():
        os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch is loaded: small models are faster on one core

    settings = GuaranteeProbe(
        quantiser=options.quantiser,
        aim=options.aim,
        delta=options.delta,
        tokens=_whole(options.tokens),
        documents=_whole(options.documents),
        sample=options.sample,
        limit=_whole(options.limit),
        window=options.window,
        held_out=options.held_out,
    )
    with shown(quiet=options.quiet, title="bound") as progress:
        given = {"data": options.data, "folder": options.folder, "seed": options.seed or 0}
        found = bound(options.model, settings, **given, progress=progress)
    record = found.record()
    if options.figure is not None:
        best = [one for level in ("documents", "tokens") if (one := found.best("loss", level)) is not None]
        with written(options.figure, options.quiet):
            save_chart(Path(options.figure), guarantee_chart(best), record.title, record.text)
    if options.page is not None:
        facts = (("model", found.described), ("data", found.data))
        write_record_page(RecordPage(record.title, record.text[:1], facts, (record,)), Path(options.page))
    if options.json:
        write_object("bound", found.plain())
    else:
        write_answer(record, elsewhere(options), claims=False)
        print(f"\n{found.folder}")
    if options.require and (found.vacuous or found.broken):
        raise CertificateRefused("no bound is below chance" if found.vacuous else "a bound is violated")
    return 0


def _whole(value: float | None) -> int | None:
    return None if value is None else max(1, round(value))
