"""A language model behind a server that speaks the OpenAI protocol: `openai:http://127.0.0.1:8000/v1,model=NAME`.

Answers of a server are untrusted text. The key is read from the environment for each call of `complete` and kept
nowhere; what a server says is shown without it.
"""

from __future__ import annotations

import math
import os
import queue
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Self
from urllib.parse import urlsplit

from lengthwise.errors import UsageError
from lengthwise.progress import Progress, silent
from lengthwise.prompts.prompt import Prompt
from lengthwise.registry import converted_settings, parse_spec
from lengthwise.subjects.completion import Completion, Ending, stopped, without_reasoning
from lengthwise.subjects.subject import Subject

SCHEME = "openai"
_AGAIN = {408, 409, 425, 429}  # and 500 or more
_MOST_WAIT, _MOST_PAUSE = 600.0, 30.0  # seconds: as a server asks, and of our own accord
_MOST_STOPS, _MOST_SAID = 4, 300  # stop strings in the protocol; characters of what a server says
_ENDINGS: Mapping[Any, Ending] = {
    **dict.fromkeys(("length", "max_tokens", "model_length"), "length"),
    **dict.fromkeys(("content_filter", "refusal", "safety"), "refused"),
}
_UNUSABLE = {"error", "abort"}  # reasons to finish that are none
_FILTERED = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}
_OVERLONG = {"context_length_exceeded", "exceed_context_size_error", "string_above_max_length"}
# How servers say the same in words: OpenAI, vLLM, SGLang, TGI, llama.cpp, Mistral, Anthropic, Gemini, Groq.
_OVERLONG_WORDS = re.compile(
    r"context[ _](length|size|window)|maximum (model|sequence|input) length|prompt is too long"
    r"|prompt contains \d+ tokens|tokens?`? .{0,40}must be <=|token count .{0,40}exceeds|reduce the length",
    re.IGNORECASE,
)
_RENAMED = {"max_tokens": "max_completion_tokens"}  # what some models call it
_SPENT = "insufficient_quota"  # waiting does not help


@dataclass(frozen=True)
class Endpoint:
    """Where a model is served and how it is asked. `key_env` names the environment variable with the key, `timeout` is
    in seconds per request, `concurrency` the requests in flight, `tries` the requests per prompt, and `wait` the
    seconds before the second of them, which double with every further one."""

    url: str
    model: str = ""
    key_env: str = "OPENAI_API_KEY"
    timeout: float = 120.0
    concurrency: int = 4
    tries: int = 6
    wait: float = 0.5

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.username or parts.password:
            raise UsageError("a key does not belong in an address; put it in an environment variable")
        if parts.scheme not in ("http", "https") or not parts.hostname or not self.model:
            raise UsageError(f"a server is given as {SCHEME}:http://host:port/v1,model=NAME, not as {self.url!r}")
        if not (self.timeout > 0 and self.concurrency > 0 and self.tries > 0 and self.wait >= 0):
            raise UsageError("timeout, concurrency and tries of a server are above 0")

    @property
    def local(self) -> bool:
        """Whether the server runs on this machine; then no proxy is asked."""
        return urlsplit(self.url).hostname in ("localhost", "127.0.0.1", "::1")


class EndpointSubject(Subject):
    """A model behind a server, of which only text is known."""

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint, self.name = endpoint, endpoint.model

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        return (("kind", "model behind a server that speaks the OpenAI protocol"), ("server", self.endpoint.url))

    def capabilities(self) -> Mapping[str, Callable[[], Any]]:
        return {"completions": lambda: EndpointCompletions(self.endpoint)}

    def lacking(self, name: str) -> str:  # noqa: ARG002
        return "a server gives text alone"


def open_endpoint(spec: str) -> EndpointSubject:
    """The subject of `openai:URL,model=NAME`, with further settings of `Endpoint` after commas."""
    _, settings = parse_spec(spec.replace(":", ":url=", 1))
    return EndpointSubject(Endpoint(**converted_settings("subject", SCHEME, Endpoint, settings)))


