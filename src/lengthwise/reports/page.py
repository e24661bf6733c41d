"""The report of a study: one HTML file that shows the records of its analyses, and holds all it needs.

The page knows no analysis by name: it shows the records in their order, the first one as the answer, then every run,
every claim and how the study was made. It allows no script but its own, by their hashes, no evaluation of text and no
network; names that users gave stay text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from lengthwise.analyses.analysis import analyse
from lengthwise.analyses.content import StudyContent, read_content
from lengthwise.analyses.layout import PageLayout, in_short
from lengthwise.analyses.words import counted, duration, listed
from lengthwise.figures.policy import bundle
from lengthwise.records import Claim, Record
from lengthwise.reports.cells import shown
from lengthwise.reports.glossary import glossary
from lengthwise.reports.record_section import asset, claim_row, figure_data, page_style, rendered, write_page_file
from lengthwise.studies.record import RunRecord

REPORT = "report.html"
_WIDGETS = "widgets"
_MOST_REASONS = 20
_LONGEST_REASON = 300
_SECTIONS = 3  # below the answer; the others are behind "more", so that the navigation has at most seven entries

Look = Literal["text", "number", "share", "kind", "state", "list"]


def write_report(folder: Path, output: Path | None = None) -> Path:
    """Write the report of the study in a folder, or of its summary in a file, whole or not at all; the path it was
    written to. That of a summary goes to the current folder, under the name of the summary."""
    study = read_content(folder)
    path = output or (Path(f"{study.name}.html") if folder.is_file() else folder / REPORT)
    return write_page_file(path, render(study, analyse(study)), "report")


def render(study: StudyContent, records: Sequence[Record]) -> str:
    """The page of a study as text, from the records of its analyses."""
    leading = [claim for record in records for claim in in_short(record).claims]
    claims = distinct([*leading, *(claim for record in records for claim in record.claims)])
    drawn = [figure for record in records for figure in record.figures]
    tables = {"runs": run_table(study), "claims": claim_table(claims)}
    plain = {name: [column.plain() for column in columns] for name, columns in tables.items()}
    widgets = widgets_of(records)
    style = page_style(*(f"{_WIDGETS}/{name}" for name in widgets))
    scripts = (bundle(), asset("page.js"), *(asset(f"{_WIDGETS}/{name}.js") for name in widgets))
    shown, more = records[1 : _SECTIONS + 1], records[_SECTIONS + 1 :]
    values = {"study": study, "records": records, "shown": shown, "more": more, "has_runs": bool(study.runs)}
    values |= {"terms": glossary(records)}
    values |= {"counts": _counts(study), "failures": _failures(study), "facts": _facts(study)}
    data = {**figure_data(drawn), "tables": plain}
    return rendered("page.html.jinja", values, data, style, scripts, drawn)


def widgets_of(records: Iterable[Record]) -> list[str]:
    """The widgets that records ask for, of those whose script is part of this package."""
    known = {
        path.name.removesuffix(".js") for path in files("lengthwise.reports").joinpath("assets", _WIDGETS).iterdir()
    }
    asked = (widget["name"] for record in records if (widget := PageLayout.of(record).widget))
    return [name for name in dict.fromkeys(asked) if name in known]


def distinct(claims: Iterable[Claim]) -> list[Claim]:
    """The claims, none of them twice: one that an answer rests on is in the record of its own analysis too."""
    found: dict[tuple[str, str], list[Claim]] = {}
    for claim in claims:
        same = found.setdefault((claim.key, claim.title), [])
        if claim not in same:
            same.append(claim)
    return [claim for same in found.values() for claim in same]


def _counts(study: StudyContent) -> list[str]:
    if not study.runs:
        return []
    counts, done = study.counts, study.counts["done"]
    states = [f"{counts[state]:,} {state}" for state in ("failed", "running", "waiting") if counts[state]]
    texts = [", ".join([f"{done:,} of {counted(len(study.runs), 'run')} done", *states])]
    if done and not study.ladders_lead:  # there configurations are learned by their risk, as the answer says
        kept, learned = len(study.kept), study.learning
        if learned.judged:
            texts.append(f"{len(learned.learned):,} of {counted(learned.judged, 'cell')} learned")
        texts.append(f"{counted(kept, 'seed')} kept, {done - kept:,} discarded")
    if study.seconds:
        texts.append(f"wall time {duration(study.seconds)}")
    return texts


def _failures(study: StudyContent) -> list[tuple[str, str]]:
    """Each reason with the runs it stopped."""
    groups: dict[str, list[str]] = {}
    for run in study.runs:
        if run.state == "failed":
            name = ", ".join([run.task, run.position, *([run.variant] if run.variant else []), f"seed {run.seed}"])
            groups.setdefault(run.reason or "no reason was noted", []).append(name)
    found = [(reason, listed(names, 3)) for reason, names in groups.items()]
    left = len(found) - _MOST_REASONS
    return found[:_MOST_REASONS] + ([(f"{left} other reasons", "see the table of runs")] if left > 0 else [])


def _facts(study: StudyContent) -> list[tuple[str, str]]:
    """Versions, threads, executor and time."""
    where = dict(study.environment)
    packages = where.pop("packages", {}) or {}
    rows = [(str(name), _text(value)) for name, value in where.items()]
    rows += [(f"{name} (package)", _text(value)) for name, value in packages.items()]
    if study.executor:
        rows.append(("executor", study.executor))
    if study.seconds:
        rows.append(("wall time", duration(study.seconds)))
    computing = sum(run.seconds or 0 for run in study.runs)
    rows.append(("training and measuring, all runs together", duration(computing)))
    reasons = Counter(run.ended for run in study.runs if run.ended)
    if reasons:
        rows.append(("training ended by", "; ".join(f"{text} ({number:,})" for text, number in reasons.most_common(6))))
    return rows


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {_text(part)}" for name, part in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_text, value))
    return str(value)


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
