"""What `lengthwise study show` does: the tables of a study, and the records of its analyses without their figures."""

from __future__ import annotations

import argparse
import dataclasses
import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import get_args

from lengthwise.analyses.analysis import analyse, analyses, analyses_of
from lengthwise.analyses.content import StudyContent, read_content
from lengthwise.analyses.layout import in_short
from lengthwise.cli.commands.records import write_grid, write_record
from lengthwise.cli.output import wrapped, write_list, write_object
from lengthwise.cli.study_options import MEASURES
from lengthwise.errors import UsageError
from lengthwise.probes.curve.curve import rounded_percent
from lengthwise.probes.curve.standard import ADVICE
from lengthwise.records import Record
from lengthwise.registry import nearest
from lengthwise.studies.cells import Cell, Measure
from lengthwise.studies.record import RunRecord, printable, run_title
from lengthwise.studies.store import Store, study_folder
from lengthwise.studies.summary import ENDINGS
from lengthwise.studies.table import SHOWN, StudyTable, read_table

_MOST = 20  # runs that are named
_WHOLE = "Whole answers"
_STRICTER = (
    "These tables count whole answers: a cell is learned if exact match (every token of an item right) is high at "
    "every size of the training range. The sections above judge single tokens."
)


def run(options: argparse.Namespace) -> int:
    measures = chosen_measures(options.measure)
    if options.name.endswith(ENDINGS):
        return _show_summary(options)
    folder = study_folder(options.name)
    if options.analysis:
        return _show_analysis(folder, options)
    with Store.open(folder) as store:
        if options.probe:
            return _show_probe(store, options)
        if options.json:
            probes = {run.key: [record.source for record in run.records.values()] for run in store.runs("done")}
            records = [record.plain() for record in study_records(folder)]
            write_object("study show", {**read_table(store).plain(measures), "probes": probes, "records": records})
        elif options.measure is None:
            write_results(store)
        else:
            write_tables(store, measures)
    return 0


def _show_probe(store: Store, options: argparse.Namespace) -> int:
    """The records of one probe, one after the other."""
    found = [(run, record) for run in store.runs(probe=options.probe) if (record := run.record(options.probe))]
    if not found:
        raise UsageError(f"no finished run of {store.folder} has a record of {options.probe!r}")
    if options.json:
        records = [{"run": run.key, "record": record.plain()} for run, record in found]
        write_object("study show", {"probe": options.probe, "records": records})
        return 0
    for run, record in found:
        write_record(dataclasses.replace(record, title=printable(run_title(run))))
    return 0


def _show_summary(options: argparse.Namespace) -> int:
    if options.measure is not None:
        raise UsageError(f"{options.name} is a summary of ladders and has no curves; leave --measure out")
    if not Path(options.name).is_file():
        raise UsageError(f"{options.name} cannot be read: there is no such file")
    if options.analysis:
        return _show_analysis(Path(options.name), options)
    if options.json:
        write_object("study show", {"records": [record.plain() for record in study_records(Path(options.name))]})
    else:
        write_study_records(Path(options.name))
    return 0


def _show_analysis(place: Path, options: argparse.Namespace) -> int:
    """The record of one analysis, which the study need not name."""
    (record,) = study_records(place, options.analysis)
    if record.failed:
        raise UsageError(f"{options.name}: {record.failed}")
    if options.json:
        write_object("study show", {"records": [record.plain()]})
    else:
        write_shortened(record)
    return 0


def study_records(place: Path, analysis: str = "") -> list[Record]:
    """What the analyses of the study in a folder found, or of a study whose summary is in a file; without figures. Slow
    analyses are left to the report unless the study names its analyses. `analysis` asks for one alone."""
    return _records(read_content(place), analysis)


def _records(study: StudyContent, analysis: str = "") -> list[Record]:
    chosen = [analyses.make(analysis)] if analysis else None
    study = dataclasses.replace(study, pictures=False)
    return analyse(study, chosen or [one for one in analyses_of(study) if study.analyses or not one.slow])


def write_results(store: Store) -> None:
    """The tables of a study and what its analyses found. Where ladders are what it is about, their answer comes first:
    few models write long traces without a mistake, so that whole answers alone would say that nothing was learned."""
    study = read_content(store.folder)
    if not study.ladders_lead:
        write_tables(store)
        _write_records(study)
        return
    table = read_table(store)
    _write_title(table)
    _write_records(study)
    print(f"\n{_WHOLE}\n{'─' * len(_WHOLE)}")
    print(wrapped(_STRICTER))
    _write_tables(table, SHOWN)


def write_study_records(place: Path) -> None:
    """The records of a study, one after the other."""
    _write_records(read_content(place))


def _write_records(study: StudyContent) -> None:
    """Each record with the claims that matter most; those that then say nothing are left to the page."""
    for record in _records(study):
        short = in_short(record)
        if short.failed or short.text or short.claims or short.tables:
            write_shortened(record)


def write_shortened(record: Record) -> None:
    """A record with the claims that its section lists; its text without the backticks that a page turns into code."""
    text = tuple(printable(one.replace("`", "")) for one in record.text)
    write_record(dataclasses.replace(in_short(record), text=text))


