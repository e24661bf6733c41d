"""An OpenAI-compatible server that misbehaves as it is told, on the loopback address."""

from __future__ import annotations

import contextlib
import json
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Act = Callable[["FakeHandler", dict[str, Any], int], None]


def answer(text: str | None, reason: str = "stop", **message: Any) -> dict[str, Any]:
    """The body of an answer, right for both addresses."""
    usage = {"prompt_tokens": 7, "completion_tokens": 3}
    choice = {"message": {"role": "assistant", "content": text, **message}, "finish_reason": reason}
    return {"choices": [choice], "usage": usage}


class FakeHandler(BaseHTTPRequestHandler):
    """Hands each request to the server's `act`, with how often the same question was asked before."""

    server: FakeServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
        question = re.findall(r"question \d+", asked)[-1] if isinstance(asked, str) else f"{len(asked)} tokens"
        with self.server.lock:
            before = self.server.asked[question]
            self.server.asked[question] += 1
            self.server.bodies.append({**body, "path": self.path, "key": self.headers.get("Authorization")})
        with contextlib.suppress(ConnectionError):  # the client may have given up
            self.server.act(self, {**body, "question": question}, before)

    def reply(self, content: Any, status: int = 200, **headers: str) -> None:
        data = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


class FakeServer(ThreadingHTTPServer):
    """Counts what is asked; questions are called "question 7"."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), FakeHandler)
        self.lock, self.asked, self.bodies = threading.Lock(), Counter[str](), list[dict[str, Any]]()
        self.act: Act = lambda handler, body, _: handler.reply(answer(f"answer to {body['question']}"))

    def handle_error(self, *_: Any) -> None:
        """Connections that are cut on purpose are no news."""

    def spec(self, **settings: Any) -> str:
        more = "".join(f",{name}={value}" for name, value in {"model": "m", "wait": 0.001, **settings}.items())
        return f"openai:http://127.0.0.1:{self.server_port}/v1{more}"


@contextlib.contextmanager
def fake_server() -> Iterator[FakeServer]:
    with FakeServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()
