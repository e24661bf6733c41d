"""Tokens on a circle attract each other.

Depth is time: 32 tokens start at random, gather in a few clusters and stay there for a long time. Each line shows
one token.
"""

import sys

import altair as alt
import numpy as np

from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.system import System

times = np.linspace(0, 12, 61)
path = simulate(System("SA", beta=9.0), uniform(32, 2, seed=1), times=times)
angles = np.unwrap(np.arctan2(path.points[..., 1], path.points[..., 0]), axis=0)
rows = [
    {
        "time": round(float(time), 3),
        "token": token,
        "angle": round(float(angles[step, token]), 4),
    }
    for step, time in enumerate(times)
    for token in range(angles.shape[1])
]
chart = (
    alt.Chart(alt.Data(values=rows), width=420, height=240)
    .mark_line(strokeWidth=1.2, opacity=0.8)
    .encode(
        x=alt.X("time:Q", title="time (depth)"),
        y=alt.Y("angle:Q", title="angle"),
        detail="token:N",
        color=alt.Color("token:Q", legend=None, scale=alt.Scale(scheme="sinebow")),
    )
)
chart.save(sys.argv[1])
