"""What the site adds to its pages: the directives `api` and `api-room`, which describe public names, and llms.txt."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import api_text
from docutils import nodes
from pybtex.plugin import register_plugin
from pybtex.style.formatting.plain import Style
from pybtex.style.labels import BaseLabelStyle
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

_ABOUT = "Will a Transformer trained on short inputs hold on longer ones? How far, why, and what would change it?"


class KeyLabels(BaseLabelStyle):
    """Entries are labelled by their keys, as claims name them."""

    def format_labels(self, sorted_entries: Any) -> Any:
        return (entry.key for entry in sorted_entries)


class Keyed(Style):
    default_label_style = KeyLabels
    default_sorting_style = "none"


class Api(SphinxDirective):
    """Public names, one per line of the content, each relative to the package."""

    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {}

    def run(self) -> list[nodes.Node]:
        names = [line.strip() for line in self.content if line.strip()]
        return self._parsed([f"{api_text.PACKAGE}.{name}" for name in names])

    def _parsed(self, names: list[str]) -> list[nodes.Node]:
        text = "\n\n".join(map(api_text.described, names))
        return self.parse_text_to_nodes(text)


class ApiRoom(Api):
    """Everything that one room of the package offers."""

    has_content = False
    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        room = self.arguments[0]
        return self._parsed([f"{api_text.PACKAGE}.{room}.{name}" for name in api_text.room_names(room)])


def write_llms(app: Sphinx, failed: Exception | None) -> None:
    """llms.txt: every page with its title and its first sentence, in the order of the contents."""
    if failed or app.builder.name != "html":
        return
    lines = [f"# {app.config.project}", "", f"> {_ABOUT}", ""]
    for section in app.env.toctree_includes.get("index", ()):
        lines += [f"## {app.env.titles[section].astext()}", ""]
        for page in (section, *app.env.toctree_includes.get(section, ())):
            link = f"[{app.env.titles[page].astext()}]({app.builder.get_target_uri(page)})"
            lines.append(f"- {link}: {_opening(app.env.get_doctree(page))}")
        lines.append("")
    (Path(app.outdir) / "llms.txt").write_text("\n".join(lines), encoding="utf-8")


def _opening(page: nodes.document) -> str:
    """The first sentence of a page."""
    first = next((node.astext() for node in page.findall(nodes.paragraph)), "")
    return " ".join(first.split()).partition(". ")[0].rstrip(".:")


def setup(app: Sphinx) -> dict[str, bool]:
    register_plugin("pybtex.style.formatting", "keyed", Keyed)
    app.add_directive("api", Api)
    app.add_directive("api-room", ApiRoom)
    app.connect("build-finished", write_llms)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
