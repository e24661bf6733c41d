"""Accuracy without labels: thresholds, transported confidences, and files of inputs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from lengthwise.errors import UsageError
from lengthwise.forecasts.unlabelled import accuracy_record, read_inputs, threshold_of
from lengthwise.tasks import make_task


def drawn(low: float, high: float, items: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Confidences, and answers that are right with just that probability."""
    random = np.random.default_rng(seed)
    confidences = random.uniform(low, high, items)
    return confidences, random.random(items) < confidences


def test_as_many_known_items_reach_the_threshold_as_are_right():
    known, right = drawn(0.2, 1, 500, 0)
    assert (known >= threshold_of(known, right)).sum() == right.sum()
    assert threshold_of(known, np.zeros(500, dtype=bool)) == np.inf
    assert threshold_of(known, np.ones(500, dtype=bool)) == known.min()


def test_transport_bounds_the_accuracy_where_confidences_are_calibrated():
    """The probability of a right answer is the confidence itself, so the assumption holds."""
    known, right = drawn(0.6, 1, 4000, 1)
    target, truth = drawn(0.1, 0.9, 4000, 2)
    record = accuracy_record("model", known, right, {40: target}, seen=20)
    claim = record.claim("forecast.transported")
    assert claim.interval.low - 0.03 <= truth.mean() <= claim.interval.high + 0.03
    assert claim.value == pytest.approx(truth.mean(), abs=0.03)
    assert record.claim("forecast.confidences_apart").kind == "certified"
    assert record.claim("forecast.confidences_apart").value == pytest.approx(known.mean() - target.mean(), abs=0.02)


def test_a_threshold_that_separates_gives_the_accuracy():
    known, target = np.linspace(0, 1, 101), np.linspace(0, 0.8, 81)
    record = accuracy_record("model", known, known >= 0.6, {40: target[:40], 60: target[40:]}, seen=20)
    assert record.claim("forecast.atc").value == pytest.approx((target >= 0.6).mean())
    assert [one.key for one in record.claim("forecast.atc").assumptions] == ["forecast.atc_threshold"]
    assert record.table("forecast.by_size").column("size") == [40, 60]


def write(path, *lines):
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return str(path)


def test_inputs_are_sorted_by_the_size_they_have(tmp_path):
    task = make_task("parity")
    path = write(tmp_path / "inputs.jsonl", {"input": "0 1 1"}, {"input": ["1", "1", "0", "0"]}, {"input": "101"})
    found = read_inputs(path, task)
    sizes = {size: len(rows) for size, rows in found.rows.items()}
    lengths = {size: task.draw(size, 0, [0]).prompts.shape[1] for size in sizes}
    assert sorted(zip(lengths.values(), sizes.values(), strict=True)) == [(3, 2), (4, 1)]
    first = min(found.rows)
    assert found.draw(first, 0, [1]).prompts.tolist() == found.rows[first][[1]].tolist()


@pytest.mark.parametrize("lines", [["{"], [{"answer": "1"}], [{"input": "0 x"}], [{"input": 3}], []])
def test_a_file_that_holds_no_inputs_is_refused_in_one_sentence(tmp_path, lines):
    with pytest.raises(UsageError):
        read_inputs(write(tmp_path / "inputs.jsonl", *lines), make_task("parity"))


def test_a_file_that_does_not_exist_is_refused():
    with pytest.raises(UsageError):
        read_inputs("nowhere.jsonl", make_task("parity"))
