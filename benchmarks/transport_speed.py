"""Exact W1 between two clouds of points: ours against `ot.emd2`, and how the time grows with their number.

Both sides get the same points and end at the same distance (checked to 1e-9). Each solves in a process of its own, with
one thread. The time goes from the points to the distance: for POT the cost matrix (scipy's `cdist`) and the network
simplex with as many iterations as it wants, for ours the solution and its verification over all pairs. Imports are
not counted, nor is compiling ours, which happens once on a machine: it is called on a few points first. Memory is the
peak of the whole process, with the libraries; POT is kept from importing torch.

The picture of the growth is written beside the table, to runs/bench/transport_speed.svg.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from rows import Row, standalone

from lengthwise.errors import LengthwiseError, UsageError

PICTURE = Path(__file__).resolve().parent.parent / "runs" / "bench" / "transport_speed.svg"
FASTER, SMALLER, GIBIBYTES, GAP = 8.0, 4.0, 8.0, 1e-6

POINTS = """
import json, resource, sys, time
import numpy as np
count, dimension = int(sys.argv[1]), int(sys.argv[2])
generator = np.random.default_rng(0)
x, y = generator.normal(size=(count, dimension)), generator.normal(size=(count, dimension)) + 0.3
def tell(value, seconds, gap):
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20 if sys.platform != "darwin" else 1 << 30)
    print(json.dumps({"value": value, "seconds": seconds, "gap": gap, "gibibytes": memory}))
"""
OURS = """
from lengthwise.transport.problem import Problem, VectorCost
from lengthwise.transport.solving import solve
solve(Problem(VectorCost(x[:400], y[:400])), "sparse")
began = time.perf_counter()
found = solve(Problem(VectorCost(x, y))).certificate
seconds = time.perf_counter() - began
assert found.status == "holds", found.why
tell(found.primal, seconds, found.relative_gap)
"""
POT = """
import warnings
warnings.simplefilter("error")
import ot
from scipy.spatial.distance import cdist
began = time.perf_counter()
weights = np.full(count, 1 / count)
value = ot.emd2(weights, weights, cdist(x, y), numItermax=10**9)
tell(float(value), time.perf_counter() - began, None)
"""


def solved(script: str, count: int, dimension: int) -> dict[str, Any]:
    """What one side says of one problem, in a process of its own."""
    threads = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}
    backends = {f"POT_BACKEND_DISABLE_{name}": "1" for name in ("PYTORCH", "JAX", "TENSORFLOW", "CUPY")}
    words = [sys.executable, "-c", POINTS + script, str(count), str(dimension)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, **threads, **backends})
    if done.returncode:
        raise LengthwiseError(
            f"{count} points in {dimension} dimensions failed: {done.stderr.strip().splitlines()[-1]}"
        )
    return json.loads(done.stdout.splitlines()[-1])


def compared(count: int, dimension: int) -> tuple[dict[str, Any], dict[str, Any]]:
    ours, peer = solved(OURS, count, dimension), solved(POT, count, dimension)
    if abs(ours["value"] - peer["value"]) > 1e-9 * peer["value"]:
        raise LengthwiseError(f"ours gives {ours['value']!r} and POT {peer['value']!r} for {count} points")
    return ours, peer


def write_picture(growth: list[dict[str, Any]]) -> None:
    """Seconds against points, both in logarithms, a line for each side."""
    import altair
    import vl_convert

    scale = altair.Scale(type="log")
    chart = altair.Chart(altair.Data(values=growth), width=420, height=260, title="Exact W1 in 5 dimensions")
    lines = chart.mark_line(point=True).encode(
        x=altair.X("points:Q", scale=scale, title="points in each sample"),
        y=altair.Y("seconds:Q", scale=scale, title="seconds, one thread"),
        color=altair.Color("solver:N", title=None, scale=altair.Scale(range=["#0072B2", "#D55E00"])),
    )
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(vl_convert.vegalite_to_svg(lines.to_json()), encoding="utf-8")


def rows(quick: bool = False) -> list[Row]:
    if any(importlib.util.find_spec(name) is None for name in ("ot", "numba")):
        raise UsageError("this benchmark needs POT and numba: pip install 'lengthwise[bench,ot]'")
    counts, alone, wide = ([500, 1000], 2000, 500) if quick else ([1000, 2000, 5000, 10_000], 30_000, 5000)
    growth, table = [], []
    for count in counts:
        ours, peer = compared(count, 5)
        growth += [{"solver": name, "points": count, "seconds": found["seconds"]} for name, found in _sides(ours, peer)]
        judged = count == counts[-1] and not quick
        what, ratio = f"W1 of {count:,} points in 5 dimensions", peer["seconds"] / ours["seconds"]
        target = FASTER if judged else None
        table.append(Row(what, ours["seconds"], "s", peer["seconds"], "ot.emd2", ratio, least=target))
        if count == counts[-1]:
            ratio, target = peer["gibibytes"] / ours["gibibytes"], SMALLER if judged else None
            one, other = ours["gibibytes"], peer["gibibytes"]
            table.append(Row("  its peak memory", one, "GiB", other, "ot.emd2", ratio, least=target))
    ours, peer = compared(wide, 16)
    what = f"W1 of {wide:,} points in 16 dimensions"
    table.append(Row(what, ours["seconds"], "s", peer["seconds"], "ot.emd2", peer["seconds"] / ours["seconds"]))
    ours = solved(OURS, alone, 5)
    growth.append({"solver": "lengthwise", "points": alone, "seconds": ours["seconds"]})
    table.append(Row(f"W1 of {alone:,} points in 5 dimensions", ours["seconds"], "s"))
    table.append(Row("  its peak memory", ours["gibibytes"], "GiB", most=None if quick else GIBIBYTES))
    table.append(Row("  its relative gap", ours["gap"], "", most=None if quick else GAP))
    write_picture(growth)
    return table


def _sides(ours: dict[str, Any], peer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [("lengthwise", ours), ("ot.emd2", peer)]


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
