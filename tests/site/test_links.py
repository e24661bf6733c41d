"""Every link of the documentation leads somewhere, every page is in the contents, and code names pages that exist."""

from __future__ import annotations

import posixpath
import re
import subprocess

import pytest
from mdit_py_plugins.anchors.index import slugify

from site_texts import DOCS, ROOT, SECTIONS, blocks, pages, prose

PAGES = pages()
LINK = re.compile(r"(?<!\\)\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
NAMED = re.compile(r"(?<![\w/.-])docs/[\w/.-]*\w\.(?:md|py|html|bib|svg|png|json\.gz|json)\b")


def anchors(text: str) -> set[str]:
    """The anchors of the headings of a page; the second heading of a name gets a number, as on the site."""
    found: set[str] = set()
    without_code = re.sub(r"^(`{3,}).*?^\1`*[ ]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    for title in re.findall(r"^#{1,4} (.+?)\s*$", without_code, re.MULTILINE):
        slug = slugify(re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).replace("`", ""))
        number = 1
        while (name := slug if number == 1 else f"{slug}-{number - 1}") in found:
            number += 1
        found.add(name)
    return found


def broken(page: str, text: str, known: dict[str, str]) -> list[str]:
    """The links of a page (a path below docs/) that lead nowhere."""
    wrong = []
    for target in LINK.findall(prose(text)):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        place = posixpath.normpath(posixpath.join(posixpath.dirname(page), name)) if name else page
        place = place.removeprefix("../docs/")
        exists = place in known or (DOCS / place).is_file()
        if not exists or (anchor and anchor not in anchors(known.get(place, ""))):
            wrong.append(target)
    return wrong


def contents(page: str) -> list[str]:
    """The pages that a page lists in its tables of contents."""
    folder = posixpath.dirname(page)
    lines = [line.strip() for block in blocks(PAGES[page], "{toctree}") for line in block.splitlines()]
    return [posixpath.join(folder, f"{line}.md") for line in lines if line and not line.startswith(":")]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_every_link_leads_to_a_page_and_a_heading(page: str) -> None:
    assert not broken(page, PAGES[page], PAGES)


def test_links_from_outside_lead_into_the_documentation() -> None:
    for name in OUTSIDE:
        assert not broken(f"../{name}", (ROOT / name).read_text(encoding="utf-8"), PAGES), name


def test_a_dead_link_is_found() -> None:
    known = {"a.md": "# A title, with `code`\n\n# Twice\n\n# Twice\n", "b/c.md": "# C\n"}
    live = "[1](../a.md) [2](../a.md#a-title-with-code) [3](c.md#c) [4](#c) [5](https://a.org/x) [6](../a.md#twice-1)"
    assert broken("b/c.md", live, known) == []
    dead = "[1](a.md) [2](../a.md#other) [3](#d) [4](../nothing.svg)\n```\n[code](nowhere.md)\n```\n`[x](y.md)`"
    assert broken("b/c.md", dead, known) == ["a.md", "../a.md#other", "#d", "../nothing.svg"]


def test_every_page_is_listed_once_and_linked_from_its_section() -> None:
    listed = [page for start in PAGES for page in contents(start)]
    assert len(set(listed)) == len(listed) and {*listed} == {*PAGES} - {"index.md"}
    for section in SECTIONS:
        start = f"{section}/index.md"
        assert start in contents("index.md")
        for page in contents(start):
            assert f"]({posixpath.basename(page)})" in PAGES[start], f"{start} does not link to {page}"


@pytest.mark.parametrize("page", sorted(page for page in PAGES if page.startswith("explanation/")))
def test_an_explanation_opens_with_a_sentence(page: str) -> None:
    """What the page is good for, before any table, list or block."""
    opening = PAGES[page].split("\n\n")[1]
    assert re.match(r"[A-Z`]", opening) and not opening.startswith("```") and len(opening.split()) >= 8


def test_no_page_lies_outside_of_the_sections() -> None:
    known = {DOCS / page for page in PAGES}
    inside = {path for path in DOCS.rglob("*.md") if not {"_build", "data"} & set(path.relative_to(DOCS).parts)}
    assert inside == known


def test_code_names_pages_that_exist() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("this is no git checkout")
    homes = {posixpath.basename(page): f"docs/{page}" for page in PAGES}
    wrong = []
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.suffix not in (".py", ".md", ".toml") or not path.is_file():
            continue
        for found in NAMED.findall(path.read_text(encoding="utf-8")):
            if not (ROOT / found).exists():
                wrong.append(f"{name} names {found}, which is {homes.get(posixpath.basename(found), 'nowhere')}")
    assert not wrong