class EndpointCompletions:
    """Completions by a server, with several requests in flight."""

    context: int | None = None
    templated = True

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self._refused: set[str] = set()  # parameters of requests that the model does not take

    def count(self, prompt: Prompt, chat: bool) -> int | None:  # noqa: ARG002
        return None

    def complete(
        self,
        prompts: Sequence[Prompt],
        *,
        chat: bool,
        budget: int,
        reasoning: int = 0,
        stop: Sequence[str] = (),
        progress: Progress = silent,
    ) -> Iterator[tuple[int, Completion]]:
        """Greedy answers in the order in which they arrive; those that have arrived when the user interrupts are given.

        After an error that concerns every prompt no request begins; answers to those in flight are given before it is
        raised, as they may have been paid for.
        """
        done: queue.SimpleQueue[tuple[int, Completion] | BaseException | None] = queue.SimpleQueue()
        places, workers = iter(range(len(prompts))), min(self.endpoint.concurrency, len(prompts))
        settings: dict[str, Any] = {"max_tokens": budget + reasoning, "temperature": 0, "seed": 0}
        if stop and not reasoning:  # a server would look for them inside the reasoning, too
            settings["stop"] = [*stop[:_MOST_STOPS]]
        given, in_vain, ended = 0, 0, None
        with _Connection(self.endpoint, chat) as line:

            def work() -> None:
                try:
                    while not line.closed.is_set() and (place := next(places, None)) is not None:
                        done.put((place, self._ask(line, prompts[place], settings, stop)))
                except _Dropped:
                    pass
                except BaseException as error:
                    done.put(error)
                done.put(None)

            for _ in range(workers):
                threading.Thread(target=work, daemon=True).start()
            while workers and not (isinstance(ended, KeyboardInterrupt) and done.empty()):
                try:
                    found = done.get()
                except KeyboardInterrupt as interrupt:
                    found = interrupt
                if found is None:
                    workers -= 1
                elif isinstance(found, BaseException):
                    line.closed.set()
                    ended = found if ended is None or isinstance(found, KeyboardInterrupt) else ended
                else:
                    given += 1
                    progress(f"{given:,} of {len(prompts):,} answers", given, len(prompts))
                    yield found
                    in_vain = in_vain + 1 if found[1].ending == "failed" else 0
                    if in_vain > 2 * self.endpoint.concurrency and ended is None:
                        line.closed.set()
                        ended = UsageError(
                            f"{line.server} failed {in_vain} times in a row, at last with: {found[1].said}"
                        )
        if ended is not None:
            raise ended

    def _ask(self, line: _Connection, prompt: Prompt, settings: Mapping[str, Any], stop: Sequence[str]) -> Completion:
        """The answer to one prompt, after as many tries as it takes and as there are."""
        said, tried = "", 0
        asked = {"messages": prompt.messages()} if line.chat else {"prompt": prompt.text()}
        while tried < self.endpoint.tries:
            line.wait(self.endpoint.wait * 2 ** (tried - 1) if tried else 0.0)
            names = {name: _RENAMED.get(name, "") if name in self._refused else name for name in settings}
            taken = {names[name]: value for name, value in settings.items() if names[name]}
            began = time.perf_counter()
            try:
                answer = line.post({"model": self.endpoint.model, **asked, **taken})
                return _completion(answer, stop, time.perf_counter() - began)
            except _Unanswered as fault:
                if fault.parameter in taken and fault.parameter in settings:
                    self._refused.add(fault.parameter)
                    continue
                if fault.ending is not None:
                    return Completion("", fault.ending, None, None, said=fault.said)
                said, tried = fault.said, tried + 1
                if not fault.again or (fault.unreachable and tried == self.endpoint.tries):
                    raise UsageError(line.sentence(fault)) from None
                line.hold(fault.after)
        return Completion("", "failed", None, None, said=said)


@dataclass(eq=False)
class _Unanswered(Exception):
    """A request without an answer: what was said, whether to ask `again` and after how many seconds, or the ending
    that it is; the parameter that the model does not take."""

    said: str
    status: int = 0
    again: bool = True
    after: float = 0.0
    ending: Ending | None = None
    parameter: Any = None
    unreachable: bool = False


class _Dropped(Exception):
    """The line was closed while a prompt waited for its next try."""


