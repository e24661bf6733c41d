"""What everything that is found is made of, as plain data: claims, and records of claims, tables and figures.

A probe puts a question to one subject and an analysis to a whole study; both answer with a `Record`. The terminal, the
JSON, the export and the report know records and nothing else.
"""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

from lengthwise.errors import UsageError
from lengthwise.messages import is_explained, sentence

Kind = Literal["proved", "certified", "measured", "predicted", "heuristic"]
Status = Literal["holds", "refuted", "vacuous", "unknown", "refused"]
Check = Literal["checked", "assumed", "violated", "caveat"]
Type = Literal["text", "whole", "number", "share", "truth"]
Cell = str | int | float | bool | None

SCHEMA = 1  # of records
_ADDRESSES = {"url", "href", "usermeta"}


@dataclass(frozen=True)
class Interval:
    """A closed range that holds the value with probability `level`, found by `method`.

    `high` is infinite where nothing bounds the value from above, such as a reach that ends with the measurement; JSON,
    which has no infinity, then says null.
    """

    low: float
    high: float
    level: float = 0.95
    method: str = ""

    def __post_init__(self) -> None:
        if not self.low <= self.high:
            raise ValueError(f"an interval needs low <= high, not [{self.low}, {self.high}]")
        if not 0 < self.level <= 1:
            raise ValueError(f"a level must lie in (0, 1], not {self.level}")

    @property
    def is_open(self) -> bool:
        """Whether nothing bounds the value from above."""
        return self.high == math.inf

    def plain(self) -> dict[str, Any]:
        """The interval as JSON-ready data."""
        ends = {name: None if math.isinf(end) else end for name, end in (("low", self.low), ("high", self.high))}
        return {**asdict(self), **ends}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Interval:
        ends = {
            name: end if data[name] is None else data[name] for name, end in (("low", -math.inf), ("high", math.inf))
        }
        return cls(**{**data, **ends})

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Assumption:
    """A condition that a claim rests on, and whether it was checked; or, as a `caveat`, a fact that weakens the claim
    or leaves it without a value. `values` fill the fields of its sentence."""

    key: str
    check: Check = "assumed"
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    stored: str = field(default="", repr=False, compare=False)  # the sentence that was stored with it

    def __post_init__(self) -> None:
        _one_of("check", self.check, Check)

    @property
    def statement(self) -> str:
        """The condition, in words."""
        return self.stored if self.stored and not is_explained(self.key) else sentence(self.key, self.values)

    def plain(self) -> dict[str, Any]:
        values = {"values": dict(self.values)} if self.values else {}
        return {"key": self.key, "statement": self.statement, "check": self.check, **values}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Assumption:
        return cls(data["key"], data["check"], data.get("values", {}), data["statement"])


@dataclass(frozen=True)
class Reference:
    """Where a statement comes from: a bibliography key and the place inside the work."""

    key: str
    place: str = ""

    def __str__(self) -> str:
        return f"{self.key}, {self.place}" if self.place else self.key


