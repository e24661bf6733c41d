"""One model read with several scalings of RoPE: what a probe found of each, in one table of scalings by sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lengthwise.figures.plots import line_figure
from lengthwise.messages import explain
from lengthwise.probes.curve.curve import BINS, POINTS
from lengthwise.records import Claim, Column, Figure, Record, Table, columns
from lengthwise.statistics.means import mean_interval

SOURCE = "scalings"
_REACH = "a reach that is the largest size measured is a lower bound"
_MOST_SIZES = 10  # columns of the table; beyond that, bins
_HOW = {  # by probe: its tables of values by size or by bins, the column of the value, and what it is called
    "curve": ((POINTS, BINS), "exact", "exact match"),
    "prompted": (("prompted.sizes",), "lenient", "right answers"),
    "perplexity": (("perplexity.bands",), "nats", "nats per token"),
}

explain(
    {"scalings.reach": "reach with {scaling}", "scalings.loss": "loss with {scaling} after reading {tokens} tokens"}
)


@dataclass(frozen=True)
class SizeValue:
    """A value at a size, or in a range of sizes from `first` to `last`."""

    first: int
    last: int
    value: float | None
    low: float | None
    high: float | None

    @property
    def label(self) -> str:
        return f"{self.last:,}" if self.first == self.last else f"{self.first:,}-{self.last:,}"


def compared(subject: str, what: str, records: Sequence[tuple[str, Record]]) -> Record | None:
    """The records of one probe by scaling, as one: a table of scalings by sizes, the reach where there is one, and for
    losses the difference from the first scaling on the same tokens. None for a probe without values by size."""
    source = records[0][1].source
    tables, column, title = _HOW.get(source, ((), "", ""))
    if not tables or any(tables[0] not in [table.key for table in record.tables] for _, record in records):
        return None
    few = len(records[0][1].table(tables[0]).rows) <= _MOST_SIZES
    cells = {name: _cells(record, tables[0 if few else -1], column) for name, record in records}
    places = {(cell.first, cell.last): cell.label for row in cells.values() for cell in row}
    ordered = sorted(places)
    shares = source != "perplexity"
    reaches = {name: reach for name, record in records if (reach := _reach(record)) is not None}
    kind = "share" if shares else "number"
    described = (
        Column("scaling", "text"),
        *((Column("reach", "whole"),) if reaches else ()),
        *(Column(f"size_{last}", kind, places[first, last]) for first, last in ordered),
    )
    rows = []
    for name, _ in records:
        found = {(cell.first, cell.last): cell.value for cell in cells[name]}
        reach = ((reaches[name].value if name in reaches else None),) if reaches else ()
        rows.append((name, *reach, *(found.get(place) for place in ordered)))
    differences = _differences(records)
    by = f"{title} by {'size' if shares else 'tokens read before'}"
    long = tuple((name, *vars(cell).values()) for name, _ in records for cell in cells[name])
    wide = "scaling:text | first:whole | last:whole | value:{0} {1} | low:{0} 95 % from | high:{0} 95 % to"
    return Record(
        SOURCE,
        title=f"{subject}, {what}: {title} by scaling of RoPE",
        text=(*_text(title, cells, reaches, shares), *_paired(differences)),
        claims=tuple(_claims(title, cells, reaches, shares)),
        tables=(
            Table("scalings.sizes", described, tuple(rows), by, _REACH if reaches else ""),
            Table("scalings.intervals", columns(wide.format(kind, title)), long, "with intervals", detail=True),
            *differences,
        ),
        figures=(_figure(subject, title, cells, shares),),
        data={"subject": subject, "probe": source, "scalings": [name for name, _ in records]},
    )


def _cells(record: Record, table: str, column: str) -> list[SizeValue]:
    found = []
    for row in record.table(table).records():
        first, last = row.get("first", row.get("size")), row.get("last", row.get("size"))
        found.append(SizeValue(first, last, row[column], row["low"], row["high"]))  # pyright: ignore[reportArgumentType]
    return found


def _reach(record: Record) -> Claim | None:
    return next((claim for claim in record.claims if claim.key in ("curve.reach", "prompted.reach")), None)


def _claims(title: str, cells: dict[str, list[SizeValue]], reaches: dict[str, Claim], shares: bool) -> list[Claim]:
    """The reach of each scaling, or its loss after reading most."""
    found = []
    for name, row in cells.items():
        if name in reaches:
            own = reaches[name]
            evidence = {**own.evidence, "scaling": name}
            found.append(
                Claim("scalings.reach", own.value, own.unit, own.kind, own.status, own.interval, (), None, evidence)
            )
        known = [cell for cell in row if cell.value is not None]
        if known and not shares:
            evidence = {"scaling": name, "tokens": known[-1].label}
            found.append(Claim("scalings.loss", known[-1].value, title, "measured", evidence=evidence))
    return found


def _text(title: str, cells: dict[str, list[SizeValue]], reaches: dict[str, Claim], shares: bool) -> list[str]:
    """The answer in words: which scaling is best where it is hardest, and whether that is more than chance."""
    measured = [cell.last for row in cells.values() for cell in row if cell.value is not None]
    if not measured:
        return ["Nothing was answered with any of the scalings."]
    furthest = max(measured)
    here = ((name, cell) for name, row in cells.items() for cell in row if cell.last == furthest)
    last = {name: cell for name, cell in here if cell.value is not None}

    def shown(cell: SizeValue) -> str:
        return f"{100 * (cell.value or 0):.1f} %" if shares else f"{cell.value:.3f}"

    def merit(cell: SizeValue) -> float:
        return (cell.value or 0.0) * (1 if shares else -1)

    order = sorted(last, key=lambda name: merit(last[name]), reverse=True)
    best = last[order[0]]
    where = f"At size {best.label}" if shares else f"After reading {best.label} tokens"
    listed = ", ".join(f"{name} {shown(last[name])}" for name in order)
    found = [f"{where}, {title} by scaling, best first: {listed}."]
    ends = [(cell.low, cell.high) for cell in (last[name] for name in order)]
    if shares and len(order) > 1 and all(None not in pair for pair in ends):
        same = [name for name, (_, high) in zip(order[1:], ends[1:], strict=True) if high >= ends[0][0]]  # pyright: ignore
        if same:
            found.append(f"The 95 % interval of {order[0]} overlaps with that of {', '.join(same)}.")
    if reaches:
        far = ", ".join(f"{name} {claim.value or 0}" for name, claim in reaches.items())
        found.append(f"Reach: {far}.")
    return found


def _differences(records: Sequence[tuple[str, Record]]) -> list[Table]:
    """How much larger the loss is than with the first scaling, on the same tokens."""
    if records[0][1].source != "perplexity" or len(records) < 2:
        return []
    (first, base), rows = records[0], []
    for name, record in records[1:]:
        edges = record.data["edges"]
        for number, (one, other) in enumerate(zip(base.data["stretches"], record.data["stretches"], strict=False)):
            if not one or len(one) != len(other) or edges != base.data["edges"]:
                continue
            mean, interval = mean_interval([b - a for a, b in zip(one, other, strict=True)])
            ends = (None, None) if interval is None else (interval.low, interval.high)
            rows.append((name, edges[number] + 1, edges[number + 1], mean, *ends))
    described = columns(
        "scaling:text | first:whole | last:whole | difference:number nats per token | low:number 95 % from | "
        "high:number 95 % to"
    )
    title = f"difference from {first} on the same tokens"
    return [Table("scalings.differences", described, tuple(rows), title, detail=True)]


def _paired(differences: list[Table]) -> list[str]:
    """The differences after reading most, in words."""
    rows = [row for table in differences for row in table.records() if row["low"] is not None]
    if not rows:
        return []
    last = [row for row in rows if row["last"] == max(int(one["last"] or 0) for one in rows)]
    listed = ", ".join("{scaling} {difference:+.3f} ({low:+.3f} to {high:+.3f})".format(**row) for row in last)
    return [f"There, the {differences[0].title} (with 95 % intervals): {listed}."]


def _figure(subject: str, title: str, cells: dict[str, list[SizeValue]], shares: bool) -> Figure:
    scale = 100 if shares else 1
    series: dict[str, list[tuple[float, ...]]] = {}
    for name, row in cells.items():
        known = [cell for cell in row if cell.value is not None and not math.isnan(cell.value)]
        ends = all(cell.low is not None and cell.high is not None for cell in known)
        values = [(cell.value, cell.low, cell.high) if ends else (cell.value,) for cell in known]
        series[name] = [
            (cell.last, *(scale * (v or 0.0) for v in some)) for cell, some in zip(known, values, strict=True)
        ]
    axes = ("size" if shares else "tokens read before (up to)", f"{title}, %" if shares else title)
    return line_figure("scalings.sizes", f"{subject}: {title} by scaling of RoPE", "", axes, series, "x")
