"""The pages of the documentation as text, for the tests that hold them to their links, contents and names."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
SECTIONS = ("tutorial", "how-to", "reference", "explanation", "findings", "gallery")
_FENCE = re.compile(r"^(`{3,})([^\n`]*)\n(.*?)^\1`*[ ]*$", re.MULTILINE | re.DOTALL)


def pages() -> dict[str, str]:
    """Every page of the site by its path below docs/."""
    found = [DOCS / "index.md", *(path for section in SECTIONS for path in sorted((DOCS / section).rglob("*.md")))]
    return {path.relative_to(DOCS).as_posix(): path.read_text(encoding="utf-8") for path in found}


def blocks(text: str, language: str) -> list[str]:
    """The fenced blocks of a language, or of a directive such as "{toctree}"."""
    return [content for _, kind, content in _FENCE.findall(text) if kind.split()[:1] == [language]]


def prose(text: str) -> str:
    """A page without its blocks of code and without code in lines."""
    text = _FENCE.sub("", text)
    return re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