class _Connection:
    """The connection of one call of `complete`: the client with the key, when the server wants to be asked again, and
    whether it is asked at all."""

    def __init__(self, endpoint: Endpoint, chat: bool) -> None:
        self.endpoint, self.chat, self.closed, self._free = endpoint, chat, threading.Event(), 0.0
        self.server = f"the server at {endpoint.url}"

    def __enter__(self) -> Self:
        try:
            import httpx
        except ImportError:
            raise UsageError("a server is asked with httpx; `pip install 'lengthwise[llm]'` installs it") from None
        key = os.environ.get(self.endpoint.key_env, "").strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"the environment variable {self.endpoint.key_env} holds characters that no key has")
        self._keyed, self._errors = bool(key), httpx.RequestError
        self._unreachable = httpx.ConnectError
        self._clean = lambda text: " ".join((text.replace(key, "[key]") if key else text).split())[:_MOST_SAID]
        self._client = httpx.Client(
            headers={"Authorization": f"Bearer {key}"} if key else {},
            timeout=self.endpoint.timeout,
            trust_env=not self.endpoint.local,
        )
        return self

    def __exit__(self, *_: object) -> None:
        self.closed.set()
        self._client.close()

    def wait(self, seconds: float) -> None:
        """Wait this long, give or take, and until the server wants to be asked."""
        seconds = min(seconds, _MOST_PAUSE) * random.uniform(0.5, 1.0)
        if self.closed.wait(max(0.0, seconds, self._free - time.monotonic())):
            raise _Dropped

    def hold(self, seconds: float) -> None:
        """Let all prompts wait this long."""
        self._free = max(self._free, time.monotonic() + seconds)

    def post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """The answer to one request."""
        path = "/chat/completions" if self.chat else "/completions"
        try:
            response = self._client.post(self.endpoint.url.rstrip("/") + path, json=body)
        except self._errors as error:
            unreachable = isinstance(error, self._unreachable)
            raise _Unanswered(self._clean(f"{type(error).__name__} {error}"), unreachable=unreachable) from None
        try:
            content = response.json()
        except (ValueError, RecursionError):
            content = {"error": response.text if response.status_code >= 400 else "the answer is not JSON"}
        if response.is_success and isinstance(content, dict) and content.get("choices"):
            return content
        raise self._fault(response.status_code, content, response.headers.get("retry-after"))

    def _fault(self, status: int, content: Any, after: str | None) -> _Unanswered:
        """What an error of a server means for the prompt."""
        found = content.get("error", content) if isinstance(content, dict) else content
        fault: dict[str, Any] = found if isinstance(found, dict) else {"message": str(found)}
        said = self._clean(str(fault.get("message") or fault.get("detail") or fault))
        codes = {str(fault.get(name)).lower() for name in ("code", "type")}
        if 200 <= status < 300:  # an error inside an answer
            status = fault["code"] if isinstance(fault.get("code"), int) else 500
        found = _Unanswered(said, status, status in _AGAIN or status >= 500, seconds_to_wait(after, time.time()))
        found.again = found.again and found.after <= _MOST_WAIT and _SPENT not in codes
        if status not in (401, 403, 404, 429) and (codes & _OVERLONG or _OVERLONG_WORDS.search(said)):
            found.ending = "overlong"
        elif codes & _FILTERED:
            found.ending = "refused"
        elif status == 400 and any(code.startswith("unsupported") for code in codes):
            found.parameter = fault.get("param")
        return found

    def sentence(self, fault: _Unanswered) -> str:
        """Why no prompt at all can be answered."""
        if fault.unreachable:
            return f"{self.server} cannot be reached: {fault.said}"
        if fault.status in (401, 403):
            wrong = "does not accept the key in" if self._keyed else "asks for a key; put it in"
            return f"{self.server} {wrong} the environment variable {self.endpoint.key_env} ({fault.status})"
        if fault.status == 404:
            return f"{self.server} does not have the model {self.endpoint.model!r}, or is not there (404): {fault.said}"
        asks = f"asks to wait {fault.after:,.0f} seconds" if fault.after > _MOST_WAIT else "refused the request"
        return f"{self.server} {asks} ({fault.status}): {fault.said}"


def seconds_to_wait(header: str | None, now: float) -> float:
    """The seconds that a Retry-After header asks for, given as such or as a date; `now` is in seconds since 1970."""
    try:
        seconds = float(header or 0)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(str(header)).timestamp() - now
        except (ValueError, OverflowError):
            return 0.0
    return max(0.0, seconds) if math.isfinite(seconds) else 0.0


def _completion(content: Mapping[str, Any], stop: Sequence[str], seconds: float) -> Completion:
    """The answer in what a server returned."""
    try:
        choice = content["choices"][0]
        message, usage = choice.get("message") or {}, content.get("usage") or {}
        text, refusal = choice["text"] if "text" in choice else message.get("content"), message.get("refusal")
        thought = message.get("reasoning_content") or message.get("reasoning") or ""
        if isinstance(text, list):  # in parts, of which some are reasoning
            text = "".join(part.get("text") or "" for part in text)
        counts = [usage.get(name) for name in ("prompt_tokens", "completion_tokens")]
        reason = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError):
        raise _Unanswered("the answer does not have the form of the protocol") from None
    if reason in _UNUSABLE:
        raise _Unanswered(f"the answer ended with {reason!r}")
    answer, inside = without_reasoning(str(text or ""))
    answer, cut = stopped(answer, stop)
    ending = "refused" if refusal else _ENDINGS.get(reason, "stop")
    return Completion(
        "" if refusal else answer,
        "stop" if cut and ending == "length" else ending,
        *(count if isinstance(count, int) else None for count in counts),
        reasoning=str(thought) or inside,
        said=str(refusal or ""),
        seconds=seconds,
    )


def next_token(endpoint: Endpoint, prompt: list[int] | str, tokens: int, most: int) -> dict[str, float]:
    """The likeliest tokens after a prompt, given as token numbers or as their text, with their log-probabilities."""
    body = {"model": endpoint.model, "prompt": prompt, "max_tokens": 1, "temperature": 0, "logprobs": most}
    content: dict[str, Any] = {}
    with _Connection(endpoint, chat=False) as line:
        for tried in range(endpoint.tries):
            line.wait(endpoint.wait * 2 ** (tried - 1) if tried else 0.0)
            try:
                content = line.post(body)
                break
            except _Unanswered as fault:
                if not fault.again or tried + 1 == endpoint.tries:
                    raise UsageError(line.sentence(fault)) from None
                line.hold(fault.after)
    read = (content.get("usage") or {}).get("prompt_tokens")
    if isinstance(read, int) and read != tokens:
        raise UsageError(f"{line.server} read {read:,} tokens where {tokens:,} were sent")
    try:
        found = content["choices"][0]["logprobs"]
        if "content" in found:
            return {str(one["token"]): float(one["logprob"]) for one in found["content"][0]["top_logprobs"]}
        return {str(text): float(value) for text, value in found["top_logprobs"][0].items()}
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise UsageError(f"{line.server} gives no log-probabilities of tokens") from None
