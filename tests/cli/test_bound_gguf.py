"""`lengthwise bound` of a GGUF file: the file is the message, and the losses are those of its rounded weights."""

import json

import numpy as np
import pytest
import torch

from lengthwise.bounds.compression.gguf_file import message_of_gguf
from small_gguf import small_llama

pytest.importorskip("gguf")
DOCUMENTS = [[(5 * number + place * place) % 40 for place in range(2 + number % 23)] for number in range(30)]


@pytest.fixture(scope="module")
def given(tmp_path_factory):
    """The file, its data, and the model that it stands for."""
    folder = tmp_path_factory.mktemp("gguf")
    model = small_llama(folder / "small.gguf")
    (folder / "data.jsonl").write_text("".join(json.dumps({"tokens": tokens}) + "\n" for tokens in DOCUMENTS))
    return folder / "small.gguf", folder / "data.jsonl", model


@torch.no_grad()
def loss_by_hand(model, context=16) -> float:
    """Every document by itself, window after window."""
    losses = []
    for tokens in DOCUMENTS:
        for first in range(0, len(tokens) - 1, context):
            window = torch.tensor(tokens[first : first + context + 1])
            said = model(input_ids=window[None, :-1]).logits[0].double().log_softmax(dim=1)
            losses += (-said[torch.arange(len(window) - 1), window[1:]]).tolist()
    return float(np.mean(losses))


def test_the_file_is_charged_and_its_weights_are_run(cli, given):
    path, data, model = given
    answer = cli("bound", path, "--data", data, "--json", "--quiet")
    assert answer.code == 0 and answer.err == ""
    found = json.loads(answer.out)
    message = message_of_gguf(path)
    assert found["message"]["bits"] == message.bits + found["message"]["parts"]["number of tokens"]
    assert found["message"]["numbers"] == sum(parameter.numel() for parameter in model.parameters())
    assert found["losses"]["tokens"] == sum(len(tokens) - 1 for tokens in DOCUMENTS)
    assert found["losses"]["loss"] == pytest.approx(loss_by_hand(model), abs=1e-5)
    assert {one["level"] for one in found["bounds"]} == {"documents", "tokens"} and found["vocabulary"] == 40


@pytest.mark.wording
def test_its_text(cli, given):
    path, data, _ = given
    answer = cli("bound", path, "--data", data, "--tokens", "2T", "--quiet")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    told = " ".join(answer.out.split())
    for text in ("llama from a GGUF file", "the GGUF file itself", "there is no gap", "2,000,000,000,000 tokens"):
        assert text in told


def test_weights_can_be_quantised_anew(cli, given):
    path, data, model = given
    answer = cli("bound", path, "--data", data, "--quantiser", "uniform:levels=8", "--json", "--quiet")
    found = json.loads(answer.out)
    assert answer.code == 0 and found["message"]["facts"]["quantiser"] == "uniform:levels=8"
    assert found["message"]["bits"] < message_of_gguf(path).bits
    assert abs(found["losses"]["loss"] - loss_by_hand(model)) > 1e-3  # it is the new message that is decoded and run


def test_a_text_needs_a_tokenizer_that_the_file_lacks(cli, given, tmp_path):
    path, _, _ = given
    (tmp_path / "texts.txt").write_text("token1 token2\n")
    answer = cli("bound", path, "--data", "texts.txt", "--quiet")
    assert answer.code == 2 and answer.err.count("\n") == 1
