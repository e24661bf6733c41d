"""The server of the page: it reads, for one reader on this machine.

It listens on the loopback address alone. Every address begins with a token that is made when it starts, so that other
users of the machine and pages of other sites cannot ask it anything; a request for another host, which a site whose
name leads here would send, is refused as well. Nothing can be changed: all it answers is GET and HEAD.
"""

from __future__ import annotations

import json
import re
import secrets
import socket
from collections.abc import Callable
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from lengthwise.errors import UsageError
from lengthwise.view.opened import fragment, open_run
from lengthwise.view.page import POLICY, VEGA, Vega, page_files, page_html
from lengthwise.view.watch import FolderWatch

LOOPBACK = "127.0.0.1"
_HEADERS = {
    "Content-Security-Policy": f"{POLICY}; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_JOURNAL = re.compile(r"(\d{1,9})-(\d{1,9})-(\d{1,9})", re.ASCII)


class PageServer:
    """A socket of this machine, the address of the page, and what answers there."""

    def __init__(self, watch: FolderWatch, port: int = 0) -> None:
        self._socket = _listening(port)
        self.port: int = self._socket.getsockname()[1]
        self.token = secrets.token_urlsafe(24)
        self.url = f"http://{LOOPBACK}:{self.port}/{self.token}/"
        self.app = make_app(watch, self.token, self.port, Vega().text)

    def run(self) -> None:
        """Answer until the user interrupts."""
        settings: dict[str, Any] = {"log_level": "error", "access_log": False, "lifespan": "off", "ws": "none"}
        config = uvicorn.Config(self.app, proxy_headers=False, server_header=False, timeout_keep_alive=30, **settings)
        try:
            uvicorn.Server(config).run(sockets=[self._socket])
        finally:
            self._socket.close()


def make_app(watch: FolderWatch, token: str, port: int, vega: Callable[[], bytes]) -> ASGIApp:
    """What answers below /TOKEN/ on this port of this machine."""
    document = page_html(watch.folder.absolute().name, bundled=False)
    texts = page_files()

    def page(_: Request) -> Response:
        return Response(document, media_type="text/html")

    def file(request: Request) -> Response:
        name = request.path_params["name"]
        if name == VEGA:
            return Response(vega(), media_type="text/javascript")
        if name not in texts:
            return _missing()
        media, text = texts[name]
        return Response(text, media_type=media)

    def changes(request: Request) -> Response:
        asked = request.query_params.get("journals", "")
        journals = [tuple(map(int, match.groups())) for one in asked.split(",") if (match := _JOURNAL.fullmatch(one))]
        watch.look()
        return _json(watch.changes(request.query_params.get("cursor", ""), journals))  # pyright: ignore[reportArgumentType]

    def run(request: Request) -> Response:
        try:
            return _json(open_run(*watch.place_of(request.path_params["run"])).plain())
        except LookupError:
            return _missing()

    def record(request: Request) -> Response:
        try:
            opened = open_run(*watch.place_of(request.path_params["run"]))
            return _json(fragment(opened, request.path_params["slug"]))
        except LookupError:
            return _missing()

    inside = [
        Route("/", page),
        Route("/api/changes", changes),
        Route("/api/runs/{run:int}", run),
        Route("/api/runs/{run:int}/records/{slug}", record),
        Route("/{name}", file),
    ]
    return Guard(Starlette(routes=[Mount(f"/{token}", routes=inside)]), token, port)


class Guard:
    """Lets through what was asked of this machine, with the token, and gives every answer its headers."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app, self._token = app, token
        self._hosts = {f"{LOOPBACK}:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                given = [(name.lower().encode(), value.encode()) for name, value in _HEADERS.items()]
                message["headers"] = [*message.get("headers", []), *given]
            await send(message)

        refused = self._refused(scope)
        await (refused or self._app)(scope, receive, with_headers)

    def _refused(self, scope: Scope) -> Response | None:
        hosts = Headers(scope=scope).getlist("host")
        given = scope["path"].split("/")[1]
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return PlainTextResponse("This page is for this machine alone.", 403)
        if not secrets.compare_digest(given.encode("utf-8", "replace"), self._token.encode()):
            return PlainTextResponse("The token in the address is missing or not that of this server.", 403)
        return None if scope["method"] in ("GET", "HEAD") else PlainTextResponse("This page only reads.", 405)


def _json(content: Any) -> Response:
    """ASCII, as names of folders may hold characters that UTF-8 has none for."""
    return Response(json.dumps(content, allow_nan=False, separators=(",", ":")), media_type="application/json")


def _missing() -> Response:
    return PlainTextResponse("There is nothing here.", 404)


def _listening(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        made.bind((LOOPBACK, port))
        made.listen(128)  # whoever opens the address before the server is ready waits for it
    except (OSError, OverflowError) as error:
        made.close()
        reason = getattr(error, "strerror", None) or error
        raise UsageError(f"cannot listen on port {port}: {reason}; leave the port out to use a free one") from error
    return made
