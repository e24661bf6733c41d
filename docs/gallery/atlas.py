"""What the atlas measured: named tasks and encodings.

Exact match at twice the training size, from runs that ship with the package. Empty cells were not learned in their
training range, so they say nothing about length.
"""

import sys

import altair as alt

import lengthwise as lw

rows = [
    {"task": run.task, "encoding": run.position, "exact": run.exact_at(2)}
    for run in lw.atlas().select(group="named", model="transformer", learned=True, seed=0).runs
]
chart = (
    alt.Chart(alt.Data(values=rows))
    # Fonts of other machines are wider.
    .properties(padding={"left": 60, "top": 5, "bottom": 30, "right": 30})
    .mark_rect()
    .encode(
        x=alt.X("encoding:N", title=None, axis=alt.Axis(labelAngle=-40)),
        y=alt.Y("task:N", title=None),
        color=alt.Color(
            "exact:Q",
            title="exact match",
            scale=alt.Scale(scheme="viridis", domain=[0, 1]),
        ),
    )
)
chart.save(sys.argv[1])
