"""Every page that is written lets the browser run its own scripts alone, and is drawn under that policy."""

from __future__ import annotations

import base64
import hashlib
import html
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lengthwise
from lengthwise.cli import main
from lengthwise.evidence import save_atlas
from small_runs import trained
from synthetic_atlas import synthetic_atlas

SOURCES = Path(lengthwise.__file__).parent
META = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
BLOCK = re.compile(r"<(script|style)(?: type=\"([^\"]*)\")?(?: [^>]*)?>(.*?)</\1>", re.DOTALL)

Made = dict[str, Path]


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory, report: Path, ladder_report: Path) -> Made:
    """One page of each kind, made as a user makes it."""
    folder = tmp_path_factory.mktemp("pages")
    run = trained(folder / "run", "sort")
    np.save(folder / "table.npy", np.random.default_rng(0).integers(1, 20, (8, 5)))
    texts = ("3 1 2", "2 1", "1 2 3 4"), ("9 8 7 6 5", "1", "4 4 4 4")
    for name, lines in zip(("a", "b"), texts, strict=True):
        (folder / f"{name}.jsonl").write_text("".join(f'{{"text": "{line}"}}\n' for line in lines * 10))
    save_atlas(synthetic_atlas(3, 1), folder / "atlas.json.gz")
    quick = "--n 6 --frames 3 --time 1"
    commands = {
        "curve": f"measure {run} --items 4 --figure",
        "curves of seeds": f"train sort --seeds 2 --steps 2 --batch 4 --depth 1 --width 8 --heads 1 --train-size 3 "
        f"--items 3 --folder {folder / 'seeds'} --figure",
        "shift": f"shift {folder / 'a.jsonl'} {folder / 'b.jsonl'} --metric ngrams:n=1 --figure",
        "bound": f"bound {run} --quantiser uniform:levels=8 --sample 50 --folder {folder / 'bound'} --figure",
        "plan": "bound plan --params 7B --tokens 1T --loss 2 --figure",
        "contexture": f"contexture {folder / 'table.npy'} --figure",
        "density": "particles density --time 0.5 --figure",
        "phases": f"particles phases --d 2 --starts 2 --betas 3 {quick} --figure",
        "particles": f"particles {quick} --page",
        "inspection": f"inspect {run} --items 4 --page",
        "map": f"report {folder / 'atlas.json.gz'} --out",
    }
    made = {"report": report, "report of ladders": ladder_report}
    for name, command in commands.items():
        path = folder / f"{name.replace(' ', '-')}.html"
        code = main([*command.split(), str(path), "--quiet", "--json"])
        assert code in (0, 3), name  # 3: a bound that says nothing
        made[name] = path
    return made


def test_no_page_is_written_but_by_these() -> None:
    """Whoever adds a page adds it to this list, and to the pages above. A page is written by `outputs` alone, which
    refuses one without a policy; a document of HTML is begun in these files alone."""
    sources = [path for path in SOURCES.rglob("*") if path.suffix in (".py", ".jinja")]
    begun = [path for path in sources if "<!DOCTYPE html>" in _text(path)]
    assert sorted(str(path.relative_to(SOURCES)) for path in begun) == [
        "figures/chart_files.py",
        "reports/assets/atlas.html.jinja",
        "reports/assets/page.html.jinja",
        "reports/assets/particles.html.jinja",
        "reports/assets/record_page.html.jinja",
        "view/assets/view.html.jinja",
    ]
    for path in begun:
        assert _text(path).count("Content-Security-Policy") == 1
        after = _text(path).split("<head>")[1].lstrip().splitlines()
        assert "charset" in after[0] and "Content-Security-Policy" in after[1], "before anything that it is about"


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.mark.system
def test_every_page_allows_its_own_scripts_and_nothing_else(pages: Made) -> None:
    assert len(pages) == 13
    for name, path in pages.items():
        text = _text(path)
        (found,) = META.findall(text)
        rules = {rule.split()[0]: rule.split()[1:] for rule in html.unescape(found).split(";")}
        assert rules["default-src"] == rules["base-uri"] == rules["form-action"] == ["'none'"], name
        assert "unsafe" not in found and "http" not in found.replace("http-equiv", ""), name
        for kind, rule in (("script", "script-src"), ("style", "style-src")):
            bodies = [body for tag, data, body in BLOCK.findall(text) if tag == kind and not data]
            hashes = [f"'sha256-{_digest(body)}'" for body in bodies]
            assert sorted(rules[rule]) == sorted(hashes or ["'none'"]), (name, kind)
        assert not re.search(r"<[^>]+ on[a-z]+=", re.sub(BLOCK, "", text)), name


