"""What a training run could guarantee.

The gap between training loss and the loss on new tokens that an empirical Freedman bound could promise, by the number
of training tokens, for three model sizes at 3 bits per weight.
"""

import sys

import altair as alt

from lengthwise.bounds.plan import GuaranteePlan
from lengthwise.bounds.plan_methods import FreedmanMethod, TrainingRun

rows = []
for name, params in (("100 million", 1e8), ("1 billion", 1e9), ("7 billion", 7e9)):
    for step in range(25):
        tokens = 10 ** (9 + step / 6)
        run = TrainingRun(params=params, tokens=tokens, bits=3, vocabulary=50_000)
        rows.append(
            {
                "parameters": name,
                "tokens": tokens,
                "gap": GuaranteePlan(run, FreedmanMethod(), loss=2.2).gap,
            }
        )
chart = (
    alt.Chart(alt.Data(values=rows), width=380, height=240)
    # Fonts of other machines are wider.
    .properties(padding={"left": 5, "top": 5, "bottom": 5, "right": 30})
    .mark_line()
    .encode(
        x=alt.X(
            "tokens:Q",
            title="training tokens",
            scale=alt.Scale(type="log"),
            axis=alt.Axis(format="~s"),
        ),
        y=alt.Y("gap:Q", title="gap, nats per token", scale=alt.Scale(type="log")),
        color=alt.Color("parameters:N", sort=None),
    )
)
chart.save(sys.argv[1])
