"""A model behind a server: every fault that servers have, and no prompt lost or counted twice."""

from __future__ import annotations

import socket
import threading
import time
from email.utils import formatdate

import pytest

from fake_server import FakeServer, answer, fake_server
from lengthwise.errors import UsageError
from lengthwise.prompts.prompt import Prompt
from lengthwise.subjects.completion import Completion
from lengthwise.subjects.endpoint import seconds_to_wait
from lengthwise.subjects.open import open_subject

pytest.importorskip("httpx")
ITEMS = 9
PROMPTS = [Prompt("Sort.", (("2 1", "1 2"),), f"question {number}") for number in range(ITEMS)]
KEY = "sk-a-key-that-nobody-may-see"


@pytest.fixture
def server():
    with fake_server() as found:
        yield found


def ask(server: FakeServer, prompts=PROMPTS, budget=5, chat=True, reasoning=0, stop=(), **settings):
    """The completions by place; each place comes once."""
    found = open_subject(server.spec(**settings)).capability("completions")
    given = list(found.complete(prompts, chat=chat, budget=budget, reasoning=reasoning, stop=stop))
    assert sorted(place for place, _ in given) == list(range(len(prompts)))
    return dict(given)


def all_answered(server: FakeServer, given: dict[int, Completion]) -> None:
    for place, one in given.items():
        assert one.ending == "stop" and (one.prompt_tokens, one.tokens) == (7, 3) and one.seconds > 0
        assert one.text.endswith(f"question {place}")


def faulty(server: FakeServer, fault, times=1, which="question 3") -> None:
    """Let a question fail for some times before it is answered."""
    usual = server.act

    def act(handler, body, before):
        wrong = which in body["question"] and before < times
        (fault if wrong else usual)(handler, body, before)

    server.act = act


def cut(handler, body, before):
    handler.connection.shutdown(socket.SHUT_RDWR)


