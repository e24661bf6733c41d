"""Any record as a section of an HTML page, and pages that are made of such sections alone.

Text reaches a page in two ways only: through Jinja, every character escaped, and as JSON in a block that is not a
script, which page.js reads and draws as data of figures. A page that shows records holds the block that
`figure_data` gives, imports the macros of records.html.jinja, and is made by `rendered`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import jinja2
import markupsafe

from lengthwise.analyses.layout import PageLayout
from lengthwise.analyses.words import short
from lengthwise.errors import UsageError
from lengthwise.figures.design import sheet
from lengthwise.figures.policy import bundle, policy
from lengthwise.figures.style import PAGE_INK, PAPER_INK, config, packed
from lengthwise.messages import explain, is_explained, sentence
from lengthwise.outputs import check_output, write_output
from lengthwise.records import Claim, Figure, Record
from lengthwise.reports.cells import is_number, shown, title_of
from lengthwise.reports.glossary import glossary

_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_LISTED = 6
_SHOWN = 6  # sections of a page of records; the others are behind "more"
_FEW = 3  # sections that are open from the start

explain(
    {
        "evidence.discarded": "seeds discarded: {value}",
        "evidence.rule": "rule: {value}",
        "evidence.others": "did not hold: {value}",
        "evidence.contradictions": "contradicted by {value}",
        "evidence.not_learned": "not learned: {value}",
        "evidence.decided": "decided: {value}",
        "evidence.p_value": "p = {value:.3g}",
        "evidence.tau": "settles over {value:.3g} sizes",
        "evidence.why": "{value}",
    }
)


@dataclass(frozen=True)
class RecordPage:
    """A page of records: its title, the sentences that answer first, facts (label and text), and the records."""

    title: str
    headline: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    records: tuple[Record, ...]


def write_record_page(page: RecordPage, path: Path) -> Path:
    """Write a page, whole or not at all."""
    return write_page_file(path, render_record_page(page))


def render_record_page(page: RecordPage) -> str:
    style = page_style("records")
    drawn = [figure for record in page.records for figure in record.figures]
    scripts = (bundle(), asset("page.js")) if drawn else ()
    data = {**figure_data(drawn), "tables": {}}
    values = {"page": page, "shown": page.records[:_SHOWN], "more": page.records[_SHOWN:]}
    kinds = ["kind"] if any(record.claims for record in page.records) else []  # the heading of a column
    values |= {"few": len(page.records) <= _FEW, "terms": glossary(page.records, *page.headline, *kinds)}
    return rendered("record_page.html.jinja", values, data, style, scripts, drawn)


def write_page_file(path: Path, text: str, noun: str = "page") -> Path:
    """Write a page, whole or not at all; the path it was written to. A user knows it as `noun`."""
    check_output(path)
    try:
        write_output(path, text)
    except OSError as error:
        raise UsageError(
            f"cannot write the {noun} {path}: {error.strerror or error}; give it a file in a folder that exists"
        ) from error
    return path


def rendered(
    template: str,
    values: Mapping[str, Any],
    data: Mapping[str, Any],
    style: str,
    scripts: Sequence[str],
    figures: Sequence[Figure] = (),
) -> str:
    """A template as the text of a page, with its data as JSON and the style and scripts that its policy allows. Jinja
    has what the macros of records.html.jinja need; `figures` are all those of the page, in order."""
    text = (
        page_templates(figures)
        .get_template(template)
        .render(
            **values,
            data=marked(script_safe(data)),
            style=marked(style),
            scripts=[marked(script) for script in scripts],
            policy=policy(style, scripts),
        )
    )
    # A lone surrogate, which a file's name may hold, cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def record_fragment(record: Record) -> dict[str, Any]:
    """What a page that is open needs to show a record: the inside of its section, every character of it escaped, and
    its figures."""
    write = page_templates(record.figures).get_template("records.html.jinja").module
    text = str(write.body(record))  # pyright: ignore[reportAttributeAccessIssue]  # a macro
    return {"html": text, "figures": figure_data(record.figures)}


def page_templates(figures: Sequence[Figure]) -> jinja2.Environment:
    """The templates, with the filters that the macros of records.html.jinja need; `figures` are those of the page."""
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset), autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    places = {id(figure): place for place, figure in enumerate(figures)}
    environment.filters.update(
        pieces=pieces,
        breakable=breakable,
        shown=shown,
        is_number=is_number,
        title_of=title_of,
        claim_row=claim_row,
        layout=PageLayout.of,
        script_safe=lambda data: marked(script_safe(data)),
        place=lambda figure: places[id(figure)],
    )
    return environment


def figure_data(figures: Sequence[Figure]) -> dict[str, Any]:
    """What page.js needs to draw figures: templates, each once, and the data of every figure by columns."""
    texts = [json.dumps(figure.template, sort_keys=True) for figure in figures]
    kinds = {text: str(number) for number, text in enumerate(dict.fromkeys(texts))}
    return {
        "templates": {kinds[text]: figure.template for text, figure in zip(texts, figures, strict=True)},
        "config": {"page": config(PAGE_INK), "paper": config(PAPER_INK)},
        "figures": [
            {"name": f"{figure.key}-{figure.title}", "kind": kinds[text], "title": figure.title, "data": packed(figure)}
            for text, figure in zip(texts, figures, strict=True)
        ],
    }


def claim_row(claim: Claim) -> dict[str, Any]:
    """A claim as the texts of a table row."""
    interval, seeds = claim.interval, claim.evidence.get("seeds")
    between = "" if interval is None else f"at least {_value(interval.low, claim.unit)}"
    if interval is not None and not interval.is_open:
        between = f"{_value(interval.low, claim.unit)} to {_value(interval.high, claim.unit)}"
    unit = f" {claim.unit}" if claim.unit and claim.unit not in ("share", "size") else ""
    bound = "at least " if claim.evidence.get("lower_bounds") else ""
    return {
        "kind": claim.kind,
        "title": claim.title,
        "value": "–" if claim.value is None else bound + _value(claim.value, claim.unit) + unit,
        "status": "" if claim.status == "holds" else claim.status,
        "interval": between,
        "n": claim.evidence.get("n", len(seeds) if isinstance(seeds, list) else None),
        "assumptions": [(one.check, one.statement) for one in claim.assumptions],
        "evidence": "; ".join(_evidence(claim.evidence)).replace("`", ""),
        "reference": "" if claim.reference is None else str(claim.reference),
    }


def _evidence(found: Mapping[str, Any]) -> list[str]:
    """The parts of the evidence that a reader asks for first: those that have a sentence of their own."""
    parts = []
    for name, value in found.items():
        key = f"evidence.{name}"
        if not is_explained(key) or not value or (name == "rule" and not found.get("discarded")):
            continue
        names = [str(one) for one in value] if isinstance(value, list | tuple | Mapping) else []
        more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
        parts.append(sentence(key, {"value": ", ".join(names[:_LISTED]) + more if names else value}))
    return parts


def _value(value: Any, unit: str) -> str:
    """A size with one decimal, a share in per cent, other numbers with three digits; a truth as yes or no."""
    if unit in ("share", "size") and isinstance(value, int | float):
        return shown(value, "share") if unit == "share" else short(value)
    if isinstance(value, float):
        return f"{value:.3g}"
    return shown(value, "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number")


def marked(text: str) -> Any:
    """Text that Jinja leaves as it is, because it was made safe here or is our own."""
    return markupsafe.Markup(text)


def script_safe(data: Mapping[str, Any]) -> str:
    """JSON in which no character can end the block that holds it."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign, escaped in _UNSAFE.items():
        text = text.replace(sign, escaped)
    return text


def pieces(sentence: str) -> list[tuple[str, bool]]:
    """A sentence cut at its backticks: each piece, and whether it was between two of them."""
    return [(piece, place % 2 == 1) for place, piece in enumerate(sentence.split("`"))]


def breakable(text: str) -> Any:
    """A long name, such as that of a task with its settings, which a page may break after a comma or colon or before a
    plus."""
    return markupsafe.Markup("<wbr>").join(re.split(r"(?<=[,:])|(?=\+)", text))


def page_style(*names: str) -> str:
    """The style of a page: the design sheet, what all pages share, and the page's own parts by name."""
    return sheet() + "".join(asset(f"{name}.css") for name in ("page", *names))


def asset(name: str) -> str:
    return files("lengthwise.reports").joinpath("assets", name).read_text(encoding="utf-8")
