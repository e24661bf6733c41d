"""Verdicts before training: the Tomita languages.

`lw.check` decides for each language and encoding whether a solution exists that works at every length. Nothing is
trained.
"""

import sys

import altair as alt

import lengthwise as lw

rows = [
    {"language": f"Tomita {number}", "encoding": encoding, "verdict": verdict.outlook}
    for number in range(1, 8)
    for encoding, verdict in lw.check(f"tomita_{number}").verdicts.items()
]
colours = alt.Scale(
    domain=["can hold", "cannot hold", "unknown"],
    range=["#2a9d8f", "#d1495b", "#c9c9c9"],
)
chart = (
    alt.Chart(alt.Data(values=rows), width=300, height=210)
    # Fonts of other machines are wider.
    .properties(padding={"left": 5, "top": 5, "bottom": 5, "right": 30})
    .mark_rect(stroke="white", strokeWidth=2)
    .encode(
        x=alt.X("encoding:N", title=None, axis=alt.Axis(labelAngle=0), sort=None),
        y=alt.Y("language:N", title=None),
        color=alt.Color("verdict:N", scale=colours, title=None),
    )
)
chart.save(sys.argv[1])
