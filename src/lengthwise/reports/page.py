"""The page: one HTML file that holds all it needs, and in which names that users gave stay text.

Text reaches the page by two ways only: through Jinja with every sign escaped, and as JSON in a block that is no script,
which page.js reads and shows with `textContent`. The page allows no script but its own, by their hashes, no
evaluation of text and no network.
"""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

from lengthwise.figures.policy import bundle, policy
from lengthwise.oracle.check import check
from lengthwise.reports.answer import answer
from lengthwise.reports.claims import all_claims, claim_rows
from lengthwise.reports.content import Content, read_content
from lengthwise.reports.figure import PAGE_INK, PAPER_INK, Figure, config
from lengthwise.reports.figures import figures_by_section
from lengthwise.reports.ladder.part import ladder_part
from lengthwise.reports.oracle_cards import Oracle
from lengthwise.reports.page_file import write_page_file
from lengthwise.reports.plateaus import fit_plateaus
from lengthwise.reports.prediction import OUTLOOKS
from lengthwise.reports.predictions import predict
from lengthwise.reports.published import compare
from lengthwise.reports.sections import described
from lengthwise.reports.table import claim_table, run_table
from lengthwise.reports.table_cells import numeric, shown
from lengthwise.reports.words import percent

REPORT = "report.html"
_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def write_report(folder: Path, output: Path | None = None, oracle: Oracle = check) -> Path:
    """Write the report of the study in a folder, whole or not at all; the path it was written to."""
    path = folder / REPORT if output is None else output
    return write_page_file(path, render(read_content(folder), oracle), "report", "--output")


def render(content: Content, oracle: Oracle = check) -> str:
    """The page as text; `oracle` says what was to be expected of each cell."""
    import jinja2

    compared, fits, foretold = compare(content), fit_plateaus(content), predict(content, oracle)
    answered = answer(content, fits)
    ladder = ladder_part(content)
    claims = all_claims(content, answered, compared, fits, foretold, ladder)
    sections = figures_by_section(content, fits, foretold, ladder)
    drawn = [figure for group in sections.values() for figure in group]
    data = {
        "templates": {figure.kind: figure.template for figure in drawn},
        "config": {"page": config(PAGE_INK), "paper": config(PAPER_INK)},
        "figures": [_held(figure) for figure in drawn],
        "tables": {
            "runs": [column.plain() for column in run_table(content)],
            "claims": [column.plain() for column in claim_table(claims)],
        },
    }
    style = asset("page.css") + (asset("ladder.css") if ladder else "")
    scripts = (bundle(), asset("page.js"), *((asset("explorer.js"),) if ladder and ladder.explorer else ()))
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset), autoescape=True, trim_blocks=True, undefined=jinja2.StrictUndefined
    )
    environment.filters.update(pieces=pieces, percent=percent, claim_rows=claim_rows, numeric=numeric, shown=shown)
    text = environment.get_template("page.html.jinja").render(
        content=content,
        answer=answered,
        compared=compared,
        foretold=foretold,
        ladder=ladder,
        explorer=marked(script_safe(ladder.explorer.data)) if ladder and ladder.explorer else "",
        outlooks=OUTLOOKS,
        sections=sections,
        places={figure.name: place for place, figure in enumerate(drawn)},
        described=described(content, sections, fits, foretold),
        claims_number=len(claims),
        data=marked(script_safe(data)),
        style=marked(style),
        scripts=[marked(script) for script in scripts],
        policy=policy(style, scripts),
    )
    # A lone surrogate, which a file's name may hold, cannot be written as UTF-8.
    return text.encode("utf-8", "replace").decode("utf-8")


def script_safe(data: Any) -> str:
    """JSON in which no sign can end the block it stands in."""
    text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for sign, escaped in _UNSAFE.items():
        text = text.replace(sign, escaped)
    return text


def pieces(sentence: str) -> list[tuple[str, bool]]:
    """A sentence cut at its backticks: each piece, and whether it stood between two of them."""
    return [(piece, place % 2 == 1) for place, piece in enumerate(sentence.split("`"))]


def _held(figure: Figure) -> dict[str, Any]:
    return {"name": figure.name, "kind": figure.kind, "title": figure.title, "data": figure.columns()}


def asset(name: str) -> str:
    return files("lengthwise.reports").joinpath("assets", name).read_text(encoding="utf-8")


def marked(text: str) -> Any:
    """Text that Jinja is to leave as it is, as it was made safe here or is our own."""
    import markupsafe

    return markupsafe.Markup(text)
