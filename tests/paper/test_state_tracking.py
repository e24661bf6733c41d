"""Published: products in S3 are held in one layer by two factors with negative eigenvalues, and by nothing less
(siems2025); parity is held with negative eigenvalues and at chance without (grazzi2025). Here trained to 40, tested at
80, less than they did. Half a minute on one idle core for each run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lengthwise as lw
from lengthwise.probes.curve.curve import Point

pytestmark = pytest.mark.slow
RECIPE: dict[str, Any] = {"items": 100, "rate": 3e-3, "warmup": 0.1, "weight_decay": 0.0, "depth": 1}


def at_80(task: str, model: str, folder: Path, **settings: Any) -> Point:
    run: Any = lw.train(
        task,
        model=model,
        train_size=40,
        test_size=80,
        folder=folder,
        probes=["curve:grid=geometric"],
        **RECIPE,
        **settings,
    )
    return run.curve.points[-1]


@pytest.mark.parametrize(("order", "negative", "holds"), [(2, True, True), (1, True, False), (2, False, False)])
def test_products_in_s3(order, negative, holds, tmp_path):
    model = f"delta:order={order},negative={negative}"
    found = at_80("word_problem:group=S3", model, tmp_path / "run", steps=1500, batch=32)
    assert found.exact >= 0.95 if holds else found.exact < 0.05


@pytest.mark.parametrize(("model", "holds"), [("delta:negative=true", True), ("delta", False), ("ssm", False)])
def test_parity(model, holds, tmp_path):
    found = at_80("parity", model, tmp_path / "run", steps=3000)
    assert found.exact >= 0.95 if holds else found.exact < 0.75
