"""The probe `hardness`: margins of heads by size, their trend, and what is refused."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
import torch

from climbing import noisy
from lengthwise.errors import UsageError
from lengthwise.probes.hardness import HardnessProbe
from lengthwise.probes.hardness.rows import margin_rows
from lengthwise.probes.hardness.trend import trend_of
from lengthwise.probes.probe import Context, ask
from lengthwise.records import Record
from lengthwise.runs.plan import plan_for
from lengthwise.runs.run import build_model
from lengthwise.subjects.run import OwnSubject
from lengthwise.testing import check_probe


def test_margins_of_known_logits() -> None:
    """A best key 2 above the next; two keys that tie; all tie; a single key."""
    far = -math.inf
    logits = torch.tensor([[3.0, 1.0, 0.0], [5.0, 5.0, 4.5], [1.0, 1.0, far], [7.0, far, far]], dtype=torch.float64)
    margins, keys, tied = margin_rows(logits, 24).tolist()
    assert margins[:2] == pytest.approx([2.0, 0.5]) and margins[2:] == [math.inf, math.inf]
    assert keys == [3, 3, 2, 1] and tied == [1, 2, 2, 1]
    close = torch.tensor([[1.0, 1.0 - 2.0**-10]], dtype=torch.float64)
    assert margin_rows(close, 8)[0].item() == math.inf and margin_rows(close, 24)[0].item() == pytest.approx(2.0**-10)


def test_the_trend_recovers_a_planted_slope_and_its_length() -> None:
    gamma, bits = 0.5, 8
    needed = bits * math.log(2)
    points = [(math.log(n), 1.0 + gamma * math.log(n)) for n in (8, 12, 20, 40)]
    found = trend_of(points, needed)
    assert found.kind == "rising" and found.slope == pytest.approx(gamma)
    assert found.length == pytest.approx(math.exp((needed - 1.0) / gamma))
    without = trend_of([(x, gamma * x) for x, _ in points], needed)
    assert without.length == pytest.approx(2 ** (bits / gamma))  # the theory's 2^(p/gamma)
    assert trend_of([(x, 5 - y) for x, y in points], needed).kind == "falling"
    assert trend_of([(1.0, 0.2), (2.0, 0.3), (3.0, 0.1), (4.0, 0.25)], needed).kind == "flat"
    assert trend_of([(1.0, 0.2), (2.0, 6.0), (3.0, 7.0)], needed).length == pytest.approx(math.exp(2.0))
    assert trend_of([(1.0, None), (2.0, None), (3.0, None)], needed).kind == "hard"
    assert trend_of([(1.0, 0.1), (2.0, 0.2)], needed).kind == "flat"


def record_of(attention: str, sizes: tuple[int, ...] = (2, 4, 8, 12), bits: int = 0) -> Record:
    model, plan = noisy("sort:alphabet=20", "none", 12, attention)
    context = Context(plan.task, 4, sizes, seed=0)
    return ask(HardnessProbe(items=6, bits=bits), OwnSubject("the model", model), context)


def test_sharpened_logits_rise_with_the_slope_that_the_rule_gives_them() -> None:
    """Attack: under log_length the margins of the first layer are ln n times those of plain softmax on the same
    weights, head by head and size by size."""
    tables: list[list[Any]] = [
        record_of(rule).table("hardness.margins").records() for rule in ("softmax", "log_length")
    ]
    for one, other in zip(*tables, strict=True):
        if one["layer"] == 1 and one["size"] == 12:
            ratio = other["median"] / one["median"]
            assert math.log(one["keys"]) * 0.75 < ratio < math.log(one["keys"]) * 1.3


def test_the_record_survives_json_and_says_what_it_assumes() -> None:
    record = record_of("softmax")
    again = Record.from_plain(json.loads(json.dumps(record.plain(), allow_nan=False)))
    assert again.plain() == record.plain()
    assert record.data["bits"] == 24 and record_of("softmax", bits=8).data["bits"] == 8
    claim = record.claim("hardness.all")
    assert claim.kind == "predicted" and "hardness.trend" in [one.key for one in claim.assumptions]
    assert len(record.table("hardness.trends").rows) == 4 and record.figures
    check_probe(HardnessProbe())


@pytest.mark.parametrize("attention", ["hardmax", "window:size=3", "sinkhorn", "adaptive_temperature"])
def test_other_rules_are_refused(attention: str) -> None:
    with pytest.raises(UsageError, match="the model"):
        record_of(attention)
    assert HardnessProbe().sizes(noisy("sort:alphabet=40", "none", 4, "softmax")[1].task, 12, 36) == [
        4,
        6,
        10,
        15,
        23,
        36,
    ]


def test_other_models_are_refused() -> None:
    plan = plan_for("parity", "none", {"model": "lstm"}, train_size=4)
    with pytest.raises(UsageError, match="lstm"):
        ask(HardnessProbe(), OwnSubject("the model", build_model(plan)), Context(plan.task, 4, (2, 3, 4)))


def test_too_few_sizes_and_impossible_bits() -> None:
    with pytest.raises(UsageError, match="three sizes"):
        record_of("softmax", (2, 4))
    with pytest.raises(UsageError, match="bits"):
        HardnessProbe(bits=-1)
