"""The two long tables of a report, by columns as the page holds them: every run and every claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.analyses.content import StudyContent
from lengthwise.records import Claim
from lengthwise.reports.cells import shown
from lengthwise.reports.record_section import claim_row
from lengthwise.studies.record import RunRecord

Look = Literal["text", "number", "share", "kind", "state", "list"]
_LONGEST_REASON = 300


@dataclass(frozen=True)
class PageColumn:
    """A column of a table in the page: its heading, how it looks, and its values from the first row to the last."""

    title: str
    look: Look
    values: list[Any]
    bounds: list[bool] | None = None  # which of the numbers are lower bounds

    def plain(self) -> dict[str, Any]:
        """Texts that repeat are kept once."""
        start = {"title": self.title, "look": self.look}
        if self.look in ("number", "share"):
            bounds = {} if self.bounds is None else {"bounds": [int(bound) for bound in self.bounds]}
            values = [round(value, 4) if isinstance(value, float) else value for value in self.values]
            return {**start, "values": values, **bounds}
        every = [text for row in self.values for text in row] if self.look == "list" else self.values
        texts = {text: place for place, text in enumerate(dict.fromkeys(every))}
        places = [[texts[text] for text in value] if self.look == "list" else texts[value] for value in self.values]
        return {**start, "texts": list(texts), "places": places}


def run_table(study: StudyContent) -> list[PageColumn]:
    """One row per run, in the order of the grid; a column that says nothing is left out."""
    runs = study.runs
    lower_bounds = [bool(_of(run, "censored")) for run in runs]
    columns = [
        PageColumn("task", "text", [run.task for run in runs]),
        PageColumn("encoding", "text", [run.position for run in runs]),
        PageColumn("variant", "text", [run.variant for run in runs]),
        PageColumn("seed", "number", [run.seed for run in runs]),
        PageColumn("trained to", "number", [run.train_size for run in runs]),
        PageColumn("reach", "number", [_of(run, "reach") for run in runs], lower_bounds),
        PageColumn("in range", "share", [_of(run, "in_range") for run in runs]),
        PageColumn("2×", "share", [_of(run, "twice") for run in runs]),
        PageColumn("3×", "share", [_of(run, "thrice") for run in runs]),
        PageColumn("seconds", "number", [run.seconds for run in runs]),
        PageColumn("state", "state", [run.state for run in runs]),
        PageColumn("kept", "text", ["" if run.summary is None else shown(run.key in study.kept) for run in runs]),
        PageColumn("reason", "text", [run.reason[:_LONGEST_REASON] for run in runs]),
    ]
    return [column for column in columns if any(value not in ("", None) for value in column.values)]


def claim_table(claims: Sequence[Claim]) -> list[PageColumn]:
    """One row per claim."""
    rows = [claim_row(claim) for claim in claims]
    return [
        PageColumn("kind", "kind", [row["kind"] for row in rows]),
        PageColumn("claim", "text", [row["title"] for row in rows]),
        PageColumn("value", "text", [row["value"] + (f" ({row['status']})" if row["status"] else "") for row in rows]),
        PageColumn("interval", "text", [row["interval"] for row in rows]),
        PageColumn("n", "number", [row["n"] for row in rows]),
        PageColumn("assumptions", "list", [[f"{check}: {text}" for check, text in row["assumptions"]] for row in rows]),
        PageColumn("evidence", "text", [row["evidence"] for row in rows]),
        PageColumn("reference", "text", [row["reference"] for row in rows]),
    ]


def _of(run: RunRecord, measure: str) -> Any:
    return getattr(run.summary, measure, None)
