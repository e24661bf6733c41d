"""A run that somebody opens on the page: what is known of it, its curve and losses, and any of its records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.analyses.words import cut, duration
from lengthwise.errors import UsageError
from lengthwise.figures.style import rounded, thinned
from lengthwise.integrity import PLAN, RUN, read_record
from lengthwise.probes.curve.curve import Curve
from lengthwise.records import Record
from lengthwise.reports.record_section import record_fragment
from lengthwise.runs.stored import read_stored
from lengthwise.studies.record import RunRecord, run_title
from lengthwise.studies.store import RUNS, Store
from lengthwise.training.journal import Entry
from lengthwise.view.places import WatchedPlace, glance_at_run
from lengthwise.view.study_place import StudyPlace

_MOST = 400  # points of a line


@dataclass(frozen=True)
class OpenedRun:
    """A run, the names of its records, and where they are: in the run's folder or in the index of its study."""

    run: RunRecord
    folder: Path
    slugs: tuple[str, ...]
    damage: str = ""
    entries: tuple[Entry, ...] = ()  # of its journal, while it is in training

    def record(self, slug: str) -> Record:
        """One record; a damaged one is a usage error, and one that the run does not have a LookupError."""
        if slug not in self.slugs:
            raise LookupError(slug)
        if slug in self.run.stored:
            return self.run.parsed(slug)
        return read_stored(self.folder, read_record(self.folder, _record_file(self.folder)), slug)

    def plain(self) -> dict[str, Any]:
        """What the page shows first."""
        losses = self.run.losses or [(step, loss) for step, loss, _ in self.entries]
        checks = self.run.checks or [(step, share) for step, _, share in self.entries if share is not None]
        return {
            "title": run_title(self.run),
            "facts": _facts(self.run),
            "reason": self.damage or self.run.reason,
            "losses": [(step, rounded(loss)) for step, loss in thinned(losses, _MOST)],
            "checks": [(step, rounded(share)) for step, share in thinned(checks, _MOST)],
            "curve": self._curve(),
            "records": list(self.slugs),
        }

    def _curve(self) -> list[tuple[int, float]]:
        """(size, exact match), empty where it was not measured or cannot be read."""
        slug = next((slug for slug in self.slugs if slug.partition("-")[0] == "curve"), None)
        try:
            points = () if slug is None else Curve.from_record(self.record(slug)).points
        except (UsageError, LookupError, TypeError, AttributeError, ValueError):
            return []
        return [(point.size, rounded(point.right / point.items)) for point in thinned(points, _MOST) if point.items]


def open_run(place: WatchedPlace, name: str) -> OpenedRun:
    """The run of this name in a place. One that is damaged has no records, and a sentence that says why."""
    journal = place.journal(name)
    entries = () if journal is None else tuple(journal.entries)
    if not isinstance(place, StudyPlace):
        return _in_folder(place.folder, entries)
    key = name.rpartition("/")[2]
    folder = place.folder / RUNS / key
    try:
        with Store.open(place.folder) as store:
            run = store.run(key)
    except UsageError as error:
        return _damaged(folder, str(error))
    if run.state == "done":
        return OpenedRun(run, folder, tuple(run.stored))
    slugs = _finished_slugs(folder)
    return OpenedRun(run, folder, slugs, entries=entries)


def fragment(opened: OpenedRun, slug: str) -> dict[str, Any]:
    """A record as the page shows it; a damaged one is a sentence."""
    try:
        return record_fragment(opened.record(slug))
    except UsageError as error:
        why = str(error)
    except (TypeError, AttributeError, ValueError, RecursionError) as error:
        why = f"{slug} is not the record of a probe ({type(error).__name__}: {error})"
    return record_fragment(Record(slug, failed=why))


def _in_folder(folder: Path, entries: tuple[Entry, ...]) -> OpenedRun:
    try:
        return OpenedRun(glance_at_run(folder), folder, _finished_slugs(folder), entries=entries)
    except (UsageError, OSError) as error:
        return _damaged(folder, str(error))


def _damaged(folder: Path, why: str) -> OpenedRun:
    return OpenedRun(RunRecord(folder.name, folder.name, "", "", 0, 0, 0, 0, state="failed"), folder, (), damage=why)


def _finished_slugs(folder: Path) -> tuple[str, ...]:
    """The records that are finished, of a run that may still be measured."""
    try:
        records = read_record(folder, _record_file(folder)).get("records", {})
    except UsageError:
        return ()
    return tuple(records) if isinstance(records, Mapping) else ()


def _record_file(folder: Path) -> str:
    return RUN if (folder / RUN).exists() else PLAN


def _facts(run: RunRecord) -> list[tuple[str, str]]:
    """Labels and texts; of a folder that cannot be read there are none."""
    if not run.train_size:
        return []
    settings = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in run.settings.items())
    facts = [
        ("task", run.task),
        ("position encoding", run.position),
        ("settings", cut(settings, 600)),
        ("sizes", f"trained to {run.train_size}, measured to {run.test_size} on {run.items} items per size"),
        ("seed", str(run.seed)),
        ("training", run.ended),
        ("time", "" if run.seconds is None else duration(run.seconds)),
    ]
    return [(label, text) for label, text in facts if text]
