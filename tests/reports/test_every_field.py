"""Every text of a stored record may be hostile, one at a time: a page shows it as text, or refuses the record."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

import pytest

from lengthwise.figures.plots import heat_figure, line_figure
from lengthwise.records import Assumption, Claim, Column, Figure, Interval, Record, Reference, Table
from lengthwise.reports.record_section import record_fragment

ATTACKS = (
    '"><img src=x onerror=hacked()>',
    "</script><script>hacked()</script>",
    "' onmouseover='hacked()",
    "javascript:hacked()",
    "{{ hacked() }}{% include 'x' %}",
    "</style><style>*{background:url(//x)}",
    "--><svg/onload=hacked()>",
)


def rich() -> dict[str, Any]:
    """A record with something in every field, as it is stored."""
    claim = Claim(
        "a.key",
        1.5,
        "units",
        "certified",
        interval=Interval(1, 2),
        assumptions=(Assumption("a.key", "violated"),),
        reference=Reference("key", "Theorem 1"),
        evidence={"seeds": 3, "text": "words"},
    )
    columns = (Column("a", "text", "title"), Column("n", "whole"))
    table = Table("t", columns, (("cell", 1), ("b", None)), "title", "note")
    lines = line_figure("one.lines", "title", "words", ("x", "y"), {"series": [(0, 1.0), (1, 2.0)]})
    heat = heat_figure("one.heat", "heat", "words", ("x", "y"), [(0, 0, 1.0), (1, 0, 2.0)])
    return Record(
        "one",
        {"setting": "value"},
        "title",
        ("a sentence with `code`",),
        (claim,),
        (table,),
        (lines, heat),
        {"task": "words"},
    ).plain()


def texts(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where the texts of a record are; names inside the templates of pictures are no texts."""
    if isinstance(value, str):
        yield path
    elif isinstance(value, dict | list) and "template" not in path:
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield from texts(inner, (*path, key))


class Elements(HTMLParser):
    """The elements of a piece of a page with the names of their attributes, and where its links lead."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: set[tuple[str, ...]] = set()
        self.links: set[str] = set()
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.add((tag, *sorted(name for name, _ in attrs)))
        self.links |= {str(value) for name, value in attrs if name in ("href", "src", "action", "style")}


def test_every_text_stays_text() -> None:
    usual = Elements(record_fragment(Record.from_plain(rich()))["html"])
    failed = Elements(record_fragment(Record("one", failed="why"))["html"])
    places = list(texts(rich()))
    assert len(places) > 30, "titles, units, keys, cells, columns, settings, figures"
    shown = 0
    for path in places:
        for attack in ATTACKS:
            plain = copy.deepcopy(rich())
            inner = plain
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = attack
            try:
                record = Record.from_plain(plain)
                found = Elements(record_fragment(record)["html"])
            except (TypeError, AttributeError, ValueError, LookupError):
                continue  # not a record: whoever reads it says so
            assert found.found <= usual.found | failed.found | {("wbr",)}, (path, attack)
            assert found.links <= usual.links, (path, attack)
            shown += 1
    assert shown > len(places), "most texts are free, and were shown"


@pytest.mark.parametrize(
    "template",
    [
        {"data": {"url": "http://127.0.0.1:9/data.json"}},
        {"mark": {"type": "text", "href": "javascript:hacked()"}},
        {"layer": [{"encoding": {"href": {"value": "http://127.0.0.1:9"}}}]},
        {"encoding": {"url": {"field": "x"}}, "mark": "image"},
        {"usermeta": {"embedOptions": {"actions": True, "ast": False}}},
    ],
)
def test_a_picture_from_elsewhere_loads_nothing_and_leads_nowhere(template: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="names no addresses"):
        Figure("one", template)
    plain = rich()
    plain["figures"][0]["template"] = json.loads(json.dumps(template))
    with pytest.raises(ValueError, match="names no addresses"):
        Record.from_plain(plain)
