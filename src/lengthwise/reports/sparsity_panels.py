"""Pictures of how sparse attention is: exact match and the weight of the best key by size, and reach against entropy,
one colour a setting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.figures.layout import title_lines, wrapping_legend
from lengthwise.reports.content import Content
from lengthwise.reports.curve_panels import cell_curve
from lengthwise.reports.figure import DASHES, Figure, template_of
from lengthwise.reports.sparsity import Group, at_layer, ends, looked_at, over_layers, setting_of, sparsity_groups
from lengthwise.studies.cells import Cell

MATCH, WEIGHT, REACH = "sparsity, exact match", "sparsity, best key", "sparsity, reach"
Rows = list[dict[str, Any]]


def sparsity_panels(content: Content) -> list[Figure]:
    """Three panels for each task and encoding whose attention was looked at."""
    groups = sparsity_groups(content)
    if not groups:
        return []
    settings = list(dict.fromkeys(setting_of(cell) for group in groups for cell in group.cells))
    furthest = max(cell.test_size / cell.train_size for group in groups for cell in group.cells)
    templates = {MATCH: _match(settings), WEIGHT: _weight(settings), REACH: _reach(settings, furthest)}
    panels = []
    for place, group in enumerate(groups, start=1):
        for kind, data, what in (
            (MATCH, _matches(group), "exact match by size"),
            (WEIGHT, _weights(group), "weight of the best key by size"),
            (REACH, _reaches(group), "reach against the entropy of attention"),
        ):
            title = f"{what}: {group.title}"
            words = f"{title}, a colour each for {', '.join(setting_of(cell) for cell in group.cells)}."
            name = f"{kind.replace(', ', '-')}-{place}-{group.task}"
            panels.append(Figure(name, kind, title, words, templates[kind], {"rows": data}))
    return panels


def _matches(group: Group) -> Rows:
    return [
        {
            "setting": setting_of(cell),
            "multiple": share.size / group.train_size,
            "exact": share.mean,
            "size": share.size,
        }
        for cell in group.cells
        for share in cell_curve(cell)
    ]


def _weights(group: Group) -> Rows:
    return [row for cell in group.cells for row in _weights_of(cell)]


def _weights_of(cell: Cell) -> Rows:
    """The mean over the seeds shown at every size and layer."""
    places = sorted({(one.size, one.layer) for run in cell.shown for one in looked_at(run)})
    rows = []
    for size, layer in places:
        found = at_layer(cell, size, layer)
        rows.append(
            {
                "setting": setting_of(cell),
                "layer": layer,
                "size": size,
                "multiple": size / cell.train_size,
                **{
                    name: sum(getattr(one, name) for one in found) / len(found)
                    for name in ("best", "entropy", "uniform")
                },
                "seeds": len(found),
            }
        )
    return rows


def _reaches(group: Group) -> Rows:
    """A point a run, those that are not kept too."""
    rows = []
    for cell in group.cells:
        for run in cell.done:
            size = ends(cell)[0]
            entropy, best = over_layers(run, size, "entropy"), over_layers(run, size, "best")
            if entropy is None or run.summary is None:
                continue
            summary = run.summary
            rows.append(
                {
                    "setting": setting_of(cell),
                    "entropy": entropy,
                    "best": best,
                    "multiple": summary.reach / group.train_size,
                    "bound": "at least" if summary.censored else "reach",
                    "seed": run.seed,
                    "kept": "kept" if run in cell.kept else "discarded",
                    "strength": 0.9 if run in cell.kept else 0.3,
                }
            )
    return rows


def _colour(settings: Sequence[str], symbol: str = "stroke") -> Any:
    """A colour a setting, in their order; colours return after eight. The legend shows lines, or another `symbol`."""
    import altair as alt

    legend = wrapping_legend(settings, 2, symbolType=symbol)
    return alt.Color("setting:N", scale=alt.Scale(domain=list(settings)), legend=legend)


def _x_of_sizes() -> Any:
    import altair as alt

    axis = alt.Axis(tickMinStep=0.5, format="~g", labelExpr="datum.label + '×'", tickCount=6)
    return alt.X("multiple:Q", title="size ÷ training length", scale=alt.Scale(nice=False, zero=True), axis=axis)


def _share(field: str, title: str) -> Any:
    import altair as alt

    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%", tickCount=5))


def _trained() -> Any:
    """The training range, shaded."""
    import altair as alt

    shade = alt.Chart(alt.Data(values=[{"from": 0, "to": 1}])).mark_rect(color="#888888", opacity=0.13)
    return shade.encode(x="from:Q", x2="to:Q")


def _match(settings: Sequence[str]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData("rows")).encode(
        x=_x_of_sizes(),
        y=_share("exact", "exact match"),
        color=_colour(settings),
        tooltip=[
            alt.Tooltip("setting:N"),
            alt.Tooltip("size:Q"),
            alt.Tooltip("exact:Q", title="exact match", format=".1%"),
        ],
    )
    lines = base.mark_line(strokeWidth=2, strokeJoin="round")
    return template_of(
        alt.layer(_trained(), lines, base.mark_point(size=50, opacity=0)).properties(width=420, height=220)
    )


def _weight(settings: Sequence[str]) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData("rows")).encode(
        x=_x_of_sizes(),
        y=_share("best", "weight of the best key"),
        color=_colour(settings),
        tooltip=[
            alt.Tooltip("setting:N"),
            alt.Tooltip("layer:Q"),
            alt.Tooltip("size:Q"),
            alt.Tooltip("best:Q", title="weight of the best key", format=".1%"),
            alt.Tooltip("entropy:Q", title="entropy (nats)", format=".3f"),
            alt.Tooltip("uniform:Q", title="if all keys weighed the same", format=".3f"),
            alt.Tooltip("seeds:Q"),
        ],
    )
    dash = alt.StrokeDash("layer:N", scale=alt.Scale(range=DASHES), legend=wrapping_legend(range(8), 8, title="layer"))
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dash)
    points = base.mark_point(size=40, filled=True)
    return template_of(alt.layer(_trained(), lines, points).properties(width=420, height=220))


def _reach(settings: Sequence[str], furthest: float) -> dict[str, Any]:
    import altair as alt

    shape = alt.Shape(
        "bound:N", scale=alt.Scale(domain=["reach", "at least"], range=["circle", "triangle-up"]), legend=None
    )
    points = (
        alt.Chart(alt.NamedData("rows"))
        .mark_point(size=70, filled=True)
        .encode(
            x=alt.X("entropy:Q", title=title_lines("entropy of attention at the end of the training range (nats)")),
            y=alt.Y(
                "multiple:Q", title="reach ÷ training length", scale=alt.Scale(domain=[0, furthest * 1.04], nice=False)
            ),
            color=_colour(settings, "circle"),
            opacity=alt.Opacity("strength:Q", scale=None, legend=None),
            shape=shape,
            tooltip=[
                alt.Tooltip("setting:N"),
                alt.Tooltip("seed:Q"),
                alt.Tooltip("entropy:Q", title="entropy (nats)", format=".3f"),
                alt.Tooltip("best:Q", title="weight of the best key", format=".1%"),
                alt.Tooltip("multiple:Q", title="reach ÷ training length", format=".2f"),
                alt.Tooltip("bound:N", title="the reach is"),
                alt.Tooltip("kept:N", title="seed is"),
            ],
        )
    )
    return template_of(alt.layer(points).properties(width=420, height=220))
