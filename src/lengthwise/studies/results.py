"""The results of a study from Python: the same verbs as on the command line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.probes.curve.spread import Keep
from lengthwise.progress import Progress, shown
from lengthwise.records import Claim, Column, Record, Table
from lengthwise.studies.cells import Cell, Measure, cells
from lengthwise.studies.record import RunRecord
from lengthwise.studies.store import Store, study_folder
from lengthwise.trust import trusting


@dataclass(frozen=True, repr=False)
class StudyResults:
    """The results of the study in a folder, read once when first needed."""

    folder: Path

    @cached_property
    def runs(self) -> list[RunRecord]:
        """Every run of the grid, done or not, with its curve."""
        with Store.open(self.folder) as store:
            return store.runs()

    @cached_property
    def cells(self) -> list[Cell]:
        """The runs grouped into cells: those of a cell differ only in their seed."""
        with Store.open(self.folder) as store:
            rule = Keep((store.fact("study") or {}).get("keep", 0.0))
        return cells(self.runs, rule)

    def claims(self, measure: Measure = "reach") -> list[Claim]:
        """A measure of every cell: reach, in_range, twice or thrice."""
        return [cell.claim(measure) for cell in self.cells if cell.done]

    def records(self, probe: str) -> list[tuple[RunRecord, Record]]:
        """The records of a probe for every finished run that it was applied to: `results.records("ladder")`."""
        found = [(run, run.record(probe)) for run in self.runs]
        return [(run, record) for run, record in found if record is not None]

    def __repr__(self) -> str:
        done = sum(run.state == "done" for run in self.runs)
        learned = sum(cell.learned is True for cell in self.cells)
        return f"StudyResults({self.folder}: {done} of {len(self.runs)} runs done, {learned} cells learned)"

    def _repr_html_(self) -> str:
        """A table of the reach, for a notebook."""
        positions = list(dict.fromkeys(cell.position for cell in self.cells))
        rows: dict[tuple[str, int], dict[str, str]] = {}
        for cell in self.cells:
            if cell.done:
                rows.setdefault((cell.row, cell.train_size), {})[cell.position] = _number(cell)
        columns = [Column("", "text"), Column("trained to", "whole"), *(Column(name, "text") for name in positions)]
        content = [(*key, *(found.get(position) for position in positions)) for key, found in rows.items()]
        caption = "reach, mean over the seeds that learned; ×: not learned (measured)"
        return Table("study.reach", tuple(columns), tuple(content), caption)._repr_html_()


def run_study(
    study: Any,
    folder: str | Path | None = None,
    executor: Any = "local",
    preset: str | None = None,
    trust: bool = False,
    progress: Progress | None = None,
) -> StudyResults:
    """Run a study (a `Study`, a TOML file or the name of a built-in one), or what remains of it. For a file
    or a built-in study with presets, `preset` selects one other than the first. Tasks of the study that are Python
    files run only with `trust`.

    >>> results = lw.run_study("quick")                                  # doctest: +SKIP
    >>> results.claims("thrice")                                         # doctest: +SKIP
    """
    from lengthwise.studies.coordinator import carry_out_study, default_folder
    from lengthwise.studies.spec import Study

    if isinstance(study, Study) and preset is not None:
        raise UsageError(f"a Study has no presets, so {preset!r} chooses nothing; Study.read(source, preset) takes one")
    asked = study if isinstance(study, Study) else Study.read(study, preset)
    place = Path(folder) if folder else default_folder(asked)
    with trusting(trust), shown(progress) as told:
        carry_out_study(asked, place, executor, lambda now: told(str(now), now.done + now.failed, now.total))
    return StudyResults(place)


def open_study(name: str | Path) -> StudyResults:
    """The results of a study that was run before, by its name below runs/ or its folder."""
    return StudyResults(study_folder(str(name)))


def _number(cell: Cell) -> str:
    value = cell.claim("reach").value
    marks = ("× " if cell.learned is False else "") + ("≥ " if cell.censored else "")
    return f"{marks}{value:.0f}" if isinstance(value, int | float) else "–"
