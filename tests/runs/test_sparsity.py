"""A run that is asked for the sparsity of its attention has it in its record; asking later trains nothing again."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from lengthwise.errors import UsageError
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import Listener, carry_out, load_run
from small_runs import sealed_again

SMALL = {"depth": 2, "width": 16, "heads": 1, "steps": 3, "batch": 4}


def small_plan(sparsity: bool) -> Plan:
    return plan_for("binary_majority", "rope", SMALL, train_size=3, test_size=7, items=5, sparsity=sparsity)


def test_the_plan_says_so_and_the_weights_do_not_depend_on_it() -> None:
    with_it, without = small_plan(True), small_plan(False)
    assert with_it.digest() == without.digest() and "sparsity" not in without.plain()
    assert Plan.from_plain(with_it.plain()) == with_it and Plan.from_plain(without.plain()) == without


def test_the_record_holds_it_and_asking_later_trains_nothing_again(tmp_path: Path) -> None:
    steps: list[int] = []
    listener = Listener(trained=lambda history: steps.append(history.step))
    assert carry_out(small_plan(False), tmp_path, listener).sparsity == () and steps
    assert "sparsity" not in json.loads((tmp_path / "run.json").read_text())
    steps.clear()
    run = carry_out(small_plan(True), tmp_path, listener)
    assert [(one.size, one.layer) for one in run.sparsity] == [(3, 1), (3, 2), (6, 1), (6, 2), (7, 1), (7, 2)]
    assert not steps and load_run(tmp_path).sparsity == run.sparsity and load_run(tmp_path).plan == run.plan
    measured: list[object] = []
    again = carry_out(small_plan(True), tmp_path, Listener(measured=measured.append))
    assert not measured and again.sparsity == run.sparsity, "what is there is not measured again"
    assert carry_out(small_plan(False), tmp_path, Listener(measured=measured.append)).sparsity and not measured
    assert carry_out(replace(small_plan(True), items=6), tmp_path).sparsity == run.sparsity, "its items are its own"


def test_a_damaged_record_is_named(tmp_path: Path) -> None:
    carry_out(small_plan(True), tmp_path)
    record = json.loads((tmp_path / "run.json").read_text())
    del record["sparsity"][0]["best"]
    sealed_again(tmp_path, sparsity=record["sparsity"])
    with pytest.raises(UsageError, match=r"run\.json .*'best' is missing or wrong"):
        load_run(tmp_path)
