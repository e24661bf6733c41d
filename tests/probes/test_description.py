"""The probe of descriptions: messages that decode to the model whose loss is shown."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
import torch
import transformers

import lengthwise as lw
from lengthwise.bounds.compression import decode, encode, make_quantiser
from lengthwise.bounds.plan_methods import AzumaMethod, TrainingRun
from lengthwise.models.batches import logits_of
from lengthwise.models.batches import loss_of as training_loss
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.description.messages import QUANTISERS, loss_of
from lengthwise.probes.probe import Context
from lengthwise.probes.shown.inputs import inputs_for
from lengthwise.subjects.open import open_subject
from lengthwise.tasks import tasks

module = sys.modules["lengthwise.probes.description.messages"]


def ours(position: str = "rope", task: str = "sort", **more: object) -> Transformer:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        vocabulary = len(tasks.make(task).vocabulary)
        architecture = Architecture(2, 16, 2, 2, position=make_position(position), **more)  # type: ignore[arg-type]
        return Transformer(architecture, Interface(vocabulary, vocabulary, 40, 12))


def theirs(kind: str) -> object:
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        if kind == "llama":
            config = transformers.LlamaConfig(vocab_size=31, num_key_value_heads=2, **sizes)
            return transformers.LlamaForCausalLM(config)
        if kind == "gpt2":
            config = transformers.GPT2Config(vocab_size=31, n_embd=24, n_layer=2, n_head=4, n_positions=32)
            return transformers.GPT2LMHeadModel(config)
        config = transformers.BertConfig(vocab_size=31, max_position_embeddings=32, **sizes)
        return transformers.BertModel(config)


@pytest.fixture(scope="module")
def sorting():
    """What is found of a model of ours that is shown its task."""
    return lw.inspect(ours(), task="sort", probes=["description"]).record("description")


@pytest.mark.parametrize("kind", ["llama", "gpt2", "bert", "rope", "learned", "t5"])
def test_a_model_is_put_together_again_from_its_message(kind):
    weights = open_subject(theirs(kind) if kind in ("llama", "gpt2", "bert") else ours(kind)).capability("weights")
    before = weights.tensors()
    assert sum(tensor.size for tensor in before.values()) == weights.parameters  # tied ones and shared keys once
    header, back = decode(encode(before, json.loads(json.dumps(weights.header())), make_quantiser("exact")).data)
    assert header == json.loads(json.dumps(weights.header()))
    assert weights.with_weights(back).digest() == weights.digest()
    # Every array counts: a model made from others is another, in every tensor that a message holds.
    for name in before:
        assert weights.with_weights({**back, name: back[name] + np.float32(0.5)}).digest() != weights.digest()


def test_the_loss_is_that_of_training_on_the_places_that_are_asked_for():
    model, task = ours(), tasks.make("sort")
    batch = task.part("test").batch(6, 0, range(8), role="test", causal=True)
    subject = open_subject(model)
    inputs = inputs_for(subject, Context(task, sizes=(6,)), 8)
    with torch.no_grad():
        expected = training_loss(task, logits_of(model, task, batch, None, training=False), batch)
    assert loss_of(subject.capability("weights"), inputs) == pytest.approx(float(expected), rel=1e-5)


def test_messages_of_a_small_model_are_compared(sorting):
    (table,) = sorting.tables
    assert tuple(row[0] for row in table.rows) == QUANTISERS
    bits = [row[1] for row in table.rows]
    assert bits == sorted(bits) and table.rows[-1][4] == pytest.approx(0, abs=1e-6)  # exact loses nothing
    claim = sorting.claims[0]
    assert claim.kind == "certified" and sum(claim.evidence["parts"].values()) == claim.value
    assert claim.evidence["weights"] == sum(parameter.numel() for parameter in ours().parameters())


def test_the_message_that_is_told_is_the_one_that_needs_the_fewest_tokens(monkeypatch):
    losses = iter([0.28, 2.5, 0.4, 0.29, 0.28])  # as it is, then by quantiser: 4 levels are too few
    monkeypatch.setattr(module, "loss_of", lambda *_: next(losses))
    found = lw.inspect(ours(), task="sort", probes=["description"]).record("description")
    tokens = [row[5] for row in found.tables[0].rows]
    assert tokens.index(min(tokens)) == 1 and found.claims[0].evidence["made"] == "kmeans:levels=16"
    assert found.claims[-1].value == tokens[1] and found.claims[-1].kind == "predicted"
    assert [claim.value for claim in found.claims[1:3]] == [0.28, 0.4]
    _, bits, each, loss, lost, needed = found.tables[0].rows[1]
    run = TrainingRun(bits / each, needed, each, len(tasks.make("sort").vocabulary))
    assert loss + AzumaMethod().gap(run) == pytest.approx(run.chance, rel=1e-4) and lost == pytest.approx(0.12)


def test_a_model_worse_than_chance_can_have_no_bound_and_a_good_one_can(monkeypatch):
    monkeypatch.setattr(module, "QUANTISERS", ("kmeans:levels=16",))
    chance = math.log(len(tasks.make("sort").vocabulary))

    def claims(loss: float):
        monkeypatch.setattr(module, "loss_of", lambda *_: loss)
        return lw.inspect(ours(), task="sort", probes=["description"]).claims

    bad = claims(chance + 0.1)
    assert [claim.status for claim in bad] == ["holds", "vacuous", "vacuous", "unknown"]
    good, better = claims(chance / 2), claims(chance / 4)
    assert good[3].value > better[3].value > 0 and good[3].status == "holds"


def test_an_encoder_and_a_model_that_is_shown_no_text_get_a_length_alone():
    encoder = lw.inspect(theirs("bert"), probes=["description"]).record("description")
    assert [claim.unit for claim in encoder.claims] == ["bits"] and "no output head" in encoder.text[1]
    llama = lw.inspect(theirs("llama"), probes=["description"]).record("description")
    assert [claim.unit for claim in llama.claims] == ["bits"] and "not shown anything" in llama.text[1]


def test_a_decoder_is_asked_for_the_next_token_of_a_file(tmp_path):
    place = tmp_path / "tokens.jsonl"
    rows = [[3, 1, 4, 1, 5], [9, 2, 6, 5, 3]]
    place.write_text("\n".join(json.dumps({"tokens": row}) for row in rows))
    model = theirs("llama")
    found = lw.inspect(model, data=place, probes=["description"], items=2).record("description")
    loss = next(c for c in found.claims if c.key in ("description.loss_before", "description.loss"))
    tokens = torch.tensor(rows)
    with torch.no_grad():
        expected = float(model(input_ids=tokens, labels=tokens).loss)  # type: ignore[operator]
    assert loss.value == pytest.approx(expected, rel=1e-4) and loss.evidence["tokens"] == 8
    assert loss.evidence["bits_per_token"] == pytest.approx(loss.value / math.log(2))
    # A model of ours was trained on a task: what follows in a list of tokens is not what it is asked for.
    assert lw.inspect(ours(), data=place, probes=["description"], items=2).record("description").claims[1:] == ()


def test_the_file_itself_is_what_is_charged_of_a_gguf(tmp_path, monkeypatch):
    gguf = pytest.importorskip("gguf")
    place = tmp_path / "tiny.gguf"
    writer = gguf.GGUFWriter(place, "llama")
    writer.add_uint32("llama.block_count", 1)
    writer.add_tensor("a", np.arange(256, dtype=np.float32).reshape(8, 32) / 7)
    for step in (writer.write_header_to_file, writer.write_kv_data_to_file, writer.write_tensors_to_file, writer.close):
        step()
    subject = open_subject(theirs("llama"))
    monkeypatch.setattr(module, "encode", lambda *_: pytest.fail("the weights were charged, not the file"))
    made = subject.capabilities()
    monkeypatch.setattr(subject, "capabilities", lambda: {**made, "gguf": lambda: place})
    found = lw.inspect(subject, probes=["description"]).record("description")
    assert not found.failed and 0 < found.claims[0].value <= 8 * place.stat().st_size + 64
    assert any(assumption.key == "description.tokenizer" for assumption in found.claims[0].assumptions)