@dataclass(frozen=True)
class Claim:
    """One conclusion.

    `key` is stable and dotted, such as "curve.reach": code branches on it, and the catalogue (`lengthwise.messages`)
    has the words for it, filled in from the evidence. `value` is a number, a string or None; None goes with the
    statuses that say why there is no value. `evidence` is what would convince a sceptic: sample size, seeds, a witness.
    """

    key: str
    value: float | int | str | bool | None
    unit: str
    kind: Kind
    status: Status = "holds"
    interval: Interval | None = None
    assumptions: tuple[Assumption, ...] = ()
    reference: Reference | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict)
    stored: str = field(default="", repr=False, compare=False)  # the title that was stored with it

    def __post_init__(self) -> None:
        _one_of("kind", self.kind, Kind)
        _one_of("status", self.status, Status)
        if self.value is None and self.status in ("holds", "refuted"):
            raise ValueError(f"the claim {self.key!r} is said to be {self.status!r} but has no value")
        if isinstance(self.value, float) and math.isnan(self.value):
            raise ValueError(f"the claim {self.key!r} has the value NaN; a claim that could not be made is 'unknown'")

    @property
    def title(self) -> str:
        """What the claim is about, in words."""
        return self.stored if self.stored and not is_explained(self.key) else sentence(self.key, self.evidence)

    def plain(self) -> dict[str, Any]:
        """The claim as JSON-ready data; `from_plain` reads it back."""
        return {
            "key": self.key,
            "title": self.title,
            "value": self.value,
            "unit": self.unit,
            "kind": self.kind,
            "status": self.status,
            "interval": None if self.interval is None else self.interval.plain(),
            "assumptions": [assumption.plain() for assumption in self.assumptions],
            "reference": None if self.reference is None else asdict(self.reference),
            "evidence": dict(self.evidence),
        }

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Claim:
        interval, reference = data["interval"], data["reference"]
        return cls(
            **{name: data[name] for name in ("key", "value", "unit", "kind", "status", "evidence")},
            interval=None if interval is None else Interval.from_plain(interval),
            assumptions=tuple(map(Assumption.from_plain, data["assumptions"])),
            reference=None if reference is None else Reference(**reference),
            stored=data["title"],
        )

    def __str__(self) -> str:
        def shown(value: Cell) -> str:
            if self.unit == "share" and isinstance(value, int | float):
                return f"{100 * value:.3g} %"
            return _shown(value)

        if self.value is None:
            text = f"{self.title}: {self.status}"
        else:
            text = f"{self.title}: {shown(self.value)}{f' {self.unit}' if self.unit not in ('', 'share') else ''}"
        if self.interval:
            high = "…" if self.interval.is_open else f"{shown(self.interval.high)}]"
            text += f" [{shown(self.interval.low)}, {high}"
        text += f" ({self.kind}" + (f", {self.status})" if self.status != "holds" and self.value is not None else ")")
        for check, said in (("violated", "assumption violated"), ("caveat", "caveat")):
            if found := [a.statement for a in self.assumptions if a.check == check]:
                text += f"; {said}: {'; '.join(found)}"
        return text


@dataclass(frozen=True)
class Column:
    """A column of a table. `name` is stable and is the column's name in an export; `title` is what people read."""

    name: str
    type: Type = "number"
    title: str = ""

    def __post_init__(self) -> None:
        _one_of("type", self.type, Type)


def columns(described: str) -> tuple[Column, ...]:
    """Columns described in one text: `name`, `name:type` or either with a title, separated by bars.

    >>> columns("task:text problem | items:whole | p_value")[0]
    Column(name='task', type='text', title='problem')
    """
    found = []
    for one in described.split("|"):
        name, _, title = one.strip().partition(" ")
        name, _, kind = name.partition(":")
        found.append(Column(name, kind or "number", title))  # pyright: ignore[reportArgumentType]  # checked by Column
    return tuple(found)


@dataclass(frozen=True)
class Table:
    """Rows under typed columns. `key` is stable; `note` says what a reader must know to read it. A table of `detail` is
    too long for a terminal, and is shown on pages and in JSON."""

    key: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    note: str = ""
    detail: bool = False

    def __post_init__(self) -> None:
        names = [column.name for column in self.columns]
        if len(set(names)) < len(names):
            raise ValueError(f"the table {self.key!r} has two columns of one name: {', '.join(names)}")
        if any(len(row) != len(names) for row in self.rows):
            raise ValueError(f"the table {self.key!r} has a row that does not fit its columns, {', '.join(names)}")

    def column(self, name: str) -> list[Cell]:
        """The values of one column."""
        place = [column.name for column in self.columns].index(name)
        return [row[place] for row in self.rows]

    def records(self) -> list[dict[str, Cell]]:
        """The rows as mappings from column names to values."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame, where pandas is installed."""
        try:
            import pandas
        except ImportError:
            raise UsageError("a DataFrame needs pandas, which is not installed: pip install pandas") from None
        return pandas.DataFrame(self.records())

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(column.title or column.name)}</th>" for column in self.columns)
        rows = "".join(f"<tr>{''.join(f'<td>{html.escape(_shown(c))}</td>' for c in row)}</tr>" for row in self.rows)
        caption = f"<caption>{html.escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}<tr>{head}</tr>{rows}</table>"

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Table:
        columns = tuple(Column(**column) for column in data["columns"])
        return cls(**{**data, "columns": columns, "rows": tuple(tuple(row) for row in data["rows"])})


