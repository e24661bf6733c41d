"""Studies of any shape without training, and an oracle that was told what to say."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from unittest.mock import patch

import pytest

from chances import chance_of
from lengthwise.analyses.content import StudyContent
from lengthwise.oracle.check import Card
from lengthwise.oracle.opinion import Opinion, Verdict
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.studies.record import RunRecord, Summary, packed
from lengthwise.tasks.sizes import name_of


@pytest.fixture(scope="session")
def content_of() -> Callable[..., StudyContent]:
    return make_content


def make_content(
    reaches: Mapping[tuple[str, str], Sequence[int | None]],
    train_size: int = 20,
    test_size: int = 60,
    unlearned: Sequence[tuple[str, str]] = (),
    others: Mapping[tuple[str, str], str] | None = None,
    variants: Mapping[str, Mapping[str, Any]] | None = None,
    **facts: Any,
) -> StudyContent:
    """A study in which each (task, encoding) has one run a reach: all right up to it, too few beyond. A reach of None
    is a run that failed. Tasks named in `variants` differ by these settings: the part after "@" is the variant."""
    runs = []
    for (task, position), seeds in reaches.items():
        name, _, variant = task.partition("@")
        for seed, reach in enumerate(seeds):
            key = f"run-{len(runs):04}"
            settings = (variants or {}).get(variant, {"depth": 2})
            record = RunRecord(key, name, position, variant, seed, train_size, test_size, 100, settings)
            learned = (task, position) not in unlearned
            runs.append(_finished(record, reach, learned) if reach is not None else _failed(record))
    for (task, position), state in (others or {}).items():
        runs.append(RunRecord(f"run-{len(runs):04}", task, position, "", 0, train_size, test_size, 100, state=state))
    study = {"question": "How far?", "keep": 0.9, **facts.pop("study", {})}
    return StudyContent("small", tuple(runs), study=study, **facts)


def _failed(record: RunRecord) -> RunRecord:
    return RunRecord(**{**vars(record), "state": "failed", "reason": "ValueError: it broke"})


def _finished(record: RunRecord, reach: int, learned: bool) -> RunRecord:
    points, chance = [], chance_of(record.task, record.train_size)
    for size in range(1, record.test_size + 1):
        beyond = 90 if size <= record.train_size else 10  # below 95 %, but enough for a seed to be kept
        right = (100 if size <= reach else beyond) if learned else (100 if 15 < size <= reach else 50)
        points.append(Point(size, size, 100, right, 100 * size, right * size, 1.01 - right / 100, *chance))
    curve = Curve(record.task, record.position, record.train_size, record.seed, tuple(points))
    detail = {
        "losses": [(100, 1.0), (200, 0.00002)],
        "checks": [(100, 0.5), (200, 1.0)],
    }
    made = {"state": "done", "seconds": 2.0, "summary": Summary.of(curve), "detail": detail}
    made["stored"] = packed({"curve": curve.record()})
    return RunRecord(**{**vars(record), **made})


class ToldOracle:
    """An oracle that was told what to say of each (task, encoding), and notes what it is asked."""

    def __init__(self, told: Mapping[tuple[str, str], str]) -> None:
        self.told, self.asked = told, []

    def __call__(self, task, positions, *, model, train_size, test_size, quick) -> Card:
        name = name_of(task)
        self.asked.append((name, tuple(positions), train_size, test_size))
        assert quick and task.symbols
        found = {position: self._verdict(name, position) for position in (*positions, *model)}
        return Card(name, train_size, test_size, found)

    def _verdict(self, name: str, position: str) -> Verdict:
        outlook = self.told.get((name, position), "unknown")
        status = "unknown" if outlook == "unknown" else "holds"
        claim = Claim(
            "test.program",
            None if outlook == "unknown" else outlook == "can hold",
            "",
            "certified",
            status,
            assumptions=(Assumption("test.softmax"),),
            reference=Reference("huang2025", "Theorem 7"),
        )
        why = f"nobody knows about {position}" if outlook == "unknown" else f"a witness says that {name} {outlook}"
        return Verdict(position, (Opinion("crasp", outlook, why, claim),))


@contextlib.contextmanager
def told_by(oracle: Any) -> Iterator[None]:
    """Reports meanwhile take their predictions from this oracle."""
    with patch("lengthwise.analyses.agreement.check", oracle):
        yield


@pytest.fixture(scope="session")
def told() -> Callable[..., ToldOracle]:
    """`told({("sort", "none"): "can hold"})`: an oracle that says this, and that it does not know the rest."""
    return ToldOracle
