"""What nobody should have to wait for: seconds of the processor that a step or a command takes, each against a limit.

There is no peer here: the limits are what a reader at a terminal puts up with, some times what an idle core takes. The
studies of thousands of runs are one run, really trained for a moment, under thousands of names.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from rows import Row, need, standalone

from lengthwise.bounds.compression.quantisers import kmeans_levels
from lengthwise.errors import LengthwiseError
from lengthwise.geometry import clusters
from lengthwise.oracle.programs.interpreter import run_tokens
from lengthwise.oracle.programs.text import parse_program
from lengthwise.probes.curve.spread import Keep
from lengthwise.probes.inspection import inspect
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import carry_out
from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.studies.cells import cells
from lengthwise.studies.estimate import calibrate, estimate
from lengthwise.studies.export import export
from lengthwise.studies.grid import plans
from lengthwise.studies.record import RunRecord, read_finished
from lengthwise.studies.spec import Study
from lengthwise.studies.store import Store
from lengthwise.tasks import tasks

ESTIMATE = 2.5  # an estimate of a study's time is off by at most this factor
LINEAR = 8.0  # four times the tokens take at most this many times as long; with the square of the length, 16 times


def seconds_of(work: Callable[[], Any], clock: Callable[[], float] = time.process_time, rounds: int = 3) -> float:
    """The least of a few rounds: what the work needs when nothing else disturbs it."""
    taken = []
    for _ in range(rounds):
        began = clock()
        work()
        taken.append(clock() - began)
    return min(taken)


def children() -> float:
    """Seconds of the processor that ended child processes took."""
    times = os.times()
    return times.children_user + times.children_system


def command_seconds(*words: str, cwd: Path) -> float:
    def run() -> None:
        given = {**os.environ, "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "lengthwise", *words]
        done = subprocess.run(command, cwd=cwd, env=given, capture_output=True, text=True, check=False)
        if done.returncode:
            raise LengthwiseError(f"lengthwise {' '.join(words)} failed: {done.stderr.strip()}")

    return seconds_of(run, children, rounds=1)


def small(seed: int = 0, **model: int) -> Plan:
    return plan_for("sort", "none", {**model, "steps": 30}, seed=seed, train_size=20, items=20)


def copies(run: RunRecord, tasks_: int, positions: int, seeds: int) -> list[RunRecord]:
    """Finished runs of a grid: the same run under other names."""
    return [
        replace(run, key=f"run-{t}-{p}-{seed}", task=f"task_{t}", position=f"encoding_{p}", seed=seed)
        for t in range(tasks_)
        for p in range(positions)
        for seed in range(seeds)
    ]


@contextlib.contextmanager
def stored(runs: list[RunRecord]) -> Iterator[Path]:
    """The folder of a study in which these runs are done."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "many"
        folder.mkdir()
        names = {"tasks": sorted({run.task for run in runs}), "positions": sorted({run.position for run in runs})}
        with Store.open(folder, write=True) as store:
            store.note("study", {"name": "many", "question": "How far?", "keep": 0.9, "seeds": [0], **names})
            store.plan(runs)
            store.finish_all(runs)
        yield folder


def study_rows(quick: bool) -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as place:
        carry_out(small(), Path(place) / "run")
        run = read_finished(Path(place) / "run")
    many = copies(run, 10 if quick else 100, 10, 5)
    what = f"{len(many):,} runs"

    def read() -> None:
        with Store.open(folder) as store:
            store.runs(detail=False)

    def claims() -> None:
        for cell in cells(many, Keep(0.9)):
            for measure in ("reach", "twice", "thrice"):
                cell.claim(measure)

    def write() -> None:
        with Store.open(folder) as store:
            (folder / "points.csv").unlink(missing_ok=True)
            export(store, folder / "points.csv")

    yield Row(f"cells: claims of {what}", seconds_of(claims), "s", most=1.0)
    with stored(many[:500]) as folder:
        yield Row(f"export of {500 * len(run.curve.points):,} points", seconds_of(write), "s", most=1.5)
    with stored(many) as folder:
        yield Row(f"index: reading {what}", seconds_of(read), "s", most=0.5)
        for words in (("study", "show", "many"), ("study", "status", "many"), ("report", "many", "--out", "a.html")):
            most = 12.0 if words[0] == "report" else 2.0
            yield Row(f"{' '.join(words[:2])}: {what}", command_seconds(*words, cwd=folder.parent), "s", most=most)


