"""A budget for keys: how much attention each key receives.

With softmax (tau = 0) some keys receive far more than others. `sinkhorn` pulls every key towards the same share; with
tau = ∞ all receive exactly 1.
"""

import sys

import altair as alt
import torch

from lengthwise.geometry import sinkhorn_attention

torch.manual_seed(0)
query, key, value = (2 * torch.randn(1, 1, 16, 8) for _ in range(3))
rows = []
for name, tau in (("0 (softmax)", 0.0), ("1", 1.0), ("∞", float("inf"))):
    _, coupling = sinkhorn_attention(query, key, value, tau=tau)
    for place, received in enumerate(coupling.weights[0, 0].sum(dim=0).tolist()):
        rows.append({"tau": name, "key": place, "received": round(received, 4)})
chart = (
    alt.Chart(alt.Data(values=rows), width=150, height=160)
    .mark_bar()
    .encode(
        x=alt.X("key:O", axis=alt.Axis(labels=False, ticks=False)),
        y=alt.Y("received:Q", title="attention received"),
        column=alt.Column("tau:N", title="tau", sort=None),
    )
)
chart.save(sys.argv[1])
