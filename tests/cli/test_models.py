"""`lengthwise models`: the list, one model with its settings, and what cannot be shown."""

from __future__ import annotations

import json

import pytest

from lengthwise.models.named import models


def test_every_model_is_listed_with_a_description(cli):
    found = json.loads(cli("models", "--json").out)["models"]
    assert [one["name"] for one in found] == models.names() and all(one["description"] for one in found)
    assert {"transformer", "lstm", "gru", "ssm", "delta", "looped"} <= set(models.names())


@pytest.mark.parametrize("name", ["transformer", "lstm", "gru", "ssm", "delta", "looped"])
def test_a_model_is_shown_with_its_settings_and_parameters(cli, name):
    shown = json.loads(cli("models", f"{name}:depth=3,width=8", "--task", "sort:alphabet=5", "--json").out)
    fewer = json.loads(cli("models", f"{name}:depth=2,width=8", "--json").out)
    settings = {one["name"]: one["value"] for one in shown["settings"]}
    assert (settings["depth"], settings["width"]) == (3, 8) and all(one["meaning"] for one in shown["settings"])
    assert shown["causal"] and shown["stateful"] and shown["task"] == "sort:alphabet=5"
    assert shown["parameters"] > fewer["parameters"] > 0


def test_text_shows_the_same(cli):
    answer = cli("models", "delta:order=2,heads=2,width=8")
    assert answer.code == 0 and answer.out.startswith("delta:width=8,heads=2,order=2\n") and "parameters" in answer.out


@pytest.mark.parametrize("call", [["delt"], ["delta:ordr=2"], ["delta", "--task", "sortt"], ["looped:position=rop"]])
def test_what_is_misspelt_is_suggested(cli, call):
    answer = cli("models", *call)
    assert answer.code == 2 and "did you mean" in answer.err and answer.out == ""
