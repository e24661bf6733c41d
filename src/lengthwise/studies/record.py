"""The record of one run in a study: what was planned, how it ended, and what its probes found."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.integrity import RUN, check_run, read_record
from lengthwise.models.named import shown_spec
from lengthwise.probes.curve.curve import Curve
from lengthwise.probes.probe import named
from lengthwise.records import Record
from lengthwise.runs.stored import read_records, read_stored

State = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True)
class Summary:
    """The few numbers of a finished run that tables are made of.

    `twice` and `thrice` are the exact match on the sizes of the second and of the third stretch as wide as the
    training range (21 to 40 and 41 to 60 after training to 20); None where nothing was measured there. `learned` and
    `holds` are judged by `lengthwise.probes.curve.standard`; `certain` is False where answers are drawn at random."""

    reach: int
    censored: bool
    in_range: float | None
    twice: float | None
    thrice: float | None
    chance: float
    learned: bool | None
    holds: bool | None
    certain: bool = True

    @classmethod
    def of(cls, curve: Curve, test_size: int | None = None) -> Summary:
        """The summary of a curve that was to be measured up to `test_size`."""
        reach, stands = curve.reach(), curve.standing(test_size)
        n = curve.train_size
        stretches = [exact_within(curve, k * n + 1, (k + 1) * n) for k in range(3)]
        return cls(
            reach=int(reach.value or 0),
            censored=bool(reach.evidence["censored"]),
            in_range=stretches[0],
            twice=stretches[1],
            thrice=stretches[2],
            chance=curve.bins()[-1].chance,
            learned=stands.learned,
            holds=stands.holds,
            certain=curve.certain,
        )


@dataclass(frozen=True)
class RunRecord:
    """One run of the grid. `variant` names the settings in which it differs from other runs of its task and encoding;
    `settings` holds all of them. `asked` says what is to be measured, or for a finished run what was (`Plan.asked`).
    What only a finished run has is None or empty before; `stored` are its records, by name, as they are stored."""

    key: str
    task: str
    position: str
    variant: str
    seed: int
    train_size: int
    test_size: int
    items: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    state: State = "waiting"
    attempts: int = 0
    reason: str = ""
    seconds: float | None = None
    ended: str = ""
    summary: Summary | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)
    asked: Mapping[str, Any] = field(default_factory=dict)
    stored: Mapping[str, str] = field(default_factory=dict, repr=False)

    @cached_property
    def records(self) -> dict[str, Record]:
        """What the probes found, by the name of the record."""
        return {slug: self.parsed(slug) for slug in self.stored}

    def parsed(self, slug: str) -> Record:
        """One record as it is stored; what is none is a usage error."""
        try:
            return Record.from_plain(json.loads(self.stored[slug]))
        except (LookupError, TypeError, AttributeError, ValueError, RecursionError) as error:
            wrong = f"{slug} of {self.key}: {type(error).__name__}: {error}"
            again = "`lengthwise study rebuild` takes it from the run folders again"
            raise UsageError(f"the index of the study holds a damaged record ({wrong}); {again}") from error

    def record(self, probe: str) -> Record | None:
        """What a probe found, by its name; None where it was not asked, or the run is not finished."""
        return self.parsed(probe) if self.stored.get(probe) else named(self.records.values(), probe)

    @cached_property
    def curve(self) -> Curve:
        """The whole curve of a finished run."""
        record = self.record("curve")
        assert record is not None
        return Curve.from_record(record)

    def answers(self, asked: Mapping[str, Any]) -> bool:
        """Whether everything that is asked was measured, in the way that is asked."""
        return all(self.asked.get(slug) == how for slug, how in asked.items())

    @property
    def losses(self) -> list[tuple[int, float]]:
        """(step, mean training loss since the entry before)."""
        return [(step, loss) for step, loss in self.detail.get("losses", [])]

    @property
    def checks(self) -> list[tuple[int, float]]:
        """(step, share of in-range items right)."""
        return [(step, share) for step, share in self.detail.get("checks", [])]


def planned_run(key: str, task: str, position: str, plan: Mapping[str, Any], asked: Mapping[str, Any]) -> RunRecord:
    """A run that waits, of a plan as `Plan.plain` gives it; `named_variants` names its variant."""
    sizes = {name: plan[name] for name in ("seed", "train_size", "test_size", "items")}
    return RunRecord(key, task, position, "", **sizes, settings=settings_of(plan), asked=asked)


def settings_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The model and the recipe of a plan (as `Plan.plain` gives it), side by side; the encoding has its own column."""
    model = plan["model"]
    both = {**({"model": shown_spec(model)} if "name" in model else model), **plan["recipe"]}
    return {name: value for name, value in both.items() if name != "position" and value is not None}


