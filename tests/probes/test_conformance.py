"""Whether an engine computes the scaling it was asked for: a server that does, and servers with the known faults."""

from __future__ import annotations

import json

import pytest
import torch

from fake_server import fake_server
from lengthwise.errors import UsageError
from lengthwise.probes.conformance import ConformanceProbe
from lengthwise.probes.probe import Context, ask
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.scaled import scaled
from lengthwise.testing import check_probe
from small_language_models import small_decoder

pytestmark = pytest.mark.system
LENGTHS = Context(sizes=(40, 120, 230))


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return open_subject(small_decoder(tmp_path_factory.mktemp("models") / "m", max_position_embeddings=64))


@pytest.fixture
def server():
    with fake_server() as found:
        yield found


@torch.inference_mode()
def likeliest(subject, prompt: list[int]) -> dict[str, float]:
    """The five likeliest next tokens of a model."""
    log_p = subject.decoder(input_ids=torch.tensor([prompt]), use_cache=False).logits[0, -1].log_softmax(dim=-1)
    values, tokens = log_p.topk(5)
    name = subject.capability("tokenizer").name
    return {json.loads(name(token)): value for token, value in zip(tokens.tolist(), values.tolist(), strict=True)}


def serve(server, subject, modern: bool = False) -> None:
    def act(handler, body, _):
        found = likeliest(subject, body["prompt"])
        entries = [{"token": text, "logprob": value} for text, value in found.items()]
        logprobs = {"content": [{"top_logprobs": entries}]} if modern else {"top_logprobs": [found]}
        usage = {"prompt_tokens": len(body["prompt"])}
        handler.reply({"choices": [{"text": "x", "finish_reason": "length", "logprobs": logprobs}], "usage": usage})

    server.act = act


@pytest.mark.parametrize("modern", [False, True])
def test_a_server_that_does_what_it_is_asked_agrees(plain, server, modern):
    subject = scaled(plain, "yarn:factor=4")
    serve(server, subject, modern)
    record = ask(ConformanceProbe(server.spec()), subject, LENGTHS)
    assert record.data["agrees"] and [claim.status for claim in record.claims] == ["holds"] * 3
    rows = record.table("conformance.lengths").records()
    assert [row["size"] for row in rows] == [40, 120, 230] and all(row["largest"] < 1e-4 for row in rows)
    assert len(server.bodies) == 9 and {body["max_tokens"] for body in server.bodies} == {1}
    assert [len(body["prompt"]) for body in server.bodies] == [40] * 3 + [120] * 3 + [230] * 3


def test_a_server_that_takes_texts_alone_is_given_texts(plain, server, tmp_path):
    (tmp_path / "plain.txt").write_text("question 7 it is. " * 20)
    subject, sent = scaled(plain, "yarn:factor=4"), []
    cut = subject.capability("tokenizer").cut

    def act(handler, body, _):
        sent.append(type(body["prompt"]))
        if isinstance(body["prompt"], list):
            return handler.reply({"error": {"message": "the prompt is no text"}}, 422)
        prompt = cut(body["prompt"])
        logprobs = {"top_logprobs": [likeliest(subject, prompt)]}
        return handler.reply(
            {"choices": [{"text": "x", "logprobs": logprobs}], "usage": {"prompt_tokens": len(prompt)}}
        )

    server.act = act
    asked = Context(sizes=(40, 120), data=str(tmp_path / "plain.txt"))
    assert ask(ConformanceProbe(server.spec(), prompts=2), subject, asked).data["agrees"]
    assert sent == [list, str, str, str, str]


@pytest.mark.parametrize("served", ["none:factor=4", "linear:factor=4", "yarn:factor=2", "yarn:factor=4,original=32"])
def test_a_server_with_another_scaling_differs(plain, server, served):
    serve(server, scaled(plain, served))
    record = ask(ConformanceProbe(server.spec()), scaled(plain, "yarn:factor=4"), LENGTHS)
    assert not record.data["agrees"] and "refuted" in {claim.status for claim in record.claims}


def test_dynamic_that_begins_at_the_wrong_length_differs_beyond_it_alone(plain, server):
    """A server that never scales agrees within the original length; that is why three lengths are compared."""
    serve(server, scaled(plain, "none:factor=4"))
    record = ask(ConformanceProbe(server.spec()), scaled(plain, "dynamic", 4), LENGTHS)
    assert [claim.status for claim in record.claims] == ["holds", "refuted", "refuted"]


def test_the_contract_with_transformers_as_engine(plain):
    check_probe(ConformanceProbe(), scaled(plain, "llama3:factor=2"), Context())
    for spec in ("linear:factor=4", "yarn:factor=4", "llama3:factor=4", "dynamic:factor=4"):
        record = ask(ConformanceProbe(), scaled(plain, spec), LENGTHS)
        assert record.data["agrees"] and max(claim.value for claim in record.claims) < 1e-3


@pytest.mark.parametrize(
    ("content", "status", "said"),
    [
        ({"choices": [{"text": "x", "finish_reason": "length"}]}, 200, "gives no log-probabilities"),
        ({"choices": [{"logprobs": {"top_logprobs": [{}]}}]}, 200, "no log-probability of a token"),
        ({"choices": [{"logprobs": {"top_logprobs": [{"a": "b"}]}}]}, 200, "gives no log-probabilities"),
        ({"choices": [{"text": "x"}], "usage": {"prompt_tokens": 3}}, 200, "read 3 tokens where"),
        ({"error": {"message": "prompt must be a string"}}, 400, "prompt must be a string"),
    ],
)
def test_a_server_that_cannot_be_compared_is_said_to_be_so(plain, server, content, status, said):
    server.act = lambda handler, *_: handler.reply(content, status)
    with pytest.raises(UsageError, match=said):
        ask(ConformanceProbe(server.spec()), plain, Context(sizes=(20,)))


def test_a_server_that_is_busy_is_asked_again(plain, server):
    serve(server, plain)
    answers = server.act
    busy = [True]
    server.act = lambda handler, body, n: handler.reply({}, 503) if busy and busy.pop() else answers(handler, body, n)
    assert ask(ConformanceProbe(server.spec(), prompts=1), plain, Context(sizes=(20,))).data["agrees"]


def test_what_is_refused(plain):
    with pytest.raises(UsageError, match="an engine is openai"):
        ask(ConformanceProbe("vllm"), plain, Context())
    with pytest.raises(UsageError, match="at most 63 tokens"):
        ask(ConformanceProbe(), plain, Context(sizes=(64,)))
    with pytest.raises(UsageError):
        ConformanceProbe(prompts=0)
