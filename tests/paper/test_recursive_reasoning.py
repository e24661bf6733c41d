"""The bar of recursive reasoning: columns are exact at ten times the training size for every seed, appended ones never.

Slow: `make paper` runs it. The trials, seeds and settings are those of benchmarks/recursive_reasoning.py.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

from lengthwise.probes.recursion.walk import run_chains

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recursive_reasoning.py"
_spec = importlib.util.spec_from_file_location("recursive_reasoning", SCRIPT)
assert _spec is not None and _spec.loader is not None
benchmark = importlib.util.module_from_spec(_spec)
sys.modules[_spec.name] = benchmark  # its dataclasses look themselves up there
_spec.loader.exec_module(benchmark)

pytestmark = pytest.mark.slow
CASES = [(trial, seed) for trial in benchmark.TRIALS for seed in trial.seeds]


@pytest.mark.parametrize(("trial", "seed"), CASES, ids=[f"{trial.task}-{seed}" for trial, seed in CASES])
def test_columns_hold_at_ten_times_the_training_size_and_appended_layouts_fall(trial, seed, tmp_path) -> None:
    result = run_chains(benchmark.trained(trial, seed, tmp_path), sizes=trial.sizes, items=200)
    trained, last = result.points[0], result.points[-1]
    assert last.size == 10 * trial.size
    assert trained.exact >= benchmark.HOLDS, "it has learned its range, or its fall would say nothing"
    assert benchmark.met(trial, result), last
    if trial.holds:
        assert trained.exact == 1 and last.on_time >= 0.99 * last.items and last.interval.low > 0.97