def _digest(text: str) -> str:
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


DRAWN = """[...document.querySelectorAll('svg')].filter(svg => !svg.closest('summary')).map(svg => {
    const marks = [...svg.querySelectorAll('path, line, rect, text, circle')];
    return marks.filter(mark => { const b = mark.getBoundingClientRect(); return b.width + b.height > 1; }).length;
})"""
SHADE = "[...document.querySelectorAll('canvas')].map(canvas => canvas.width * canvas.height)"


@pytest.mark.system
def test_every_page_is_drawn_without_a_complaint(pages: Made, browser: Any, tmp_path: Path) -> None:
    for name, path in pages.items():
        opened = _Opened(browser, path)
        opened.settle(lambda opened=opened: sum(opened.page.evaluate(DRAWN)) + sum(opened.page.evaluate(SHADE)) > 10)
        assert opened.complaints == [], name
        assert [url for url in opened.requests if not url.startswith(("file:", "data:", "blob:"))] == [], name
        opened.page.screenshot(path=tmp_path / f"{path.stem}.png", full_page=False)
        opened.context.close()


@pytest.mark.system
def test_a_script_that_gets_into_a_page_does_not_run(pages: Made, browser: Any, tmp_path: Path) -> None:
    """Attack: should escaping ever fail, the policy still stops the code; pictures from elsewhere are not asked for."""
    planted = (
        "<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>"
        "<img src='http://127.0.0.1:9/seen'><a href='javascript:window.hacked = 3' id=link>x</a>"
        "<style>body { background: rgb(1, 2, 3) }</style>"
    )
    for name, path in pages.items():
        broken = tmp_path / f"{path.stem}.html"
        broken.write_text(_text(path).replace("<body>", f"<body>{planted}", 1))
        opened = _Opened(browser, broken)
        opened.page.evaluate("document.getElementById('link').click()")
        opened.page.wait_for_timeout(50)
        assert opened.page.evaluate("window.hacked") is None, name
        assert opened.page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(1, 2, 3)", name
        assert opened.refused == ["http://127.0.0.1:9/seen: csp"], name
        opened.context.close()


class _Opened:
    """A page in the browser, with what went wrong in it."""

    def __init__(self, browser: Any, path: Path) -> None:
        self.context = browser.new_context(viewport={"width": 1280, "height": 800})
        self.page = self.context.new_page()
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self._hear(message.type, message.text))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.refused: list[str] = []
        self.page.on("requestfailed", self._failed)
        self.page.goto(path.as_uri())

    def _failed(self, request: Any) -> None:
        if request.url.startswith("http"):
            self.refused.append(f"{request.url}: {request.failure}")

    def _hear(self, kind: str, text: str) -> None:
        """Errors, and whatever the policy refused; Vega's remarks on a chart are no matter here."""
        if kind == "error" or "Content Security Policy" in text:
            self.complaints.append(f"{kind}: {text}")

    def settle(self, condition: Callable[[], bool]) -> None:
        for _ in range(600):
            if condition():
                return
            self.page.wait_for_timeout(50)
        raise AssertionError(f"nothing was drawn; {self.complaints}")
