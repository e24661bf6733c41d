"""The full table: every run of a study by columns, as the page holds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.records import Claim
from lengthwise.reports.claims import claim_columns
from lengthwise.reports.content import Content
from lengthwise.studies.record import RunRecord

Look = Literal["text", "number", "share", "kind", "state", "list"]
_LONGEST_REASON = 300


@dataclass(frozen=True)
class Column:
    """A column of a table in the page: its heading, how it looks, and its values from the first row to the last."""

    title: str
    look: Look
    values: list[Any]
    bounds: list[bool] | None = None  # which of the numbers are lower bounds

    def plain(self) -> dict[str, Any]:
        """Texts that repeat are kept once."""
        if self.look == "list":
            texts = {text: place for place, text in enumerate(dict.fromkeys(t for row in self.values for t in row))}
            places = [[texts[text] for text in row] for row in self.values]
            return {"title": self.title, "look": self.look, "texts": list(texts), "places": places}
        if self.look in ("number", "share"):
            bounds = {} if self.bounds is None else {"bounds": [int(bound) for bound in self.bounds]}
            values = [round(value, 4) if isinstance(value, float) else value for value in self.values]
            return {"title": self.title, "look": self.look, "values": values, **bounds}
        texts = {text: place for place, text in enumerate(dict.fromkeys(self.values))}
        places = [texts[text] for text in self.values]
        return {"title": self.title, "look": self.look, "texts": list(texts), "places": places}


def run_table(content: Content) -> list[Column]:
    """One row a run, in the order of the grid; a column that says nothing is left out."""
    runs = content.runs
    columns = [
        Column("task", "text", [run.task for run in runs]),
        Column("encoding", "text", [run.position for run in runs]),
        Column("variant", "text", [run.variant for run in runs]),
        Column("seed", "number", [run.seed for run in runs]),
        Column("trained to", "number", [run.train_size for run in runs]),
        Column("reach", "number", [_of(run, "reach") for run in runs], [bool(_of(run, "censored")) for run in runs]),
        Column("in range", "share", [_of(run, "in_range") for run in runs]),
        Column("2×", "share", [_of(run, "twice") for run in runs]),
        Column("3×", "share", [_of(run, "thrice") for run in runs]),
        Column("seconds", "number", [run.seconds for run in runs]),
        Column("state", "state", [run.state for run in runs]),
        Column("kept", "text", [_fate(run, content) for run in runs]),
        Column("reason", "text", [run.reason[:_LONGEST_REASON] for run in runs]),
    ]
    return [column for column in columns if any(value not in ("", None) for value in column.values)]


def claim_table(claims: list[Claim]) -> list[Column]:
    """One row a claim."""
    columns = claim_columns(claims)
    looks: dict[str, Look] = {"kind": "kind", "n": "number", "assumptions": "list"}
    return [Column(name, looks.get(name, "text"), values) for name, values in columns.items()]


def _of(run: RunRecord, measure: str) -> Any:
    return None if run.summary is None else getattr(run.summary, measure)


def _fate(run: RunRecord, content: Content) -> str:
    if run.summary is None:
        return ""
    return "yes" if run.key in content.kept else "no"
