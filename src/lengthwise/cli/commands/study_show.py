"""What `lengthwise study show` does."""

from __future__ import annotations

import argparse
import dataclasses
import math
import textwrap
from collections.abc import Iterator, Sequence
from pathlib import Path

from lengthwise.cli.commands.records import write_record
from lengthwise.cli.commands.results import percent
from lengthwise.cli.commands.study_answer import plain_records, write_study_records
from lengthwise.cli.output import width, wrapped, write_object
from lengthwise.cli.study_show import TITLES
from lengthwise.errors import UsageError
from lengthwise.probes.curve.standard import ADVICE
from lengthwise.registry import nearest
from lengthwise.studies.cells import Cell, Measure
from lengthwise.studies.folders import study_folder
from lengthwise.studies.record import RunRecord, printable, run_title
from lengthwise.studies.store import Store
from lengthwise.studies.summary import ENDINGS
from lengthwise.studies.table import SHOWN, StudyTable, read_table

_GAP = 2  # columns between two cells
_LABEL = 26  # the widest label that stands beside its cells where there is no room to spare
_HEADER = 18  # the widest line of an encoding's name
_MOST = 20  # failed runs that are named


def run(options: argparse.Namespace) -> int:
    measures = chosen_measures(options.measure)
    if options.name.endswith(ENDINGS):
        return _show_summary(options)
    folder = study_folder(options.name)
    with Store.open(folder) as store:
        if options.probe:
            return _show_probe(store, options)
        if options.json:
            probes = {run.key: [record.source for record in run.records.values()] for run in store.runs("done")}

            found = {**read_table(store).plain(measures), "probes": probes, "records": plain_records(folder)}
            write_object("study show", found)
        else:
            write_table(store, measures)
    if not options.json and options.measure is None:
        write_study_records(folder)
    return 0


def _show_probe(store: Store, options: argparse.Namespace) -> int:
    """The records of one probe, one after the other."""
    runs = store.runs(probe=options.probe)
    if not runs:
        raise UsageError(f"no finished run of {store.folder} has a record of {options.probe!r}")
    if options.json:
        found = [{"run": run.key, "record": record.plain()} for run in runs if (record := run.record(options.probe))]
        write_object("study show", {"probe": options.probe, "records": found})
        return 0
    for run in runs:
        record = run.record(options.probe)
        assert record is not None
        write_record(dataclasses.replace(record, title=printable(run_title(run))))
    return 0


def _show_summary(options: argparse.Namespace) -> int:
    if options.measure is not None:
        raise UsageError(f"{options.name} is a summary of ladders and has no curves; leave --measure out")
    if not Path(options.name).is_file():
        raise UsageError(f"{options.name} cannot be read: there is no such file")
    if options.json:
        write_object("study show", {"records": plain_records(Path(options.name))})
    else:
        write_study_records(Path(options.name))
    return 0


def chosen_measures(text: str | None) -> tuple[Measure, ...]:
    """The measures that `--measure` names, in its order."""
    if text is None:
        return "reach", "twice", "thrice"
    names = [name.strip().replace("-", "_") for name in text.split(",") if name.strip()]
    known: dict[str, Measure] = {measure: measure for measure in TITLES}
    for name in names:
        if name not in known:
            raise UsageError(f"--measure names no {name!r}; {nearest(name, known)}it takes {', '.join(known)}")
    if not names:
        raise UsageError(f"--measure is empty; it takes {', '.join(known)}")
    return tuple(known[name] for name in dict.fromkeys(names))


def write_table(store: Store, measures: Sequence[Measure] | None = None) -> None:
    """The tables of a study as text: by measure, then the notes that explain the marks, then what failed."""
    table = read_table(store)
    title = f"{table.name}: {table.question}" if table.question else table.name
    print(wrapped(printable(title)))
    learned = table.learning
    for sentence in (learned.sentence if learned.little else "", learned.about_drawn):
        if sentence:
            print(wrapped(printable(sentence)))
    print(wrapped(_counted(table)))
    for measure in measures or SHOWN:
        _write_measure(table, measure)
    print()
    for note in _notes(table, measures or SHOWN):
        print(wrapped(note))
    write_failures(table.failed)


