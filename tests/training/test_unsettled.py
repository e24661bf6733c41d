"""Attention that had not settled at its limit of iterations is counted, survives an interruption, and is told."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
import torch

from lengthwise.cli import main
from lengthwise.errors import Interrupted
from lengthwise.models.attention import attentions, unsettled
from lengthwise.models.attention import sinkhorn as rule
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.progress import Progress, silent
from lengthwise.tasks import tasks
from lengthwise.training.loop import History, train_model
from lengthwise.training.recipe import Recipe

TASK = tasks.make("copy_repeat")
RECIPE = Recipe(steps=6, batch=4, check_every=2)


def trained(checkpoint: Path | None = None, progress: Progress = silent) -> History:
    architecture = Architecture(2, 8, 2, attention=attentions.make("sinkhorn:tau=1"))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        model = Transformer(architecture, Interface(len(TASK.vocabulary), TASK.outputs, rows=20, trained=12))
    return train_model(model, TASK, RECIPE, 3, 9, checkpoint, progress)


def test_the_rule_notes_its_error_to_who_listens() -> None:
    logits = 50 * torch.randn(4, 8, 8, generator=torch.Generator().manual_seed(0))
    slow, quick = attentions.make("sinkhorn:tau=1000"), attentions.make("sinkhorn:tau=1")
    with unsettled() as heard:
        quick.weights(logits)
        quick.decoder_weights(logits)
    assert heard == []
    with unsettled() as heard:
        slow.weights(logits)
        slow.decoder_weights(logits)
    assert len(heard) == 2 and all(rule.TOLERANCE < error < 0.1 for error in heard)
    slow.weights(logits)
    assert len(heard) == 2, "after the block nobody listens"


def test_a_training_that_settles_says_nothing() -> None:
    history = trained()
    assert (history.unsettled, history.unsettled_error, history.ended) == (0, 0.0, "all steps done")


def test_steps_are_counted_once_whatever_their_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "MOST", 1)
    history = trained()
    assert history.unsettled == RECIPE.steps and rule.TOLERANCE < history.unsettled_error < 0.1
    assert history.ended == (
        "all steps done; attention had not settled at its limit of iterations in 6 of 6 steps "
        f"(at worst {history.unsettled_error:.2g} of it in the wrong place)"
    )


def test_the_count_survives_an_interruption(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rule, "MOST", 1)
    with pytest.raises(Interrupted, match="step 2 of 6"):
        trained(checkpoint=tmp_path / "checkpoint", progress=lambda *_: signal.raise_signal(signal.SIGINT))
    monkeypatch.setattr(rule, "MOST", 1000)  # the rest settles
    history = trained(checkpoint=tmp_path / "checkpoint")
    assert history.unsettled == 2 and history.unsettled_error > rule.TOLERANCE
    assert "in 2 of 6 steps" in history.ended


def test_a_user_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(rule, "MOST", 1)
    small = {"train-size": 3, "test-size": 4, "items": 4, "depth": 1, "width": 8, "heads": 2, "steps": 6, "batch": 4}
    options = [f"--{name}={value}" for name, value in small.items()]
    assert main(["train", "copy_repeat", "--attention", "sinkhorn:tau=1", "--folder", str(tmp_path), *options]) == 0
    told, words = capsys.readouterr().err, "attention had not settled"
    assert told.count(words) == 1
    record = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert record["history"]["unsettled"] == 6 and words in record["history"]["ended"]
    assert words in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_measuring_again_tells_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    small = {"train-size": 3, "test-size": 4, "items": 4, "depth": 1, "width": 8, "heads": 2, "steps": 2, "batch": 4}
    options = [f"--{name}={value}" for name, value in small.items()]
    assert main(["train", "copy_repeat", "--attention", "sinkhorn:tau=1", "--folder", str(tmp_path), *options]) == 0
    for most, is_told in ((1000, False), (1, True)):
        monkeypatch.setattr(rule, "MOST", most)
        capsys.readouterr()
        assert main(["measure", str(tmp_path), "--items", "4", "--json"]) == 0
        said = capsys.readouterr()
        assert ("warning: attention had not settled" in said.err) == is_told
        assert (json.loads(said.out)["unsettled"] > rule.TOLERANCE) == is_told
