"""How far back ALiBi sees.

The largest share of attention that keys at a distance or further away can have together, for four slopes and logits
that differ by at most 5. Beyond its horizon a head cannot use what it read.
"""

import sys

import altair as alt

from lengthwise.oracle.horizons import alibi_tail

rows = [
    {
        "slope": f"1/{round(1 / slope)}",
        "distance": distance,
        "share": alibi_tail(slope, 5.0, distance),
    }
    for slope in (1 / 2, 1 / 8, 1 / 32, 1 / 128)
    for distance in (round(2 ** (step / 4)) for step in range(45))
]
chart = (
    alt.Chart(alt.Data(values=rows), width=380, height=220)
    .mark_line()
    .encode(
        x=alt.X(
            "distance:Q",
            title="distance in tokens",
            scale=alt.Scale(type="log", base=2),
        ),
        y=alt.Y("share:Q", title="share of attention, at most", axis=alt.Axis(format="%")),
        color=alt.Color("slope:N", sort=None),
    )
)
chart.save(sys.argv[1])
