"""How far longer brackets are from short ones.

The Wasserstein-1 distance between bracket strings of size 6 and of larger sizes, in shares of tokens edited. The dashed
line is the distance of two samples of one distribution: noise alone gives that much.
"""

import sys

import altair as alt

import lengthwise as lw

source, rows = lw.task_sample("dyck_k", 6, items=60), []
for size in (6, 8, 10, 14, 18):
    target = lw.task_sample("dyck_k", size, items=60, role="second")
    shift = lw.measure_shift(source, target, "edit", resamples=20)
    rows.append(
        {
            "size": size,
            "distance": shift.distance.value,
            "noise": shift.noise[0].value,
        }
    )
base = alt.Chart(alt.Data(values=rows), width=380, height=220).encode(x=alt.X("size:Q", title="size of the test"))
measured = base.mark_line(point=True).encode(y=alt.Y("distance:Q", title="distance from size 6"))
noise = base.mark_line(strokeDash=[4, 4], color="#888").encode(y="noise:Q")
(measured + noise).save(sys.argv[1])
