"""Seed spread: the reach of every seed, one panel per row of the study; kept seeds are filled, others hollow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import LAYOUT, PageLayout
from lengthwise.analyses.words import counted
from lengthwise.figures.lazy import alt
from lengthwise.figures.style import hover, template_of
from lengthwise.messages import explain, sentence
from lengthwise.records import Figure, Record
from lengthwise.studies.record import RunRecord

_TALL = 24


explain(
    {
        "seeds.title": "Seed spread",
        "seeds.link": "Seeds",
        "seeds.text": "The reach of every seed, in training lengths. Filled: kept ({rule}); hollow: not. A triangle: "
        "the seed holds to the largest size measured, so its reach is at least that.",
        "seeds.none_done": "No run has finished yet.",
        "seeds.one_each": "No cell has two finished seeds, so there is no spread to show: one seed is an anecdote.",
        "seeds.words": "Reach of each of {runs} of {label} by encoding, in training lengths.",
    }
)


@analyses.register("seeds")
@dataclass(frozen=True)
class SeedsAnalysis(Analysis):
    """How much the seeds of a cell differ."""

    def analyse(self, study: StudyContent) -> Record:
        several = any(len(cell.done) > 1 for cell in study.cells)
        key = "seeds.text" if several else "seeds.one_each" if study.counts["done"] else "seeds.none_done"
        layout = PageLayout(sentence("seeds.link"), notes=(sentence(key, {"rule": study.rule}),), columns=3)
        figures = seed_strips(study) if several and study.pictures else ()
        return Record("seeds", title=sentence("seeds.title"), figures=tuple(figures), data={LAYOUT: layout.plain()})

    def applies(self, study: StudyContent) -> bool:
        return study.pictures and bool(study.runs)


def seed_strips(study: StudyContent) -> list[Figure]:
    """A strip for every row with a cell of at least two finished seeds."""
    template = _template(study)
    strips = []
    for place, row in enumerate(study.rows):
        found = study.row_cells(row)
        if not any(len(cell.done) > 1 for cell in found.values()):
            continue
        kept = {run.key for cell in found.values() for run in cell.kept}
        data = [
            _point(run, run.key in kept, _shift(index, len(cell.done)))
            for cell in found.values()
            for index, run in enumerate(cell.done)
        ]
        number = sum(len(cell.done) for cell in found.values())
        words = sentence("seeds.words", {"runs": counted(number, "run"), "label": row.label})
        strips.append(Figure(f"seeds.{place + 1}", template, {"seeds": data}, row.label, words))
    return strips


def _shift(index: int, seeds: int) -> float:
    """How far below the middle of its strip a seed is drawn, in pixels, so that equal ones do not hide each other."""
    return 0.0 if seeds < 2 else _TALL * 0.6 * (index / (seeds - 1) - 0.5)


def _point(run: RunRecord, kept: bool, shift: float) -> dict[str, Any]:
    summary = run.summary
    assert summary is not None
    return {
        "encoding": run.position,
        "multiple": summary.reach / run.train_size,
        "reach": f"{'≥' if summary.censored else ''}{summary.reach}",
        "kept": "kept" if kept else "discarded",
        "filled": 0.75 if kept else 0.0,
        "bound": "at least" if summary.censored else "reach",
        "seed": run.seed,
        "shift": shift,
        "in_range": summary.in_range,
    }


def _template(study: StudyContent) -> dict[str, Any]:
    scale = alt.Scale(domain=list(study.encodings))
    bars = alt.Chart(alt.Data(values=[{"at": 1}])).mark_rule(color="#888888", strokeDash=[4, 4]).encode(x="at:Q")
    x = alt.X(
        "multiple:Q",
        title="reach ÷ training length",
        scale=alt.Scale(domain=[0, study.furthest * 1.04], nice=False),
        axis=alt.Axis(tickMinStep=0.5, format="~g", labelExpr="datum.label + '×'", tickCount=6),
    )
    y = alt.Y("encoding:N", title=None, scale=alt.Scale(domain=list(study.encodings)), axis=alt.Axis(grid=True))
    points = (
        alt.Chart(alt.NamedData("seeds"))
        # With `yOffset` as a channel Vega-Lite would write the names of encodings into an expression.
        .mark_point(size=55, strokeWidth=1.8, yOffset=alt.expr("datum.shift"))
        .encode(
            x=x,
            y=y,
            stroke=alt.Stroke("encoding:N", scale=scale, legend=None),
            fill=alt.Fill("encoding:N", scale=scale, legend=None),
            fillOpacity=alt.FillOpacity("filled:Q", scale=None, legend=None),
            shape=alt.Shape(
                "bound:N",
                scale=alt.Scale(domain=["reach", "at least"], range=["circle", "triangle-right"]),
                legend=None,
            ),
            tooltip=hover(
                "encoding:N", "seed:Q", "reach:N", ("in_range:Q", "exact match in range", ".1%"), ("kept:N", "seed is")
            ),
        )
    )
    tall = _TALL * max(1, len(study.encodings))
    return template_of(alt.layer(bars, points).properties(width=300, height=tall))
