"""How many items a measurement takes.

The 95 % interval (Wilson) of exact match when 95 % of the items are right, by the number of items. With 73 items and no
mistake at all, the interval begins above 95 %.
"""

import sys

import altair as alt

from lengthwise.probes.curve.standard import wilson

rows = []
for items in (20, 40, 60, 100, 200, 400, 600, 1000, 2000):
    interval = wilson(round(0.95 * items), items)
    rows.append({"items": items, "low": interval.low, "high": interval.high})
base = alt.Chart(alt.Data(values=rows), width=380, height=200)
x = alt.X(
    "items:Q",
    title="items per size",
    scale=alt.Scale(type="log"),
    axis={"values": [20, 60, 200, 600, 2000]},
)
y = alt.Y(
    "low:Q",
    title="exact match",
    axis=alt.Axis(format="%"),
    scale=alt.Scale(domain=[0.7, 1]),
)
band = base.mark_area(opacity=0.3).encode(x=x, y=y, y2="high:Q")
line = alt.Chart(alt.Data(values=[{"y": 0.95}])).mark_rule(strokeDash=[4, 4]).encode(y="y:Q")
(band + line).save(sys.argv[1])
