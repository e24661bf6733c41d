"""Write docs/findings/search54.md: the records of the analyses of search54, from the shipped summary of the study.
Write the thresholds of layers, which `lengthwise check` shows, into the package.

python docs/make_search54.py
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from pathlib import Path

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import StudyContent, read_summary_content
from lengthwise.analyses.ladder.thresholds import TOKEN_BAR, thresholds
from lengthwise.analyses.layout import PageLayout
from lengthwise.evidence import search_layers
from lengthwise.evidence.search_layers import LayersReached, LayersStudy, write_layers
from lengthwise.records import Claim, Record, Table
from lengthwise.reports.cells import shown
from lengthwise.reports.record_section import claim_row
from lengthwise.tasks.ladder import TRAINING

DATA = Path(__file__).parent / "data" / "search54.json.gz"
PAGE = Path(__file__).parent / "findings" / "search54.md"
LAYERS = Path(search_layers.__file__).parent / "data" / search_layers.FILE
MOST_ROWS = 60  # of a table

_HEAD = """# Risk against distance: what search54 found

<!-- Written by docs/make_search54.py from docs/data/search54.json.gz; a change here is lost. -->

{models} models, {seeds} seeds per configuration, trained on searches 2 to 5 deep. A level of `slide` moves that range
further, so that one item in four is deeper than training, then two, then three; `depth`, `branching` and `content`
change only one setting. The ladders and distances of all models are in `docs/data/search54.json.gz` (no weights, no
curves), which these commands wrote:

```console
$ {command}
$ lengthwise study export search54 --summary docs/data/search54.json.gz
```

`lengthwise study show docs/data/search54.json.gz` prints the same records; add `--json` for every number.
`lengthwise report docs/data/search54.json.gz` writes them as a page with figures, `search54.html`. [What a
ladder of shifts shows](findings.md) explains rules and terms, and [Search problems](../reference/search.md) the tasks.
"""


def page(path: Path = DATA) -> str:
    """The whole of docs/findings/search54.md."""
    study = dataclasses.replace(read_summary_content(path), pictures=False)
    return "\n".join([_head(study), *(section(record) for record in analyse(study))])


def layers(path: Path = DATA) -> LayersStudy:
    """The thresholds of layers of the study."""
    evidence = read_summary_content(path).evidence
    assert evidence is not None
    rows = tuple(
        LayersReached(
            row.task,
            row.position,
            row.level == TRAINING,
            row.value,
            row.nesting,
            row.layers,
            row.accurate,
            row.solving,
            tuple(round(share, 4) for share in row.best_token),
            tuple(round(share, 4) for share in row.best_solved),
            {one.claim.key: one.agreement for one in row.predictions},
        )
        for row in thresholds(evidence).rows
        if row.nesting is not None
    )
    climbs = evidence.climbs
    seeds, widths = len({climb.seed for climb in climbs}), len({climb.configuration[3] for climb in climbs})
    return LayersStudy("search54", len(climbs), seeds, widths, 100 * TOKEN_BAR, rows)


def _head(study: StudyContent) -> str:
    assert study.evidence is not None
    seeds = {climb.seed for climb in study.evidence.climbs}
    return _HEAD.format(models=len(study.evidence.climbs), seeds=len(seeds), command=study.command)


def section(record: Record) -> str:
    """Any record as Markdown: its text, its first claims and its tables."""
    parts = [f"## {record.title}\n", *(f"{text}\n" for text in record.text)]
    if claims := record.claims[: PageLayout.of(record).claims]:
        parts.append(_claims(claims))
    return "\n".join([*parts, *(_titled(table) for table in record.tables if len(table.rows) <= MOST_ROWS)])


def _claims(claims: Iterable[Claim]) -> str:
    rows = []
    for claim in claims:
        row = claim_row(claim)
        value = row["value"] + (f" [{row['interval']}]" if row["interval"] else "")
        rows.append((row["title"], value, claim.kind, claim.status))
    return _grid(("claim", "value", "kind", "status"), rows)


def _titled(table: Table) -> str:
    titles = [column.title or column.name for column in table.columns]
    rows = [[shown(cell, column.type) for cell, column in zip(row, table.columns, strict=True)] for row in table.rows]
    note = f"{table.note}\n\n" if table.note else ""
    return f"### {table.title}\n\n{note}{_grid(titles, rows)}"


def _grid(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    write_layers(layers(), LAYERS)
