"""Exact match by size, one panel a row of the study and one line an encoding, beside what was published."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from lengthwise.probes.curve.intervals import wilson
from lengthwise.reports.content import Content, Row
from lengthwise.reports.figure import Figure, coloured_by_encoding, template_of, thinned
from lengthwise.reports.published import published_for, trained_alike
from lengthwise.studies.cells import Cell

KIND = "curves"
MOST_SIZES = 120
SHOWN = "indexof(hidden, datum.encoding) < 0"


@dataclass(frozen=True)
class Share:
    """Exact match of a cell at one size: the mean over the seeds shown; least and greatest of several, or Wilson's
    interval of one."""

    size: int
    mean: float
    low: float
    high: float
    seeds: int
    chance: float


def cell_curve(cell: Cell) -> list[Share]:
    """The curve of a cell over the seeds shown, thinned where it has very many sizes."""
    found: dict[int, list[tuple[int, int]]] = {}
    chances: dict[int, float] = {}
    for run in cell.shown:
        columns = run.detail["curve"]
        for size, right, items, chance in zip(*(columns[n] for n in ("size", "right", "items", "chance")), strict=True):
            found.setdefault(size, []).append((right, items))
            chances[size] = chance
    shares = []
    for size in thinned(sorted(found), MOST_SIZES):
        values = [right / items for right, items in found[size]]
        low, high = min(values), max(values)
        if len(values) == 1:
            interval = wilson(*found[size][0])
            low, high = interval.low, interval.high
        shares.append(Share(size, sum(values) / len(values), low, high, len(values), chances[size]))
    return shares


def curve_panels(content: Content) -> list[Figure]:
    """A panel for every row with a finished run."""
    templates = {beside: _template(content, beside) for beside in (False, True)}
    panels = []
    for place, row in enumerate(content.rows):
        found = {encoding: cell for encoding, cell in content.row_cells(row).items() if cell.done}
        if found:
            words = (
                f"Exact match by size for {row.label}, trained to {row.train_size}, a line each for {', '.join(found)}."
            )
            data = _data(content, row, found)
            beside = bool(data["published"])
            kind = f"{KIND} beside published" if beside else KIND
            name = f"curves-{place + 1}-{row.label}"
            panels.append(Figure(name, kind, row.label, words, templates[beside], data))
    return panels


def _data(content: Content, row: Row, found: dict[str, Cell]) -> dict[str, list[dict[str, Any]]]:
    lines, chance = [], []
    for encoding, cell in found.items():
        shares = cell_curve(cell)
        band = "least to greatest" if max(share.seeds for share in shares) > 1 else "95 % (Wilson)"
        for share in shares:
            lines.append(
                {
                    "encoding": encoding,
                    "multiple": share.size / row.train_size,
                    "size": share.size,
                    "exact": share.mean,
                    "low": share.low,
                    "high": share.high,
                    "seeds": share.seeds,
                    "band": band,
                }
            )
        chance = chance or [{"multiple": s.size / row.train_size, "chance": s.chance} for s in shares]
    return {"lines": lines, "chance": chance, "published": _published(content, row, found)}


def _published(content: Content, row: Row, found: dict[str, Cell]) -> list[dict[str, Any]]:
    """Published bins in training lengths, of models trained to a like length; the first bin was trained on."""
    bars = []
    for encoding in found:
        curve = published_for(content.facts(row.task), encoding)
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


def _template(content: Content, beside_published: bool) -> dict[str, Any]:
    """Shade, band, 95 %, chance, published values where there are any, lines, and points to hover over."""
    import altair as alt

    colour, dash = coloured_by_encoding(content.encodings)
    picked = alt.selection_point(name="picked", fields=["encoding"], bind="legend")
    zoom = alt.selection_interval(
        name="zoom",
        bind="scales",
        translate="[pointerdown[event.pointerType !== 'touch'], window:pointerup] > window:pointermove!",
        zoom="wheel![event.shiftKey]",  # a page that zooms when one only scrolls past is a nuisance
    )
    hidden = alt.param(name="hidden", value=[])
    x = alt.X(
        "multiple:Q",
        title="size ÷ training length",
        scale=alt.Scale(nice=False, zero=True),
        axis=alt.Axis(tickMinStep=0.5, format="~g", labelExpr="datum.label + '×'", tickCount=6),
    )
    y = alt.Y("exact:Q", title="exact match", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))
    lines = alt.Chart(alt.NamedData("lines")).transform_filter(SHOWN).encode(x=x, y=y, color=colour)
    band = lines.mark_area(clip=True).encode(y=alt.Y("low:Q", title="exact match"), y2="high:Q", opacity=_faded(0.17))
    drawn = lines.mark_line(strokeWidth=2, strokeJoin="round", clip=True).encode(strokeDash=dash, opacity=_faded(1.0))
    layers = [
        *_background(),
        band,
        *(_published_marks(colour) if beside_published else []),
        drawn.add_params(picked, zoom),
        lines.mark_point(size=50, filled=True, opacity=0, clip=True).encode(tooltip=_hover()),
    ]
    return template_of(alt.layer(*layers).add_params(hidden).properties(width=420, height=220))


def _faded(strength: float) -> Any:
    """The opacity of a mark, a tenth where another encoding was picked in the legend."""
    import altair as alt

    return alt.condition({"param": "picked"}, alt.value(strength), alt.value(strength / 10))


def _background() -> list[Any]:
    """The training range, 95 %, and chance."""
    import altair as alt

    trained = alt.Chart(alt.Data(values=[{"from": 0, "to": 1}])).mark_rect(color="#888888", opacity=0.13, clip=True)
    bar = alt.Chart(alt.Data(values=[{"bar": 0.95}])).mark_rule(strokeDash=[4, 4], color="#888888", clip=True)
    chance = alt.Chart(alt.NamedData("chance"))
    dots = chance.mark_line(strokeDash=[1, 3], strokeWidth=1.5, color="#888888", clip=True)
    return [
        trained.encode(x="from:Q", x2="to:Q"),
        bar.encode(y="bar:Q"),
        dots.encode(x="multiple:Q", y="chance:Q"),
    ]


def _published_marks(colour: Any) -> list[Any]:
    """A thick bar over each published bin, and a diamond in its middle."""
    import altair as alt

    base = alt.Chart(alt.NamedData("published")).transform_filter(SHOWN)
    source = [
        alt.Tooltip("encoding:N"),
        alt.Tooltip("exact:Q", title="published", format=".1%"),
        alt.Tooltip("source:N"),
    ]
    base = base.encode(y="exact:Q", color=colour, tooltip=source)
    return [
        base.mark_rule(strokeWidth=4, clip=True).encode(x="from:Q", x2="to:Q", opacity=_faded(0.45)),
        base.mark_point(shape="diamond", size=70, filled=True, clip=True).encode(x="middle:Q", opacity=_faded(1.0)),
    ]


def _hover() -> list[Any]:
    import altair as alt

    return [
        alt.Tooltip("encoding:N"),
        alt.Tooltip("size:Q"),
        alt.Tooltip("exact:Q", title="exact match", format=".1%"),
        alt.Tooltip("low:Q", title="from", format=".1%"),
        alt.Tooltip("high:Q", title="to", format=".1%"),
        alt.Tooltip("band:N", title="range"),
        alt.Tooltip("seeds:Q"),
    ]
