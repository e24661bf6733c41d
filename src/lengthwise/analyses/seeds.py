"""Seed spread: the reach of every seed, one panel per row of the study; kept seeds are filled, others hollow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.words import counted
from lengthwise.figures.style import alt, hover, multiple_axis, rule_at, template_of
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
        layout = PageLayout(notes=(sentence(key, {"rule": study.rule}),), columns=3)
        return arranged("seeds", layout, figures=seed_strips(study) if several and study.pictures else ())

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
        data = [
            _point(run, run in cell.kept, index, len(cell.done))
            for cell in found.values()
            for index, run in enumerate(cell.done)
        ]
        words = sentence("seeds.words", {"runs": counted(len(data), "run"), "label": row.label})
        strips.append(Figure(f"seeds.{place + 1}", template, {"seeds": data}, row.label, words))
    return strips


def _point(run: RunRecord, kept: bool, index: int, seeds: int) -> dict[str, Any]:
    """One seed; `shift` is how far below the middle of its strip it is drawn, in pixels, so that equal ones do not hide
    each other."""
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
        "shift": 0.0 if seeds < 2 else _TALL * 0.6 * (index / (seeds - 1) - 0.5),
        "in_range": summary.in_range,
    }


def _template(study: StudyContent) -> dict[str, Any]:
    scale = alt.Scale(domain=list(study.encodings))
    shapes = alt.Scale(domain=["reach", "at least"], range=["circle", "triangle-right"])
    told = hover(
        "encoding:N", "seed:Q", "reach:N", ("in_range:Q", "exact match in range", ".1%"), ("kept:N", "seed is")
    )
    points = (
        alt.Chart(alt.NamedData("seeds"))
        # With `yOffset` as a channel Vega-Lite would write the names of encodings into an expression.
        .mark_point(size=55, strokeWidth=1.8, yOffset=alt.expr("datum.shift"))
        .encode(
            x=multiple_axis("reach ÷ training length", domain=[0, study.furthest * 1.04]),
            y=alt.Y("encoding:N", title=None, scale=scale, axis=alt.Axis(grid=True)),
            stroke=alt.Stroke("encoding:N", scale=scale, legend=None),
            fill=alt.Fill("encoding:N", scale=scale, legend=None),
            fillOpacity=alt.FillOpacity("filled:Q", scale=None, legend=None),
            shape=alt.Shape("bound:N", scale=shapes, legend=None),
            tooltip=told,
        )
    )
    tall = _TALL * max(1, len(study.encodings))
    return template_of(alt.layer(rule_at("x", 1), points).properties(width=300, height=tall))
