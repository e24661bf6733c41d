"""Does the encoding matter? The paired difference of what a shift costs on every axis, with its interval."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.findings.encoding import EncodingEffect, Encodings, trained_at_offsets
from lengthwise.findings.grouping import IN_RANGE, LEARNED
from lengthwise.reports.figure import Figure, template_of
from lengthwise.reports.ladder.section import Panel, Section

MOST_PAIRS = 15


def encoding_section(result: Encodings) -> Section | None:
    """A panel a pair of encodings; None where no two could be compared."""
    pairs: dict[tuple[str, str], list[EncodingEffect]] = {}
    for effect in result.effects:
        if effect.difference is not None:
            pairs.setdefault((effect.first, effect.second), []).append(effect)
    if not pairs:
        return None
    shown = dict(list(pairs.items())[:MOST_PAIRS])
    template = _template(max(len(effects) for effects in shown.values()))
    panels = tuple(
        Panel(_figure(number, first, second, effects, template))
        for number, ((first, second), effects) in enumerate(shown.items())
    )
    text = (
        "The first encoding minus the second, over pairs of models alike in everything else. In range, the risks of "
        "all pairs are compared. Beyond training, the increase over the risk in range is, and only where both models "
        f"of a pair learned their range (a risk of {LEARNED:g} or less there): a model that never learned has nothing "
        "to lose. Left of the line the first is better, right of it the second. Bars are 95 % intervals.",
        *(f"{note}." for note in trained_at_offsets(dict.fromkeys(_names(result)), _names(result))),
    )
    if len(pairs) > len(shown):
        text = (*text, f"Of {len(pairs)} pairs the first {len(shown)} are drawn; the claims have all.")
    return Section("encodings", "The encoding, pair by pair", "Encodings", text, panels=panels, three=len(panels) > 2)


def _names(result: Encodings) -> list[str]:
    return [name for effect in result.effects for name in (effect.first, effect.second)]


def _figure(
    number: int, first: str, second: str, effects: Sequence[EncodingEffect], template: dict[str, Any]
) -> Figure:
    title = f"{first} minus {second}"
    words = f"{title}: the difference of the risk in range and of its increase beyond, with intervals."
    rows = [_row(effect) for effect in effects]
    return Figure(f"encodings-{number + 1}-{title}", "encodings", title, words, template, {"effects": rows})


def _row(effect: EncodingEffect) -> dict[str, Any]:
    difference = effect.difference or 0.0
    interval = effect.claim.interval
    p_value = effect.claim.evidence.get("p_value")
    return {
        "place": effect.place,
        "difference": 100 * difference,
        "low": 100 * (interval.low if interval else difference),
        "high": 100 * (interval.high if interval else difference),
        "measure": "risk" if effect.place == IN_RANGE else "increase of the risk",
        "pairs": f"{effect.pairs} of {effect.measured}",
        "p": f"{p_value:.3g}" if isinstance(p_value, float) else "–",
    }


def _template(places: int) -> dict[str, Any]:
    import altair as alt

    base = alt.Chart(alt.NamedData("effects"))
    y = alt.Y("place:N", title=None, sort=None)
    told = [
        alt.Tooltip("place:N"),
        alt.Tooltip("difference:Q", title="difference (percentage points)", format=".2f"),
        alt.Tooltip("low:Q", title="95 % from", format=".2f"),
        alt.Tooltip("high:Q", title="95 % to", format=".2f"),
        alt.Tooltip("measure:N", title="compared"),
        alt.Tooltip("pairs:N"),
        alt.Tooltip("p:N"),
    ]
    title = "difference (percentage points)"
    zero = alt.Chart(alt.Data(values=[{"at": 0}])).mark_rule(color="#888888", strokeDash=[4, 4]).encode(x="at:Q")
    bars = base.mark_rule(strokeWidth=2.5, color="#0072B2").encode(
        y=y, x=alt.X("low:Q", title=title), x2="high:Q", tooltip=told
    )
    points = base.mark_point(filled=True, size=70, color="#0072B2", opacity=1).encode(
        y=y, x=alt.X("difference:Q", title=title), tooltip=told
    )
    return template_of(alt.layer(zero, bars, points).properties(width=330, height=34 * places))
