"""Exact match by size: one panel per row of the study, one line per encoding, and what was published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import GridRow, StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.analyses.published import published_for, trained_alike
from lengthwise.analyses.words import listed
from lengthwise.figures import style
from lengthwise.figures.style import alt, hover
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Figure, Record
from lengthwise.studies.cells import Cell

MOST_SIZES = 120
SHOWN = "indexof(hidden, datum.encoding) < 0"


explain(
    {
        "curves.title": "Exact match by size",
        "curves.link": "Curves",
        "curves.text": (
            "One panel per {noun}, one line per encoding: the mean over the seeds shown. Sizes are in "
            "training lengths, so the shaded part up to 1× is what the model was trained on. Bands span the "
            "lowest to the highest seed, or are 95 % Wilson intervals where there is one seed. Dashed: 95 %; "
            "dotted: the best guess that ignores the input."
        ),
        "curves.published": "Thick bars with a diamond: published values after training to a similar length; hover to "
        "see the source.",
        "curves.missing": "No run has finished for {rows}.",
        "curves.thinned": "Curves with more than {most} sizes are drawn at {most} evenly spaced ones.",
        "curves.hint": "Hover for numbers, click the legend to pick one line, drag to move, Shift and scroll to zoom, "
        "double-click to reset.",
        "curves.filters": "The buttons hide and show an encoding in all panels.",
        "curves.words": "Exact match by size for {label}, trained to {train_size}, one line each for {encodings}.",
    }
)


@analyses.register("curves")
@dataclass(frozen=True)
class CurvesAnalysis(Analysis):
    """Exact match by size, task by task."""

    def analyse(self, study: StudyContent) -> Record:
        figures = curve_panels(study) if study.pictures else []
        several = len(study.encodings) > 1
        text = [sentence("curves.text", {"noun": study.noun})]
        if any(figure.data["published"] for figure in figures):
            text.append(sentence("curves.published"))
        if missing := [row.label for row in study.rows if not any(c.done for c in study.row_cells(row).values())]:
            text.append(sentence("curves.missing", {"rows": listed(missing)}))
        if any(len(run.curve.points) > MOST_SIZES for run in study.runs if run.summary):
            text.append(sentence("curves.thinned", {"most": MOST_SIZES}))
        hint = " ".join([sentence("curves.hint"), *([sentence("curves.filters")] if several else [])])
        layout = PageLayout(notes=(*text, hint), filters=study.encodings if several else ())
        return arranged("curves", layout, figures=figures)

    def applies(self, study: StudyContent) -> bool:
        return study.pictures and bool(study.counts["done"])


@dataclass(frozen=True)
class SizeShare:
    """Exact match of a cell at one size: the mean over the seeds shown; least and greatest of several, or Wilson's
    interval of one."""

    size: int
    mean: float
    low: float
    high: float
    seeds: int
    chance: float


def cell_curve(cell: Cell) -> list[SizeShare]:
    """The curve of a cell over the seeds shown, style.thinned where it has very many sizes."""
    found: dict[int, list[tuple[int, int]]] = {}
    chances: dict[int, float] = {}
    for run in cell.shown:
        for point in run.curve.points:
            found.setdefault(point.size, []).append((point.right, point.items))
            chances[point.size] = point.chance
    shares = []
    for size in style.thinned(sorted(found), MOST_SIZES):
        values = [right / items for right, items in found[size]]
        low, high = min(values), max(values)
        if len(values) == 1:
            interval = wilson(*found[size][0])
            low, high = interval.low, interval.high
        shares.append(SizeShare(size, sum(values) / len(values), low, high, len(values), chances[size]))
    return shares


def curve_panels(study: StudyContent) -> list[Figure]:
    """A panel for every row with a finished run."""
    templates = {beside: _template(study, beside) for beside in (False, True)}
    panels = []
    for place, row in enumerate(study.rows):
        found = {encoding: cell for encoding, cell in study.row_cells(row).items() if cell.done}
        if found:
            values = {"label": row.label, "train_size": row.train_size, "encodings": ", ".join(found)}
            words = sentence("curves.words", values)
            data = _data(study, row, found)
            panels.append(Figure(f"curves.{place + 1}", templates[bool(data["published"])], data, row.label, words))
    return panels


def _data(study: StudyContent, row: GridRow, found: dict[str, Cell]) -> dict[str, list[dict[str, Any]]]:
    lines, chance = [], []
    for encoding, cell in found.items():
        shares = cell_curve(cell)
        band = "least to greatest" if max(share.seeds for share in shares) > 1 else "95 % (Wilson)"
        for share in shares:
            own = {"encoding": encoding, "multiple": share.size / row.train_size, "exact": share.mean, "band": band}
            lines.append({**own, **{name: getattr(share, name) for name in ("size", "low", "high", "seeds")}})
        chance = chance or [{"multiple": s.size / row.train_size, "chance": s.chance} for s in shares]
    return {"lines": lines, "chance": chance, "published": _published(study, row, found)}


def _published(study: StudyContent, row: GridRow, found: dict[str, Cell]) -> list[dict[str, Any]]:
    """Published bins in training lengths, of models trained to a like length; the first bin was trained on."""
    bars = []
    for encoding in found:
        curve = published_for(study.facts(row.task), encoding)
        if curve is None or not trained_alike(curve, row.train_size):
            continue
        trained = curve["bins"][0][1]
        for (first, last), value in zip(curve["bins"], curve["exact_match"], strict=False):
            bars.append(
                {
                    "encoding": encoding,
                    "from": (first - 1) / trained,
                    "to": last / trained,
                    "middle": (first - 1 + last) / 2 / trained,
                    "exact": value / 100,
                    "source": f"{curve.get('reference') or 'published'}, sizes {first} to {last}",
                }
            )
    return bars


def _template(study: StudyContent, beside_published: bool) -> dict[str, Any]:
    """Shade, band, 95 %, chance, published values where there are any, lines, and points to hover over."""
    colour, dash = style.coloured_by_encoding(study.encodings)
    picked = alt.selection_point(name="picked", fields=["encoding"], bind="legend")
    zoom = alt.selection_interval(
        name="zoom",
        bind="scales",
        translate="[pointerdown[event.pointerType !== 'touch'], window:pointerup] > window:pointermove!",
        zoom="wheel![event.shiftKey]",  # a page that zooms when one only scrolls past is a nuisance
    )
    x, y = style.multiple_axis("size ÷ training length", zero=True), style.share_axis("exact", "exact match")
    exact = ("exact:Q", "exact match", ".1%")
    told = hover("encoding:N", "size:Q", exact, *style.ends_of(".1%"), ("band:N", "range"), "seeds:Q")
    lines = alt.Chart(alt.NamedData("lines")).transform_filter(SHOWN).encode(x=x, y=y, color=colour)
    band = lines.mark_area(clip=True).encode(y=alt.Y("low:Q", title="exact match"), y2="high:Q", opacity=_faded(0.17))
    drawn = lines.mark_line(strokeWidth=2, strokeJoin="round", clip=True).encode(strokeDash=dash, opacity=_faded(1.0))
    chance = alt.Chart(alt.NamedData("chance")).mark_line(
        strokeDash=[1, 3], strokeWidth=1.5, color=style.GREY, clip=True
    )
    layers = [
        style.shade(0, 1, clip=True),
        style.rule_at("y", 0.95, clip=True),
        chance.encode(x="multiple:Q", y="chance:Q"),
        band,
        *(_published_marks(colour) if beside_published else []),
        drawn.add_params(picked, zoom),
        lines.mark_point(size=50, filled=True, opacity=0, clip=True).encode(tooltip=told),
    ]
    hidden = alt.param(name="hidden", value=[])
    return style.template_of(alt.layer(*layers).add_params(hidden).properties(width=420, height=220))


def _faded(strength: float) -> Any:
    """The opacity of a mark, a tenth where another encoding was picked in the legend."""
    return alt.condition({"param": "picked"}, alt.value(strength), alt.value(strength / 10))


def _published_marks(colour: Any) -> list[Any]:
    """A thick bar over each published bin, and a diamond in its middle."""
    base = alt.Chart(alt.NamedData("published")).transform_filter(SHOWN)
    source = hover("encoding:N", ("exact:Q", "published", ".1%"), "source:N")
    base = base.encode(y="exact:Q", color=colour, tooltip=source)
    return [
        base.mark_rule(strokeWidth=4, clip=True).encode(x="from:Q", x2="to:Q", opacity=_faded(0.45)),
        base.mark_point(shape="diamond", size=70, filled=True, clip=True).encode(x="middle:Q", opacity=_faded(1.0)),
    ]
