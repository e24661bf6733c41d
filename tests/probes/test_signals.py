"""Signals without labels against a direct computation, for our Transformer and for a network of the user's."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.transformer import Transformer, fresh_model
from lengthwise.positions import make_position
from lengthwise.probes.probe import Context, ask
from lengthwise.probes.signals import SIZES, SignalsProbe
from lengthwise.subjects.python import subject_of_object
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import BOS, EOS, SEP, SPECIALS
from lengthwise.tasks.task import Task

PROBE = SignalsProbe(items=5)


class Plain(torch.nn.Module):
    """A network about whose layers nothing is known."""

    def __init__(self, model: Transformer) -> None:
        super().__init__()
        self.inner = model

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.inner(tokens)


def model_for(task: Task, position: str = "alibi") -> Transformer:
    architecture = Architecture(2, 16, 2, position=make_position(position))
    model = fresh_model(architecture, Interface(len(task.vocabulary), task.outputs, 40, 12), 0)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(6)
    return model.eval()


def by_hand(model: Transformer, task: Task, size: int, most: int) -> tuple[float, float]:
    """Margin and confidence of answers that are written token by token, item by item."""
    margins, confidences = [], []
    for prompt in task.draw(size, 0, range(5), role="test").prompts:
        row = [BOS, *(prompt + len(SPECIALS)).tolist()]
        if task.readout == "tags":
            logits = model(torch.tensor([row]))[0].double()
        else:
            row, places = [*row, SEP], []
            for _ in range(most + 1):
                places.append(model(torch.tensor([row]))[0, -1].double())
                row.append(int(places[-1].argmax()))
                if row[-1] <= EOS:
                    break
            logits = torch.stack(places)
        best = logits.topk(2).values
        margins.append(float((best[:, 0] - best[:, 1]).min()))
        confidences.append(math.exp(float(logits.log_softmax(-1).max(-1).values.sum())))
    return float(np.median(margins)), float(np.median(confidences))


@pytest.mark.parametrize(("name", "most"), [("tomita_4", 0), ("parity", 1), ("copy_repeat", 6)])
def test_margin_and_confidence_are_those_of_the_model_s_own_answers(name: str, most: int) -> None:
    task = tasks.make(name)
    model = model_for(task)
    with torch.no_grad():
        wanted = by_hand(model, task, 6, most)
    for subject in (model, Plain(model)):
        row = ask(PROBE, subject_of_object(subject), Context(task, 6, (6,))).table(SIZES).records()[0]
        assert (row["margin"], row["confidence"]) == pytest.approx(wanted, rel=1e-4)


def test_true_answers_are_never_read() -> None:
    """A task with the same prompts and other answers has the same signals."""

    @dataclasses.dataclass(frozen=True)
    class Turned(type(tasks.make("reverse_string"))):
        def sample(self, size, draws):
            samples = super().sample(size, draws)
            return dataclasses.replace(samples, answers=1 - samples.answers)

    found = [
        ask(PROBE, subject_of_object(model_for(task)), Context(task, 6, (3, 6))).table(SIZES)
        for task in (tasks.make("reverse_string"), Turned())
    ]
    assert found[0].rows == found[1].rows


def test_entropy_of_even_attention_is_one() -> None:
    task = tasks.make("tomita_4")
    model = model_for(task, "none")
    with torch.no_grad():
        for block in model.blocks:
            block.attention.qkv.weight[:32] = 0
            block.attention.qkv.bias[:32] = 0
    row = ask(PROBE, subject_of_object(model), Context(task, 6, (6,))).table(SIZES).records()[0]
    assert row["entropy"] == pytest.approx(1) and row["norm"] > 0


def test_what_a_subject_lacks_is_left_out_and_said() -> None:
    task = tasks.make("tomita_4")
    record = ask(PROBE, subject_of_object(Plain(model_for(task))), Context(task, 6, (2, 6)))
    assert record.table(SIZES).column("entropy") == [None, None] == record.table(SIZES).column("norm")
    assert [claim.key for claim in record.claims] == ["signals.margin", "signals.confidence"] and len(record.text) == 1


def test_an_object_without_logits_is_refused() -> None:
    class Answering:
        def answer(self, prompts: Sequence[Sequence[str]]) -> list[str]:
            return ["e" for _ in prompts]

    with pytest.raises(UsageError, match="without logits"):
        ask(PROBE, subject_of_object(Answering()), Context(tasks.make("parity"), 6, (6,)))
