"""Training curves: the loss and the share of in-range items right by step, one line per run, of as many runs as a
reader can distinguish."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.curves import SHOWN
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.words import counted
from lengthwise.figures.style import alt, coloured_by_encoding, hover, share_axis, template_of, thinned, whole_axis
from lengthwise.messages import explain, sentence
from lengthwise.records import Figure, Record
from lengthwise.studies.record import RunRecord

MOST_LINES = 240
MOST_STEPS = 60

Measure = Literal["loss", "share"]
MEASURES: tuple[Measure, ...] = ("loss", "share")

explain(
    {
        "training.title": "Training curves",
        "training.link": "Training",
        "training.loss": "training loss",
        "training.share": "in-range items right",
        "training.none_done": "No run has finished yet.",
        "training.all": "All {runs}, one line each.",
        "training.some": "Of {runs}, {drawn:,} are drawn: the first seed of evenly spaced cells.",
        "training.panel": "{label}: {what}",
        "training.words": "{what} by step for {label}, one line per run, coloured by encoding.",
    }
)


@analyses.register("training")
@dataclass(frozen=True)
class TrainingAnalysis(Analysis):
    """How training went, run by run."""

    def analyse(self, study: StudyContent) -> Record:
        drawn, done = len(drawn_runs(study)), study.counts["done"]
        key = "training.none_done" if not done else "training.all" if drawn == done else "training.some"
        text = sentence(key, {"runs": counted(done, "finished run"), "drawn": drawn})
        figures = tuple(training_panels(study)) if study.pictures else ()
        filters = study.encodings if figures and len(study.encodings) > 1 else ()
        return arranged("training", PageLayout(notes=(text,), filters=filters), figures=figures)

    def applies(self, study: StudyContent) -> bool:
        return study.pictures and bool(study.runs)


def drawn_runs(study: StudyContent) -> list[RunRecord]:
    """The finished runs whose training is drawn: all; else the first seed of each cell; else some of these."""
    done = [run for cell in study.cells for run in cell.done]
    if len(done) <= MOST_LINES:
        return done
    return thinned([cell.done[0] for cell in study.cells if cell.done], MOST_LINES)


def training_panels(study: StudyContent) -> list[Figure]:
    """Two panels per row of the study: loss, and share right."""
    runs = {run.key for run in drawn_runs(study)}
    templates = {measure: _template(study, measure) for measure in MEASURES}
    panels = []
    for place, row in enumerate(study.rows):
        chosen = [run for cell in study.row_cells(row).values() for run in cell.done if run.key in runs]
        for measure in MEASURES:
            data = [point for run in chosen for point in _points(run, measure)]
            values = {"label": row.label, "what": sentence(f"training.{measure}")}
            if data:
                key, title = f"training.{measure}.{place + 1}", sentence("training.panel", values)
                words = sentence("training.words", values)
                panels.append(Figure(key, templates[measure], {"steps": data}, title, words))
    return panels


def _points(run: RunRecord, measure: Measure) -> list[dict[str, Any]]:
    entries = thinned(run.losses if measure == "loss" else run.checks, MOST_STEPS)
    if measure == "loss":
        entries = [(step, value) for step, value in entries if value > 0]  # the axis is logarithmic
    return [
        {"encoding": run.position, "run": run.key, "seed": run.seed, "step": step, "value": float(value)}
        for step, value in entries
    ]


def _template(study: StudyContent, measure: Measure) -> dict[str, Any]:
    title, colour, dash = sentence(f"training.{measure}"), *coloured_by_encoding(study.encodings)
    picked = alt.selection_point(name="picked", fields=["encoding"], bind="legend")
    losses = alt.Y("value:Q", title=title, scale=alt.Scale(type="log", nice=False), axis=alt.Axis(tickCount=5))
    base = (
        alt.Chart(alt.NamedData("steps"))
        .transform_filter(SHOWN)
        .encode(
            x=alt.X("step:Q", title="training step", axis=whole_axis(tickCount=5)),
            y=losses if measure == "loss" else share_axis("value", title),
            color=colour,
            detail="run:N",
        )
    )
    told = hover("encoding:N", "seed:Q", "step:Q", ("value:Q", title, ".3g" if measure == "loss" else ".1%"))
    lines = base.mark_line(strokeWidth=1.4, strokeJoin="round").encode(
        strokeDash=dash, opacity=alt.condition(picked, alt.value(0.9), alt.value(0.06))
    )
    points = base.mark_point(size=40, filled=True).encode(opacity=alt.value(0), tooltip=told)
    layers = alt.layer(lines.add_params(picked), points).add_params(alt.param(name="hidden", value=[]))
    return template_of(layers.properties(width=340, height=170))