def chosen_measures(text: str | None) -> tuple[Measure, ...]:
    """The measures that `--measure` names, in its order."""
    if text is None:
        return SHOWN
    names = [name.strip().replace("-", "_") for name in text.split(",") if name.strip()]
    known: dict[str, Measure] = {measure: measure for measure in get_args(Measure)}
    for name in names:
        if name not in known:
            raise UsageError(f"--measure names no {name!r}; {nearest(name, known)}it takes {', '.join(known)}")
    if not names:
        raise UsageError(f"--measure is empty; it takes {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names))


def write_tables(store: Store, measures: Sequence[Measure] = SHOWN) -> None:
    """The tables of a study as text: by measure, then the notes that explain the marks, then what failed."""
    table = read_table(store)
    _write_title(table)
    learned = table.learning
    for sentence in (learned.sentence if learned.little else "", learned.about_drawn):
        if sentence:
            print(wrapped(printable(sentence)))
    _write_tables(table, measures)


def _write_title(table: StudyTable) -> None:
    title = f"{table.name}: {table.question}" if table.question else table.name
    print(wrapped(printable(title)))


def _write_tables(table: StudyTable, measures: Sequence[Measure]) -> None:
    print(wrapped(_counted(table)))
    for measure in measures:
        _write_measure(table, measure)
    print()
    for note in _notes(table, measures):
        print(wrapped(note))
    write_failures(table.failed)


def write_failures(failed: Sequence[RunRecord]) -> None:
    """The runs that failed, with their reasons; of very many the first."""
    if failed:
        print(f"\nfailed: {len(failed)}")
    write_some(f"{run_title(run)}: {run.reason or 'no reason is known'}" for run in failed)


def write_some(texts: Iterable[str]) -> None:
    """Texts in a list; of very many the first."""
    texts = list(texts)
    write_list(map(printable, texts[:_MOST]), "", "  ")
    if len(texts) > _MOST:
        print(f"  … and {len(texts) - _MOST} more, which --json has too")


def _counted(table: StudyTable) -> str:
    counts, total = table.counts, sum(table.counts.values())
    parts = [f"{counts['done']} of {total} runs done"]
    parts += [f"{counts[state]} {state}" for state in ("running", "failed", "waiting") if counts[state]]
    sizes = ", ".join(map(str, table.train_sizes)) or "none"
    if learned := table.learning.judged:
        parts.append(f"{len(table.learning.learned)} of {learned} cells learned")
    return f"{', '.join(parts)}; trained to size {sizes}; seeds kept: {table.rule} ({table.discarded} discarded)"


def _write_measure(table: StudyTable, measure: Measure) -> None:
    """The table of one measure: the parts of the entries of an encoding stand below one another."""
    print(f"\n{MEASURES[measure]} (measured)")
    columns = []
    for name in table.columns:
        entries = [_entry(row.get(name), measure) for row in table.rows.values()]
        value, interval, seeds = (max(map(len, parts), default=0) for parts in zip(*entries, strict=True))
        middle = interval + 1 if interval else 0  # no entry of the column has an interval
        columns.append([f"{e[0]:>{value}} {e[1]:<{middle}}{e[2]:>{seeds}}" for e in entries])
    rows = zip(map(printable, table.rows), *columns, strict=True)
    write_grid(["", *map(printable, table.columns)], list(rows))


def _entry(cell: Cell | None, measure: Measure) -> tuple[str, str, str]:
    """What a cell says: the value with its marks, the interval, the seeds kept of all."""
    if cell is None:
        return "", "", ""
    if not cell.done:
        return "failed" if len(cell.failed) == len(cell.runs) else "…", "", ""
    claim = cell.claim(measure)
    seeds = f"{len(cell.kept)}/{len(cell.runs)}"
    if not isinstance(claim.value, int | float):
        return "–", "", seeds
    marks = ("×" if cell.learned is False else "") + ("≥" if measure == "reach" and cell.censored else "")
    value = f"{claim.value:.1f}" if measure == "reach" else rounded_percent(claim.value)
    value = value.removesuffix(".0")
    if claim.interval is None:
        return marks + value, "", seeds
    scale = 1 if measure == "reach" else 100
    low = math.floor(round(scale * claim.interval.low, 6))
    if claim.interval.is_open:
        return marks + value, f"[≥{low}]", seeds
    return marks + value, f"[{low}–{math.ceil(round(scale * claim.interval.high, 6))}]", seeds


def _notes(table: StudyTable, measures: Sequence[Measure]) -> list[str]:
    """What the marks mean, of those that occur."""
    done = [cell for cell in table.cells if cell.done]
    if not done:
        return ["no run is done yet"]
    notes = [
        "mean over the seeds kept [95 % bootstrap interval over seeds, rounded outwards] seeds kept/all of the cell",
    ]
    if any(cell.censored for cell in done):
        notes.append("≥ at least: some of the seeds hold to the largest size measured, and were not measured further")
    if any(cell.learned is False for cell in done):
        notes.append(
            "× not learned in range: the numbers are over all seeds and say nothing about longer inputs; " + ADVICE
        )
    if any(len(cell.shown) == 1 for cell in done):
        notes.append("no interval: one seed shows no spread")
    if any(cell.values(measure) == {} for cell in done for measure in measures):
        notes.append("– nothing was measured there")
    if any(not cell.done and len(cell.failed) < len(cell.runs) for cell in table.cells):
        notes.append("… not finished yet")
    return notes