def forecast_rows() -> Iterator[Row]:
    """A forecast before training, from the atlas that ships with the package."""
    with tempfile.TemporaryDirectory() as folder:
        words = ("forecast", "tomita_3", "--position", "rope")
        yield Row("forecast before training", command_seconds(*words, cwd=Path(folder)), "s", most=1.0)


def estimate_rows() -> Iterator[Row]:
    """How well the time of a study is foreseen, on one run of each task."""
    study = Study(
        "x", ["sort", "tomita_4"], ["none", "rope"], train_size=10, items=50,
        model={"width": [16, 64], "heads": 2}, training={"steps": 150},
    )  # fmt: skip
    made = plans(study)
    calibrate(made[:1], 0.01)  # torch is loaded
    yield Row(
        "estimate: a calibration of 0.6 s", seconds_of(lambda: calibrate(made, 0.6), time.monotonic, 1), "s", most=3
    )
    guess = estimate(made, seconds=1.0)
    for index in (1, 6):
        with tempfile.TemporaryDirectory() as place:
            taken = seconds_of(lambda: carry_out(made[index], Path(place) / "run"), time.monotonic, 1)  # noqa: B023
        off = max(guess.per_plan[index] / taken, taken / guess.per_plan[index])
        what = f"estimate of {made[index].task_name}, {made[index].position_name}: factor off"
        yield Row(what, guess.per_plan[index], "s", taken, "the run", off, most=ESTIMATE)


def geometry(points: np.ndarray) -> None:
    clusters.cluster_number(points, 20)
    clusters.components(points)
    clusters.inner_products(points)
    clusters.effective_rank(points)
    clusters.participation_ratio(points)
    clusters.energy(points, 1.0)


def part_rows(quick: bool) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    seeds = {0: 0.1, 1: 0.2, 2: 0.3}
    taken = seconds_of(lambda: [mean_over_seeds("m", {**seeds, 0: 0.1 * i}) for i in range(5000)])
    yield Row("claims: 5,000 means over seeds", taken, "s", most=0.5)
    numbers = rng.normal(size=200_000 if quick else 2_000_000).astype(np.float32)
    yield Row(
        f"k-means levels of {len(numbers):,} weights", seconds_of(lambda: kmeans_levels(numbers, 16)), "s", most=0.2
    )
    for n, most in ((1024, 0.5),) if quick else ((1024, 0.5), (4096, 4.0)):
        points = clusters.directions(rng.normal(size=(n, 64)))
        yield Row(f"clusters of {n:,} tokens", seconds_of(lambda: geometry(points), rounds=1), "s", most=most)  # noqa: B023
    prose = tasks.make("prose")
    prose.draw(8, 0, range(8))  # the chain is counted
    speed = 128 * 4096 / seconds_of(lambda: prose.draw(128, 0, range(4096)))
    yield Row("sampling, prose", speed, "symbols/s", least=1e6)
    program = parse_program("\n".join(f'n{k} := count("a", back {k})\nm{k} := count("b")' for k in range(20)))
    few, more = (
        seconds_of(lambda: run_tokens(program, np.zeros((1, length), dtype=np.int64), ("a", "b")))  # noqa: B023
        for length in (160_000, 640_000)
    )
    yield Row("a program on 640,000 tokens", more, "s", few, "160,000", more / few, most=LINEAR)


def inspection_rows(quick: bool) -> Iterator[Row]:
    """Geometry of tokens in a model of SmolLM2-135M's shape. Its weights are random: trained ones take as long."""
    need("transformers")
    from transformers import LlamaConfig, LlamaForCausalLM

    shape = {"hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 30, "vocab_size": 49152}
    if quick:
        shape = {"hidden_size": 36, "intermediate_size": 72, "num_hidden_layers": 2, "vocab_size": 300}
    config = LlamaConfig(**shape, num_attention_heads=9, num_key_value_heads=3, tie_word_embeddings=True)
    with tempfile.TemporaryDirectory() as place:
        LlamaForCausalLM(config).save_pretrained(place)
        taken = seconds_of(lambda: inspect(Path(place), probes=["geometry"]), rounds=1)
    yield Row("inspect --probes geometry, SmolLM2's shape", taken, "s", most=360.0)


def rows(quick: bool = False) -> list[Row]:
    return [*part_rows(quick), *study_rows(quick), *forecast_rows(), *estimate_rows(), *inspection_rows(quick)]


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
