"""Settings of all tests, and what several of them share."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import settings

from browsing import browser, hostile, visit
from chances import chance_of
from lengthwise import messages, progress
from lengthwise.probes.curve.curve import Curve, Point
from lengthwise.studies.record import RunRecord, Summary, packed
from lengthwise.studies.store import Store

__all__ = ["browser", "hostile", "visit"]

# On a developer's machine hypothesis looks for new counterexamples every time; a landing is not decided by luck.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

_SYSTEM = {"browser", "cluster"}  # a test that asks for one of these fixtures is not for `make test`


class _Keys(dict[str, str]):
    """The catalogue with every sentence replaced by its key."""

    def get(self, key: str, default: str | None = None) -> str | None:  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().get(key, default) if default is not None or key not in self else key


def pytest_addoption(parser: pytest.Parser) -> None:
    words = "show keys in place of sentences, and leave out the tests of wording: all others must pass"
    parser.addoption("--keys", action="store_true", help=words)


def pytest_configure(config: pytest.Config) -> None:
    progress.EVERY = progress.SOON = 3600.0  # what a command says does not depend on how fast a machine is
    if config.getoption("--keys"):
        messages._SENTENCES = _Keys(messages._SENTENCES)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if _SYSTEM & set(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.system)
    if config.getoption("--keys"):
        of_wording = [item for item in items if item.get_closest_marker("wording")]
        config.hook.pytest_deselected(items=of_wording)
        items[:] = [item for item in items if item not in of_wording]


@pytest.fixture(scope="session")
def synthetic_study() -> Callable[..., Path]:
    """A function that writes the index of a study that was never trained, with curves of the usual shapes."""
    return write_synthetic_study


def write_synthetic_study(
    folder: Path,
    tasks: Sequence[str] = ("sort", "(aa)*", "copy_repeat", "binary_majority"),
    positions: Sequence[str] = ("none", "learned+offset", "rope"),
    seeds: int = 3,
    train_size: int = 20,
    failed: int = 1,
    study: Mapping[str, Any] | None = None,
) -> Path:
    """Each (task, position) holds up to a size of its own and falls off behind it; some seeds learn nothing in range,
    and the last `failed` runs failed."""
    rng = np.random.default_rng(0)
    sizes = np.arange(1, 3 * train_size + 1)
    folder.mkdir(parents=True, exist_ok=True)
    records = []
    for task, position in itertools.product(tasks, positions):
        chance = chance_of(task, train_size)
        edge = rng.choice([0.9, 1.3, 2.2, 9.0]) * train_size
        for seed in range(seeds):
            learned = rng.random() < 0.85
            share = (0.999 if learned else 0.6) / (1 + np.exp((sizes - edge - rng.normal(0, 2)) / 2))
            right = rng.binomial(200, share)
            points = tuple(
                Point(int(n), int(n), 200, int(r), 200 * int(n), 200 * int(n) - int(200 - r), 1.01 - r / 200, *chance)
                for n, r in zip(sizes, right, strict=True)
            )
            curve = Curve(task, position, train_size, seed, points)
            records.append(_record(len(records), curve))
    described = {
        "name": folder.name,
        "question": "How far do these tasks hold with each encoding?",
        "tasks": list(tasks),
        "positions": list(positions),
        "seeds": list(range(seeds)),
        "train_size": [train_size],
        "keep": 0.9,
        **(study or {}),
    }
    published = {"encoding": "learned+offset", "bins": [[1, 20], [21, 40], [41, 60]], "exact_match": [100, 90, 80]}
    known = {
        "axis": "length",
        "published": [{**published, "reference": "huang2025, Figure 1", "chance": None}],
    }
    with Store.open(folder, write=True) as store:
        store.note("study", described)
        store.note("toml", "".join(f"{key} = {json.dumps(value)}\n" for key, value in described.items()))
        store.note("tasks", {task: known if index == 0 else {"axis": "length"} for index, task in enumerate(tasks)})
        store.note("environment", records[0].detail["environment"])
        store.note("command", f"lengthwise study {folder.name}")
        store.note("seconds", 30.0 * len(records) / 2)
        store.plan(records)
        done = records[: len(records) - failed]
        store.finish_all(done)
        for record in records[len(done) :]:
            store.mark(record.key, "failed", "ValueError: <b>the task</b> broke", attempts=2)
    return folder


def _record(number: int, curve: Curve) -> RunRecord:
    """A finished run that was never trained."""
    steps = range(100, 2100, 100)
    detail = {
        "losses": [(step, 2.0 / (1 + step / 300)) for step in steps],
        "checks": [(step, min(1.0, step / 1500)) for step in steps],
        "environment": {"lengthwise": "0", "python": "3.11", "threads": 1, "packages": {}, "cores": 2},
        "digest": f"{number:08x}",
    }
    return RunRecord(
        key=f"run-{number:05}",
        task=curve.task,
        position=curve.position,
        variant="",
        seed=curve.seed,
        train_size=curve.train_size,
        test_size=3 * curve.train_size,
        items=200,
        settings={"depth": 2, "width": 64, "heads": 4, "steps": 2000, "rate": 0.002},
        state="done",
        seconds=30.0,
        ended="all steps done",
        summary=Summary.of(curve),
        detail=detail,
        stored=packed({"curve": curve.record()}),
    )