def cut_inside(handler, body, before):
    handler.send_response(200)
    handler.send_header("Content-Length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"choices": [')
    handler.wfile.flush()
    cut(handler, body, before)


FAULTS = {
    "429": lambda handler, *_: handler.reply({"error": {"message": "slow down"}}, 429, Retry_After="0.01"),
    "429 without a header": lambda handler, *_: handler.reply({}, 429),
    "500": lambda handler, *_: handler.reply(b"<html>oh</html>", 500),
    "503": lambda handler, *_: handler.reply({"detail": "loading"}, 503, Retry_After=formatdate(0, usegmt=True)),
    "cut": cut,
    "cut inside": cut_inside,
    "no JSON": lambda handler, *_: handler.reply(b'{"choices": [{"mess'),
    "another JSON": lambda handler, *_: handler.reply([1, 2]),
    "no choices": lambda handler, *_: handler.reply({"choices": []}),
    "odd choices": lambda handler, *_: handler.reply({"choices": ["?"]}),
    "error in an answer": lambda handler, *_: handler.reply({"error": {"message": "overloaded", "code": 502}}),
    "aborted": lambda handler, *_: handler.reply(answer("half", "abort")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_passes_is_tried_again(server, fault):
    faulty(server, FAULTS[fault], times=2)
    all_answered(server, ask(server))
    assert server.asked.pop("question 3") == 3 and set(server.asked.values()) == {1}


def test_a_slow_answer_is_given_up_and_asked_for_again(server):
    late = threading.Event()
    faulty(server, lambda *_: late.wait(5))
    began = time.perf_counter()
    all_answered(server, ask(server, timeout=0.2))
    late.set()
    assert server.asked["question 3"] == 2 and time.perf_counter() - began < 4


def test_what_never_passes_is_failed_and_not_wrong(server):
    faulty(server, FAULTS["500"], times=99)
    given = ask(server, tries=3)
    failed = given.pop(3)
    assert (failed.ending, failed.text, failed.tokens) == ("failed", "", None) and "oh" in failed.said
    all_answered(server, given)
    assert server.asked["question 3"] == 3


def test_a_server_that_only_fails_is_not_asked_for_ever(server):
    faulty(server, FAULTS["500"], times=99, which="question")
    found = open_subject(server.spec(tries=2, concurrency=1)).capability("completions")
    given = []
    with pytest.raises(UsageError, match="in a row"):
        given.extend(found.complete(PROMPTS, chat=True, budget=5))
    assert len(server.asked) < ITEMS


TOO_LONG = {
    "openai": {"message": "too long", "code": "context_length_exceeded"},
    "vllm": {
        "message": "This model's maximum context length is 16 tokens. However, you requested 20 tokens",
        "code": 400,
    },
    "llama.cpp": {"message": "the request exceeds the available size", "type": "exceed_context_size_error"},
    "tgi": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 16. Given: 12 and 8",
    "sglang": {"message": "The input (20 tokens) is longer than the model's context length (16 tokens)."},
    "mistral": {"message": "Prompt contains 40000 tokens, too large for model with 32768 maximum context length"},
    "gemini": {"message": "The input token count (99) exceeds the maximum number of tokens allowed (9)."},
    "anthropic": {"message": "prompt is too long: 21 tokens > 20 maximum"},
}


@pytest.mark.parametrize("said", TOO_LONG)
def test_a_prompt_that_does_not_fit_was_not_asked(server, said):
    faulty(server, lambda handler, *_: handler.reply({"error": TOO_LONG[said]}, 400), times=99)
    given = ask(server)
    assert given.pop(3).ending == "overlong" and server.asked["question 3"] == 1
    all_answered(server, given)


@pytest.mark.parametrize(
    ("content", "wanted"),
    [
        (answer("1 2", "length"), Completion("1 2", "length", 7, 3)),
        (answer("", "stop"), Completion("", "stop", 7, 3)),
        (answer(None, "length"), Completion("", "length", 7, 3)),
        (answer("no", "content_filter"), Completion("no", "refused", 7, 3)),
        (answer(None, refusal="I will not"), Completion("", "refused", 7, 3, said="I will not")),
        (answer("1 2\nand more"), Completion("1 2", "stop", 7, 3)),
        (answer("1 2\nand mo", "length"), Completion("1 2", "stop", 7, 3)),
        (answer("<think>\nhm\n\nso</think>\n1 2"), Completion("1 2", "stop", 7, 3, "hm\n\nso")),
        (answer("hm</think>1 2"), Completion("1 2", "stop", 7, 3, "hm")),
        (answer("<think>\nhm", "length"), Completion("", "length", 7, 3, "hm")),
        (answer("1 2", reasoning_content="hm"), Completion("1 2", "stop", 7, 3, "hm")),
        (answer("1 2", reasoning="hm"), Completion("1 2", "stop", 7, 3, "hm")),
        ({"choices": [{"text": "1 2", "finish_reason": None}]}, Completion("1 2", "stop", None, None)),
        (
            {"choices": [{"message": {"content": [{"text": "1 "}, {"text": "2"}]}}]},
            Completion("1 2", "stop", None, None),
        ),
    ],
)
def test_answers_are_read_with_their_endings(server, content, wanted):
    faulty(server, lambda handler, *_: handler.reply(content), times=99)
    found = ask(server, stop=["\n"])[3]
    assert found == Completion(**{**vars(wanted), "seconds": found.seconds})
    assert set(server.asked.values()) == {1}


def test_a_filtered_prompt_is_refused(server):
    faulty(server, lambda handler, *_: handler.reply({"error": {"code": "content_filter"}}, 400), times=99)
    assert ask(server)[3].ending == "refused" and server.asked["question 3"] == 1


def test_requests_are_greedy_and_say_what_they_may_cost(server, monkeypatch):
    monkeypatch.setenv("MY_KEY", KEY)
    ask(server, PROMPTS[:1], budget=5, stop=["\n"] * 6, key_env="MY_KEY")
    ask(server, PROMPTS[:1], budget=5, reasoning=100, stop=["\n"])
    ask(server, PROMPTS[:1], chat=False)
    chat, thinking, plain = server.bodies
    assert (chat["path"], chat["model"], chat["temperature"], chat["seed"], chat["max_tokens"]) == (
        "/v1/chat/completions",
        "m",
        0,
        0,
        5,
    )
    assert chat["key"] == f"Bearer {KEY}" and chat["stop"] == ["\n"] * 4 and chat["messages"] == PROMPTS[0].messages()
    assert thinking["max_tokens"] == 105 and "stop" not in thinking and thinking["key"] is None
    assert plain["path"] == "/v1/completions" and plain["prompt"] == PROMPTS[0].text() and "stop" not in plain


def test_parameters_that_a_model_does_not_take_are_left_out(server):
    def act(handler, body, before):
        for name in ("max_tokens", "temperature"):
            if name in body:
                return handler.reply({"error": {"code": "unsupported_parameter", "param": name}}, 400)
        return handler.reply(answer(f"to {body['question']}"))

    server.act = act
    all_answered(server, ask(server, tries=1))
    assert server.bodies[-1]["max_completion_tokens"] == 5 and server.bodies[-1]["seed"] == 0


FATAL = {
    "401": (401, {"error": {"message": f"Incorrect API key provided: {KEY}"}}),
    "403": (403, {"error": KEY}),
    "wrong model": (404, {"error": {"message": "The model `m` does not exist", "code": "model_not_found"}}),
    "other": (422, {"detail": [{"msg": f"field required {KEY}"}]}),
    "spent": (429, {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}),
    "moved": (301, {}),
}


@pytest.mark.parametrize("fault", FATAL)
def test_what_concerns_every_prompt_ends_at_once_with_one_sentence(server, fault, monkeypatch, caplog):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    caplog.set_level(0)
    status, content = FATAL[fault]
    faulty(server, lambda handler, *_: handler.reply(content, status), times=99)
    subject = open_subject(server.spec(concurrency=1))
    given = []
    with pytest.raises(UsageError) as raised:
        given.extend(subject.capability("completions").complete(PROMPTS, chat=True, budget=5))
    given = dict(given)
    all_answered(server, given)
    assert sorted(given) == [0, 1, 2] and set(server.asked.values()) == {1}
    seen = f"{raised.value} {subject.facts} {vars(subject)} {vars(subject.capability('completions'))} {caplog.text}"
    assert "\n" not in str(raised.value) and KEY not in seen and str(status) in str(raised.value)


def test_answers_in_flight_are_kept_when_another_request_ends_it_all(server):
    refused = threading.Event()

    def act(handler, body, before):
        if "question 0" in body["question"]:
            handler.reply({}, 401)
            refused.set()
        else:
            refused.wait(5)
            time.sleep(0.05)
            handler.reply(answer("late"))

    server.act = act
    found = open_subject(server.spec(concurrency=3)).capability("completions")
    given = []
    with pytest.raises(UsageError, match="asks for a key"):
        given.extend(found.complete(PROMPTS, chat=True, budget=5))
    assert sorted(place for place, _ in given) == [1, 2] and len(server.asked) == 3


def test_no_server_is_one_sentence():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    found = open_subject(f"openai:http://127.0.0.1:{port}/v1,model=m,tries=2,wait=0.001").capability("completions")
    with pytest.raises(UsageError, match="cannot be reached"):
        list(found.complete(PROMPTS, chat=True, budget=5))


def test_requests_are_in_flight_together_and_an_interruption_keeps_what_arrived(server):
    together = threading.Barrier(4)

    def act(handler, body, before):
        together.wait(5)
        handler.reply(answer("x"))

    server.act = act
    asked = open_subject(server.spec()).capability("completions").complete(PROMPTS[:8], chat=True, budget=5)
    assert next(asked)[1].text == "x"
    with pytest.raises(KeyboardInterrupt):
        asked.throw(KeyboardInterrupt)


def test_an_interrupted_wait_gives_what_arrived(server, monkeypatch):
    from lengthwise.subjects import endpoint

    class Interrupted(endpoint.queue.SimpleQueue):
        calls = 0

        def get(self, *arguments):
            Interrupted.calls += 1
            if Interrupted.calls == 2:
                while self.qsize() < 3:  # others arrive in the meantime
                    time.sleep(0.001)
                raise KeyboardInterrupt
            return super().get(*arguments)

    monkeypatch.setattr(endpoint.queue, "SimpleQueue", Interrupted)
    found = open_subject(server.spec()).capability("completions")
    given = []
    with pytest.raises(KeyboardInterrupt):
        given.extend(found.complete(PROMPTS, chat=True, budget=5))
    assert len(given) == len(dict(given)) >= 4


def test_progress_counts_every_answer(server):
    seen = []
    found = open_subject(server.spec()).capability("completions")
    list(found.complete(PROMPTS, chat=True, budget=5, progress=lambda *step: seen.append(step[1:])))
    assert seen == [(number + 1, ITEMS) for number in range(ITEMS)]
    assert list(found.complete([], chat=True, budget=5)) == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [(None, 0), ("3", 3), ("1.5", 1.5), (formatdate(1060, usegmt=True), 60), ("-3", 0), ("soon", 0), ("inf", 0)],
)
def test_a_server_says_when_to_ask_again(header, seconds):
    assert seconds_to_wait(header, now=1000.0) == pytest.approx(seconds)


def test_a_server_that_asks_for_hours_is_not_waited_for(server):
    faulty(server, lambda handler, *_: handler.reply({}, 429, Retry_After="7200"), which="question")
    with pytest.raises(UsageError, match="7,200 seconds"):
        ask(server)


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("openai:", "openai:http"),
        ("openai:127.0.0.1:80,model=m", "openai:http"),
        ("openai:http://127.0.0.1/v1", "model=NAME"),
        ("openai:http://127.0.0.1/v1,modle=m", "model"),
        ("openai:http://me:secret@127.0.0.1/v1,model=m", "environment variable"),
        ("openai:http://127.0.0.1/v1,model=m,tries=0", "above 0"),
        ("openai:http://127.0.0.1/v1,model=m,timeout=x", "a number"),
    ],
)
def test_a_server_that_is_not_named_rightly_is_one_sentence(spec, sentence):
    with pytest.raises(UsageError, match=sentence) as raised:
        open_subject(spec)
    assert "secret" not in str(raised.value)


def test_what_a_server_is(server):
    subject = open_subject(server.spec(model="llama3:8b"))
    found = subject.capability("completions")
    assert (subject.name, found.context, found.templated, found.count(PROMPTS[0], True)) == (
        "llama3:8b",
        None,
        True,
        None,
    )
    assert subject.files() == {} and not subject.offers("answers")
    with pytest.raises(UsageError, match="text alone"):
        subject.capability("tokenizer")