def write_failures(failed: Sequence[RunRecord]) -> None:
    """The runs that failed, with their reasons; of very many the first."""
    if failed:
        print(f"\nfailed: {len(failed)}")
    for run in failed[:_MOST]:
        print(wrapped(printable(f"{run_title(run)}: {run.reason or 'no reason is known'}"), "  ", "    "))
    if len(failed) > _MOST:
        print(f"  … and {len(failed) - _MOST} more, which --json has too")


def _counted(table: StudyTable) -> str:
    counts, total = table.counts, sum(table.counts.values())
    parts = [f"{counts['done']} of {total} runs done"]
    parts += [f"{counts[state]} {state}" for state in ("running", "failed", "waiting") if counts[state]]
    sizes = ", ".join(map(str, table.train_sizes)) or "none"
    if learned := table.learning.judged:
        parts.append(f"{len(table.learning.learned)} of {learned} cells learned")
    return f"{', '.join(parts)}; trained to size {sizes}; seeds kept: {table.rule} ({table.discarded} discarded)"


def _write_measure(table: StudyTable, measure: Measure) -> None:
    """The table of one measure, in as many blocks of columns as the width asks for."""
    print(f"\n{TITLES[measure]} (measured)")
    labels = [printable(label) for label in table.rows]
    columns = [
        _MeasureColumn(printable(name), [_entry(row.get(name), measure) for row in table.rows.values()])
        for name in table.columns
    ]
    most = max(_LABEL, width() - sum(_GAP + column.width for column in columns))
    beside = max((len(label) for label in labels if len(label) <= most), default=0)
    for number, block in enumerate(_blocks(columns, width() - beside)):
        if number:
            print()
        for line in range(-max(len(column.header) for column in block), 0):
            print(_line("", beside, [column.header_line(line) for column in block]))
        for index, label in enumerate(labels):
            cells = [column.cell(index) for column in block]
            own_line = len(label) > beside  # a label of many settings has its lines to itself
            if own_line:
                print(wrapped(label))
            print(_line("" if own_line else label, beside, cells))


def _line(label: str, beside: int, cells: list[str]) -> str:
    return (f"{label:<{beside}}" + "".join(" " * _GAP + cell for cell in cells)).rstrip()


class _MeasureColumn:
    """An encoding: its name in short lines, and its entries with their parts below one another."""

    def __init__(self, name: str, entries: list[tuple[str, str, str]]) -> None:
        self.header = textwrap.wrap(name, _HEADER) or [""]
        self._entries = entries
        self._wide = [max((len(entry[part]) for entry in entries), default=0) for part in range(3)]
        self.width = max(len(self.cell(0)) if entries else 0, *(len(line) for line in self.header))

    def header_line(self, line: int) -> str:
        """A line of the name, counted from the last, so that names of different heights stand on the same ground."""
        text = self.header[line] if -line <= len(self.header) else ""
        return f"{text:<{self.width}}"

    def cell(self, index: int) -> str:
        value, interval, seeds = self._entries[index]
        one, two, three = self._wide
        width = getattr(self, "width", 0)
        middle = f" {interval:<{two}}" if two else ""  # no cell of the column has an interval
        return f"{f'{value:>{one}}{middle} {seeds:>{three}}':<{width}}"


def _blocks(columns: list[_MeasureColumn], room: int) -> Iterator[list[_MeasureColumn]]:
    """The columns in groups that fit; a column that is wider than the room has a group of its own."""
    block: list[_MeasureColumn] = []
    for column in columns:
        if block and sum(_GAP + c.width for c in (*block, column)) > room:
            yield block
            block = []
        block.append(column)
    if block:
        yield block


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
    value = f"{claim.value:.1f}".removesuffix(".0") if measure == "reach" else _percent(claim.value)
    if claim.interval is None:
        return marks + value, "", seeds
    scale = 1 if measure == "reach" else 100
    low = math.floor(round(scale * claim.interval.low, 6))
    if claim.interval.is_open:
        return marks + value, f"[≥{low}]", seeds
    return marks + value, f"[{low}–{math.ceil(round(scale * claim.interval.high, 6))}]", seeds


def _percent(share: float) -> str:
    return percent(share).strip().removesuffix("%").removesuffix(".0")


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
