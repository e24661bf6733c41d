"""The record of one run in a study: what was planned, how it ended, and its curve in a few numbers and in full."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Literal

from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.integrity import CURVE, LADDER, RUN, check_run
from lengthwise.measurement.curve import Curve, Point
from lengthwise.measurement.sparsity import Sparsity

State = Literal["waiting", "running", "done", "failed"]
_POINT = tuple(f.name for f in fields(Point))


@dataclass(frozen=True)
class Summary:
    """The few numbers of a finished run that tables are made of.

    `twice` and `thrice` are the exact match on the sizes of the second and of the third stretch as wide as the
    training range (21 to 40 and 41 to 60 after training to 20); None where nothing was measured there. `learned` and
    `holds` are judged by `lengthwise.measurement.standard`; `certain` is False where answers are drawn at random."""

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
        stretches = [_exact_within(curve, k * n + 1, (k + 1) * n) for k in range(3)]
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
    `settings` holds all of them. What only a finished run has is None or empty before."""

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

    @property
    def curve(self) -> Curve:
        """The whole curve of a finished run."""
        points = unpack_points(self.detail["curve"])
        certain = self.summary is None or self.summary.certain
        return Curve(self.task, self.position, self.train_size, self.seed, points, certain)

    @property
    def losses(self) -> list[tuple[int, float]]:
        """(step, mean training loss since the entry before)."""
        return [(step, loss) for step, loss in self.detail.get("losses", [])]

    @property
    def checks(self) -> list[tuple[int, float]]:
        """(step, share of in-range items right)."""
        return [(step, share) for step, share in self.detail.get("checks", [])]

    @property
    def ladder(self) -> Mapping[str, int] | None:
        """How much was measured at each level of the run's ladder of shifts; of a run that waits, how much is to be.
        None where there is no ladder."""
        return self.detail.get("ladder")

    @property
    def sparsity(self) -> tuple[Sparsity, ...] | None:
        """How sparse attention is, by size and layer; empty for a run that waits, None where it was not asked for."""
        found = self.detail.get("sparsity")
        return None if found is None else tuple(Sparsity.from_plain(one) for one in found)


def settings_of(plan: Mapping[str, Any]) -> dict[str, Any]:
    """The model and the recipe of a plan (as `Plan.plain` gives it), side by side; the encoding has its own column."""
    both = {**plan["model"], **plan["recipe"]}
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
        own = [f"{name.replace('_', ' ')} {value}" for name, value in record.settings.items() if name in names]
        named.append(replace(record, variant=", ".join(own)))
    return named


def _differing(settings: list[Mapping[str, Any]]) -> set[str]:
    names = {name for own in settings for name in own}
    return {name for name in names if len({repr(own.get(name)) for own in settings}) > 1}


def read_finished(folder: Path) -> RunRecord:
    """The record of the finished run in a folder, from its files alone. A folder in which a file, the weights too, is
    not the one that was saved is a usage error that names it."""
    try:
        record, curve = check_run(folder), read_json(folder / CURVE)
        plan, history = record["plan"], record["history"]
        measured = Curve.from_plain(curve)
        if (measured.seed, measured.train_size) != (plan["seed"], plan["train_size"]):
            raise ValueError(f"{CURVE} belongs to another run")
        found = RunRecord(
            key=folder.name,
            task=measured.task,
            position=measured.position,
            variant="",
            seed=plan["seed"],
            train_size=plan["train_size"],
            test_size=plan["test_size"],
            items=plan["items"],
            settings=settings_of(plan),
            state="done",
            seconds=float(history["seconds"]),
            ended=history["ended"],
            summary=Summary.of(measured, plan["test_size"]),
            detail={
                "curve": pack_points(measured.points),
                "losses": history["losses"],
                "checks": history["checks"],
                "environment": record["environment"],
                "digest": record["digest"],
                **_ladder_of(plan, folder),
                **_sparsity_of(record),
            },
        )
        json.dumps(found.detail, allow_nan=False)  # a number that is none would be refused by the index later
        return found
    except UsageError:
        raise
    except (RecursionError, LookupError, TypeError, AttributeError, ValueError, ArithmeticError) as error:
        raise UsageError(
            f"the run folder {folder} is damaged ({type(error).__name__}: {error} in {RUN} or {CURVE}); "
            "delete the folder to have the run trained again"
        ) from error


def _ladder_of(plan: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """What was measured of a ladder, if it is there: one that is gone is measured again."""
    return {"ladder": plan["ladder"]} if "ladder" in plan and (folder / LADDER).is_file() else {}


def _sparsity_of(record: Mapping[str, Any]) -> dict[str, Any]:
    """What was measured of the sparsity of attention, each record whole."""
    found = [Sparsity.from_plain(one).plain() for one in record.get("sparsity", ())]
    return {"sparsity": found} if found else {}


def pack_points(points: tuple[Point, ...]) -> dict[str, list[Any]]:
    """A curve by columns, which is a tenth of its size by rows."""
    return {name: [getattr(point, name) for point in points] for name in _POINT}


def unpack_points(columns: Mapping[str, list[Any]]) -> tuple[Point, ...]:
    return tuple(Point(*row) for row in zip(*(columns[name] for name in _POINT), strict=True))


def _exact_within(curve: Curve, first: int, last: int) -> float | None:
    inside = [point for point in curve.points if first <= point.size <= last]
    return sum(p.right for p in inside) / sum(p.items for p in inside) if inside else None
