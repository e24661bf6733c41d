"""How many tasks still hold, by encoding.

Of the runs of the atlas that learned their training range, the share with exact match of 95 % or more at a multiple of
the training size.
"""

import sys

import altair as alt

import lengthwise as lw

runs = lw.atlas().select(model="transformer", learned=True, seed=0).runs
encodings = ("none", "learned", "learned+offset", "rope", "alibi", "t5")
rows = []
for encoding in encodings:
    for multiple in (1, 2, 4, 8):
        scores = [run.exact_at(multiple) for run in runs if run.position == encoding]
        known = [score for score in scores if score is not None]
        rows.append(
            {
                "encoding": encoding,
                "multiple": multiple,
                "share": sum(s >= 0.95 for s in known) / len(known),
            }
        )
chart = (
    alt.Chart(alt.Data(values=rows), width=380, height=240)
    # Fonts of other machines are wider.
    .properties(padding={"left": 5, "top": 5, "bottom": 5, "right": 30})
    .mark_line(point=True)
    .encode(
        x=alt.X(
            "multiple:Q",
            title="size ÷ training size",
            scale=alt.Scale(type="log", base=2),
            axis={"values": [1, 2, 4, 8]},
        ),
        y=alt.Y(
            "share:Q",
            title="share of tasks",
            axis=alt.Axis(format="%"),
            scale=alt.Scale(domain=[0, 1]),
        ),
        color=alt.Color("encoding:N", sort=encodings),
    )
)
chart.save(sys.argv[1])