@dataclass(frozen=True)
class Figure:
    """A picture: a Vega-Lite template that names its data, and the data: lists of rows with the same keys.

    `key` is stable and unlike that of the record's other figures; `words` say what is to be seen, for those who cannot
    see it. `group` is the value of the menu it belongs to, empty where it is always shown.
    """

    key: str
    template: Mapping[str, Any]
    data: Mapping[str, Sequence[Mapping[str, Any]]] = field(default_factory=dict)
    title: str = ""
    words: str = ""
    group: str = ""

    def __post_init__(self) -> None:
        """A record may come from elsewhere: its pictures hold their data, and lead nowhere."""
        if found := _addresses(self.template):
            raise ValueError(f"the template of the figure {self.key!r} has {found!r}; a figure names no addresses")


@dataclass(frozen=True, repr=False)
class Record:
    """The answer to one question: what a probe found of a subject, or an analysis of a study.

    `source` is the name of the probe or analysis, `settings` are its fields. `text` are sentences for people, the
    answer first; `claims`, `tables` and `figures` are what they rest on; `data` is what a later analysis needs. A
    question that could not be answered has the reason in `failed`.
    """

    source: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    title: str = ""
    text: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()
    tables: tuple[Table, ...] = ()
    figures: tuple[Figure, ...] = ()
    data: Mapping[str, Any] = field(default_factory=dict)
    failed: str = ""

    def claim(self, key: str) -> Claim:
        """The claim of this key, the first where there are several."""
        return next(claim for claim in self.claims if claim.key == key)

    def table(self, key: str) -> Table:
        """The table of this key."""
        return next(table for table in self.tables if table.key == key)

    def plain(self) -> dict[str, Any]:
        """The record as JSON-ready data; `from_plain` reads it back. An infinite number becomes "infinite"."""
        content = {f.name: getattr(self, f.name) for f in fields(self)}
        content["claims"] = [claim.plain() for claim in self.claims]
        for name in ("tables", "figures"):
            content[name] = [vars(part) for part in content[name]]
        return json_ready({"schema": SCHEMA, **content})

    def __repr__(self) -> str:
        tables = ", ".join(f"{table.key} ({len(table.rows)} rows)" for table in self.tables)
        parts = [self.title, self.failed, f"{len(self.claims)} claims" if self.claims else "", tables]
        return f"Record({self.source}: {'; '.join(part for part in parts if part)})"

    def _repr_html_(self) -> str:
        """The record as small tables, for a notebook."""
        lines = "".join(f"<p>{html.escape(line)}</p>" for line in (self.failed, *self.text) if line)
        claims = "".join(f"<li>{html.escape(str(claim))}</li>" for claim in self.claims)
        tables = "".join(table._repr_html_() for table in self.tables if not table.detail)
        return f"<h4>{html.escape(self.title or self.source)}</h4>{lines}<ul>{claims}</ul>{tables}"

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Record:
        if data.get("schema") != SCHEMA:
            raise ValueError(f"a record of schema {data.get('schema')!r} was written by another version, not {SCHEMA}")
        content = {name: value for name, value in data.items() if name != "schema"}
        content["text"] = tuple(content["text"])
        content["claims"] = tuple(map(Claim.from_plain, content["claims"]))
        content["tables"] = tuple(map(Table.from_plain, content["tables"]))
        content["figures"] = tuple(Figure(**figure) for figure in content["figures"])
        return cls(**content)


def json_ready(value: Any) -> Any:
    """Plain data that JSON can hold: tuples as lists, numbers that are not finite as words."""
    if isinstance(value, Column | Interval | Reference):
        return json_ready(vars(value))
    if isinstance(value, Mapping):
        return {str(key): json_ready(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_ready(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return "not a number" if math.isnan(value) else "infinite" if value > 0 else "-infinite"
    return value


def _addresses(template: Any) -> str:
    """The first name in a template by which a picture loads something, leads somewhere or changes how it is shown."""
    if isinstance(template, Mapping):
        if found := _ADDRESSES & template.keys():
            return min(found)
        template = list(template.values())
    return next(filter(None, map(_addresses, template)), "") if isinstance(template, list | tuple) else ""


def _one_of(what: str, value: str, allowed: Any) -> None:
    if value not in get_args(allowed):
        raise ValueError(f"{what} must be one of {', '.join(get_args(allowed))}, not {value!r}")


def _shown(value: Cell) -> str:
    return "–" if value is None else f"{value:.4g}" if isinstance(value, float) else str(value)
