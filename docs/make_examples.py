"""Write the files of src/lengthwise/examples from the pages that show them, and the tutorial as a notebook.

python docs/make_examples.py
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
EXAMPLES = DOCS.parent / "src" / "lengthwise" / "examples"
NOTEBOOK = "tutorial.ipynb"
# Which block of which page a file is: the first that holds these words.
BLOCKS = {
    "first.toml": ("tutorial/index.md", "question ="),
    "mytask.py": ("tutorial/index.md", "class LastFirst"),
    "my.py": ("tutorial/index.md", "class Net"),
    "from_python.py": ("tutorial/index.md", "lw.train("),
    "encoding.py": ("how-to/own-classes.md", "class Slope("),
    "even.json": ("reference/dfa.md", '"alphabet"'),
    "sums.jsonl": ("how-to/own-data.md", '"terms"'),
}
_FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[([^\]]+)\]\([^)]+\)")


def example_files() -> dict[str, str]:
    """The text of every file that is written, by its name."""
    found = {name: _block(page, words) for name, (page, words) in BLOCKS.items()}
    text = json.dumps(notebook(_page("tutorial/index.md")), indent=1, ensure_ascii=False) + "\n"
    return {**found, NOTEBOOK: text}


def notebook(page: str) -> dict[str, Any]:
    """A page as a notebook: commands and Python in cells of code, files that the reader is told to save written by
    theirs, and all else as text without links, which lead nowhere outside of the documentation."""
    cells, end = [], 0
    for fence in _FENCE.finditer(page):
        before, (language, content) = page[end : fence.start()], fence.groups()
        saved = re.search(r"Save this as `([^`]+)`:\s*$", before)
        code = _code(language, content, saved[1] if saved else "")
        cells += [("markdown", before), ("code", code) if code else ("markdown", fence.group() * (language == "text"))]
        end = fence.end()
    cells.append(("markdown", page[end:].partition("\n## Where to go next")[0]))
    kept = [(kind, _LINK.sub(r"\1", text).strip() if kind == "markdown" else text.rstrip()) for kind, text in cells]
    language = {"display_name": "Python 3", "language": "python", "name": "python3"}
    return {
        "cells": [_cell(f"cell-{place}", *cell) for place, cell in enumerate(cell for cell in kept if cell[1])],
        "metadata": {"kernelspec": language, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def _code(language: str, content: str, saved: str) -> str:
    """What a cell runs for a block; nothing for output, and for the installation, which came before."""
    if language == "console":
        return "\n".join(f"!{line[2:]}" for line in content.splitlines() if line.startswith("$ lengthwise "))
    if saved:
        return f"%%writefile {saved}\n{content}"
    return content if language == "python" else ""


def _cell(name: str, kind: str, text: str) -> dict[str, Any]:
    more = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": name, "metadata": {}, **more, "source": text.splitlines(keepends=True)}


def _block(page: str, words: str) -> str:
    return next(content for _, content in _FENCE.findall(_page(page)) if words in content)


def _page(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    for name, text in example_files().items():
        (EXAMPLES / name).write_text(text, encoding="utf-8")
