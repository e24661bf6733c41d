"""The browser that pages are looked at with, and names that would like to be code."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from processes import PATIENCE, wait_until

HOSTILE = (
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror=window.hacked=1>",
    "'\"><svg onload=window.hacked=1>",
    "{{ 7 * 7 }} {% raw %}",
    "a[0].b\\c 'd' \"e\" `f`",
    "\u2028line\u2029 & &lt; <!-- <script>",
)


@pytest.fixture(scope="session")
def hostile() -> tuple[str, ...]:
    return HOSTILE


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    found = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if found is None:
        reason = "no Chromium on this machine: install Debian's chromium"
        if os.environ.get("LENGTHWISE_REQUIRE_BROWSER"):
            pytest.fail(f"LENGTHWISE_REQUIRE_BROWSER is set, but there is {reason}")
        pytest.skip(reason)
    if not os.environ.get("LENGTHWISE_REQUIRE_BROWSER"):
        pytest.importorskip("playwright", reason="no Playwright on this machine: pip install playwright")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as started:
        chromium = started.chromium.launch(executable_path=found, args=["--headless", "--no-sandbox"])
        yield chromium
        chromium.close()


class Visit:
    """A page as a reader has it open, with whatever went wrong in it."""

    def __init__(self, browser: Any, path: Path | str, query: str = "", **context: Any) -> None:
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **context})
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.complaints.append(f"{message.type}: {message.text}"))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("dialog", lambda dialog: (self.complaints.append("dialog"), dialog.dismiss()))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto((path if isinstance(path, str) else path.as_uri()) + query)
        self.wait("document.documentElement.dataset.ready === 'true'")
        if query == "?all":
            self.wait_for_figures()

    def wait(self, condition: str, seconds: float = PATIENCE) -> None:
        """Until a condition holds; Playwright's own way evaluates text in the page, which the page forbids."""
        wait_until(lambda: self.ask(condition), condition, seconds)

    def wait_for_figures(self) -> None:
        self.wait("[...document.querySelectorAll('.plot')].every(plot => plot.dataset.drawn)")

    def hover(self, selector: str) -> None:
        """Move the pointer to the middle of the first such element, whatever lies above it."""
        place = self.page.locator(selector).first
        place.scroll_into_view_if_needed()
        box = place.bounding_box()
        assert box is not None
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.wait("document.querySelector('#vg-tooltip-element.visible') !== null")

    def ask(self, expression: str) -> Any:
        return self.page.evaluate(expression)


@pytest.fixture
def visit(browser) -> Iterator[Callable[..., Visit]]:
    """`visit(path, "?all", color_scheme="dark")`: the page, ready."""
    opened: list[Visit] = []

    def open_page(path: Path | str, query: str = "", **context: Any) -> Visit:
        opened.append(Visit(browser, path, query, **context))
        return opened[-1]

    yield open_page
    for one in opened:
        one.context.close()
