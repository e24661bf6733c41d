"""The site builds without a warning and without a network, searches itself from the file system, and has llms.txt."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from site_texts import DOCS, pages

pytestmark = pytest.mark.system


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. A process that may open no connection builds it: whatever is fetched is an error."""
    folder = tmp_path_factory.mktemp("site")
    guard = folder / "guard"
    guard.mkdir()
    (guard / "sitecustomize.py").write_text(GUARD)
    path = os.pathsep.join((str(guard), os.environ.get("PYTHONPATH", "")))
    environment = {**os.environ, "PYTHONPATH": path}
    asked = [sys.executable, "-c", "import socket; socket.create_connection(('127.0.0.1', 9))"]
    refused = subprocess.run(asked, capture_output=True, text=True, env=environment)
    assert "without a network" in refused.stderr, "the guard does not stop connections"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "-d", str(folder / "trees")]
    command += [str(DOCS), str(folder / "html")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0 and not done.stderr.strip(), done.stderr
    return folder / "html"


GUARD = """
import socket


def refuse(*_):
    raise OSError("the documentation is built without a network")


socket.socket.connect = socket.getaddrinfo = refuse
"""


def test_every_page_was_built(site: Path) -> None:
    for page in pages():
        assert (site / page).with_suffix(".html").stat().st_size > 2000


def test_nothing_is_fetched_when_it_is_read(site: Path) -> None:
    """No script, style, picture or font comes from elsewhere."""
    for path in site.rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        tags = re.findall(r"<(?:script|img|iframe|link|source)\b[^>]*?(?:src|href)=[\"']?([^\"'\s>]+)", text)
        assert not [target for target in tags if re.match(r"(https?:)?//", target)], path
    for path in site.rglob("*.css"):
        assert not re.search(r"url\(\s*[\"']?(https?:)?//", path.read_text(encoding="utf-8")), path


def test_every_link_between_built_pages_resolves(site: Path) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.html")}
    names = {path: set(re.findall(r"\bid=\"([^\"]+)\"", text)) for path, text in texts.items()}
    dead = []
    for path, text in texts.items():
        if "_downloads" in path.parts:  # files that are kept as they are, such as the map of the atlas
            continue
        for target in re.findall(r"<a\b[^>]*?\bhref=\"([^\"]+)\"", text):
            if re.match(r"[a-z]+:|//", target):
                continue
            name, _, anchor = target.partition("#")
            place = (path.parent / name).resolve() if name else path
            if not place.exists() or (anchor and place in names and anchor not in names[place]):
                dead.append(f"{path.relative_to(site)}: {target}")
    assert not dead


def test_quotes_of_code_stay_as_they_are_typed(site: Path) -> None:
    """Descriptions hold code such as probes=["ladder:items=200"], which readers copy."""
    text = (site / "reference" / "api.html").read_text(encoding="utf-8")
    assert "probes=[&quot;ladder:items=200&quot;]" in text and not re.search("[“”]", text)


def test_llms_txt_lists_every_page(site: Path) -> None:
    text = (site / "llms.txt").read_text(encoding="utf-8")
    for page in pages():
        assert page == "index.md" or f"]({page.removesuffix('.md')}.html): " in text, page
    assert text.startswith("# lengthwise\n\n> ")


def test_search_works_from_the_file_system(site: Path, browser) -> None:
    """As a reader would: type a word into the box of a page that was opened as a file."""
    page = browser.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((site / "index.html").as_uri())
    page.fill("input[name=q]", "sinkhorn")
    page.press("input[name=q]", "Enter")
    page.wait_for_selector("#search-results ul.search li a")
    found = page.eval_on_selector_all("#search-results ul.search li a", "links => links.map(link => link.href)")
    assert any("explanation/attention.html" in link for link in found)
    page.goto(found[0])
    assert page.title() and all(url.startswith(("file:", "data:")) for url in asked)


def test_headings_and_the_index_are_laid_out(site: Path, browser) -> None:
    """Code in a heading is no footnote, and long names do not make the index wider than the page."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    page.goto((site / "how-to/bound-command.html").as_uri())
    size = "name => parseFloat(getComputedStyle(document.querySelector(name)).fontSize)"
    assert page.evaluate(size, "h1 code") > 0.7 * page.evaluate(size, "h1")
    page.goto((site / "genindex.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
