"""Every work that claims, code and pages refer to is in docs/references.bib, and each entry says what was looked up."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import lengthwise
from site_texts import DOCS, ROOT, pages

SOURCE = Path(lengthwise.__file__).parent
KEY = re.compile(r"(?<![\w/.])[a-z]{2,}(?:1[89]|20)\d\d(?:[a-z]+)?(?![\w-])")
ENTRIES = {
    key: dict(re.findall(r"^  (\w+) = \{(.*)\},$", body, re.MULTILINE))
    for key, body in re.findall(r"^@\w+\{(\w+),\n(.*?)^\}$", (DOCS / "references.bib").read_text("utf-8"), re.M | re.S)
}
_SAID = re.compile(r"looked up|from memory|proved on the page")


def references() -> Iterator[tuple[str, str]]:
    """The keys of `Reference(...)` in the source that are written out, and where."""
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).split(".")[-1] == "Reference" and node.args:
                for part in ast.walk(node.args[0]):
                    if isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value != "log":
                        yield part.value, str(path.relative_to(SOURCE))


def test_every_reference_of_a_claim_resolves() -> None:
    found = list(references())
    missing = [one for one in found if one[0] not in ENTRIES and not (ROOT / one[0]).is_file()]
    assert len(found) > 80 and not missing, "add the work to docs/references.bib"


def test_every_key_in_code_and_pages_resolves() -> None:
    texts = {str(path): path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")} | pages()
    missing = {key: name for name, text in texts.items() for key in KEY.findall(text) if key not in ENTRIES}
    assert not missing, "add the works to docs/references.bib"


def test_every_entry_is_whole_and_says_what_was_looked_up() -> None:
    for key, entry in ENTRIES.items():
        assert {"author", "title", "year", "note"} <= entry.keys(), key
        assert key == "lengthwise" or entry["year"] in key or key in ("izzo2026",), key
        assert _SAID.search(entry["note"]), f"the note of {key} does not say what was looked up"
    assert list(ENTRIES) == sorted(ENTRIES)


def test_no_entry_is_unused() -> None:
    texts = [*(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py")), *pages().values()]
    used = {key for text in texts for key in KEY.findall(text)}
    assert ENTRIES.keys() - used == {"lengthwise"}