def named_variants(records: Iterable[RunRecord]) -> list[RunRecord]:
    """The records with their variants: the settings in which runs of one task and encoding differ. A setting that only
    some of them have, such as a share to stop at, differs too."""
    records = list(records)
    groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
    for record in records:
        groups.setdefault((record.task, record.position), []).append(record.settings)
    differing = {cell: _differing(settings) for cell, settings in groups.items()}
    named = []
    for record in records:
        names = differing[record.task, record.position]
        settings = {"model": "transformer", **record.settings}
        own = [f"{name.replace('_', ' ')} {value}" for name, value in settings.items() if name in names]
        named.append(replace(record, variant=", ".join(own)))
    return named


def _differing(settings: list[Mapping[str, Any]]) -> set[str]:
    """Between different models the model alone, as most of their settings are not to be compared."""
    models = {own.get("model"): [one for one in settings if one.get("model") == own.get("model")] for own in settings}
    found = {"model"} if len(models) > 1 else set()
    for alike in models.values():
        names = {name for own in alike for name in own}
        found |= {name for name in names if len({repr(own.get(name)) for own in alike}) > 1}
    return found


def read_finished(folder: Path) -> RunRecord:
    """The record of the finished run in a folder, from its files alone. A folder in which a file, the weights too, is
    not the one that was saved is a usage error that names it."""
    with _named_damage(folder):
        record = check_run(folder)
        records = read_records(folder, record)
        found = _finished(folder, record, named(records.values(), "curve"))
        return replace(found, stored=packed(records))


def glance_at_finished(folder: Path) -> RunRecord:
    """The same without its records, and without comparing the weights and the records other than the curve with their
    checksums: for a list of many runs."""
    with _named_damage(folder):
        record = read_record(folder)
        slug = next((slug for slug in record["records"] if slug.partition("-")[0] == "curve"), None)
        return _finished(folder, record, None if slug is None else read_stored(folder, record, slug))


def _finished(folder: Path, record: Mapping[str, Any], curve: Record | None) -> RunRecord:
    plan, history = record["plan"], record["history"]
    if curve is None:
        raise ValueError("it has no curve")
    measured = Curve.from_record(curve)
    if (measured.seed, measured.train_size) != (plan["seed"], plan["train_size"]):
        raise ValueError("its curve belongs to another run")
    found = replace(
        planned_run(folder.name, measured.task, measured.position, plan, record["records"]),
        state="done",
        seconds=float(history["seconds"]),
        ended=history["ended"],
        summary=Summary.of(measured, plan["test_size"]),
        detail={
            "losses": history["losses"],
            "checks": history["checks"],
            "environment": record["environment"],
            "digest": record["digest"],
        },
    )
    json.dumps(found.detail, allow_nan=False)  # a number that is none would be refused by the index later
    return found


@contextlib.contextmanager
def _named_damage(folder: Path) -> Iterator[None]:
    """Whatever goes wrong with the content of a run's files is one sentence that names the folder."""
    try:
        yield
    except UsageError:
        raise
    except (RecursionError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise UsageError(
            f"the run folder {folder} is damaged ({type(error).__name__}: {error} in {RUN} or a record); "
            "delete the folder to have the run trained again"
        ) from error


def identified(run: RunRecord) -> dict[str, Any]:
    """What says which run it is, and how often it was tried, as JSON-ready data."""
    names = ("key", "task", "position", "variant", "train_size", "seed", "attempts")
    return {name: getattr(run, name) for name in names}


def plain_failure(run: RunRecord) -> dict[str, Any]:
    """A failed run as JSON-ready data."""
    return {**identified(run), "reason": run.reason}


def run_title(run: RunRecord) -> str:
    """A run in words, as in `sort, depth 2, position rope, trained to 20, seed 1`."""
    parts = (run.task, run.variant, f"position {run.position}", f"trained to {run.train_size}", f"seed {run.seed}")
    return ", ".join(part for part in parts if part)


def printable(text: str) -> str:
    """Text in one line that leaves a terminal alone: names and error messages may hold any characters."""
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in " ".join(text.split()))


def packed(records: Mapping[str, Record]) -> dict[str, str]:
    """Records as text, which is read only when somebody asks for one."""
    return {slug: json.dumps(one.plain(), ensure_ascii=False, allow_nan=False) for slug, one in records.items()}


def exact_within(curve: Curve, first: int, last: int) -> float | None:
    """Exact match over these sizes together; None where none was measured."""
    inside = [point for point in curve.points if first <= point.size <= last]
    return sum(p.right for p in inside) / sum(p.items for p in inside) if inside else None
