"""The probe `horizon`: a certified window of a model with ALiBi, which no change before it gets past."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.attention import attentions
from lengthwise.models.transformer import fresh_model
from lengthwise.oracle.horizons import alibi_window, sight
from lengthwise.positions import make_position
from lengthwise.probes.horizon import HorizonProbe
from lengthwise.probes.probe import Context
from lengthwise.subjects.open import open_subject


def model_with(position: str, attention: str = "softmax"):
    rule, encoding = attentions.make(attention), make_position(position)
    architecture = Architecture(depth=2, width=16, heads=2, position=encoding, attention=rule)
    model = fresh_model(architecture, Interface(6, 4, 400, 400), 0).eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            value.mul_(40 if "qkv" in name else 1)
    return model


@pytest.mark.parametrize("attention", ["softmax", "softmax:temperature=0.5"])
def test_the_window_follows_from_the_table_and_nothing_before_it_matters(attention: str) -> None:
    model = model_with("alibi:first=12,last=9", attention)
    record = HorizonProbe().measure(open_subject(model), Context())
    rows: list[Any] = record.table("horizon.heads").records()
    claim = record.claim("horizon.window")
    windows = [0, 0]
    for row in rows:
        windows[row["block"]] = max(windows[row["block"]], alibi_window(row["slope"], row["spread"]))
    window = sight(windows)
    assert claim.value == window and claim.kind == "certified"
    tokens = torch.randint(0, 6, (8, window + 20), generator=torch.Generator().manual_seed(1))
    tokens[:, -window:] = tokens[0, -window:]
    with torch.no_grad():
        last = model(tokens)[:, -1]
    assert torch.equal(last, last[:1].expand_as(last))


@pytest.mark.parametrize(("position", "attention"), [("rope", "softmax"), ("alibi", "log_length"), ("none", "softmax")])
def test_other_models_are_refused(position: str, attention: str) -> None:
    with pytest.raises(UsageError, match="alibi"):
        HorizonProbe().measure(open_subject(model_with(position, attention)), Context())
