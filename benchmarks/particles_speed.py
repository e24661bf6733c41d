"""Tokens as particles: the velocities of n = 4,096 tokens in 64 dimensions against the two matrix products in them.

The peer is X X^T and (X X^T) X alone, into memory that is there already, by whichever is faster: all at once, or 256
rows at a time so that the block stays in the cache. The ratio is the share of that speed which remains with the
exponentials, the normalisation and the projection. A step of the integrator is six velocities (it knows the first of
its seven slopes) and is set against six pairs of products. All run in this process with one thread, in turns; the best
of several repetitions counts on either side, in seconds of the processor, since only other work makes one slower. The
memory is what a process of its own takes at its peak beyond what it has with the libraries loaded and the points made.
"""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable

import torch
from rows import Row, standalone

from lengthwise.errors import LengthwiseError
from lengthwise.geometry.particles.integrate import step
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.system import System

SHARE = 0.4
MATRICES = 3.0  # n x n arrays: "a few"
ROWS = 256
BETA = 9.0
MEMORY = """
import resource, sys, torch
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.system import System
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
torch.set_num_threads(1)
x = uniform(int(sys.argv[2]), int(sys.argv[3]), 0)
system = System(sys.argv[1], 9.0)
system.velocity(x[:256])
before = peak()
system.velocity(x)
print(peak() - before)
"""


def products(x: torch.Tensor) -> dict[str, Callable[[], object]]:
    """The matrix products alone, all at once and by blocks of rows."""
    n = len(x)
    scores, out = x.new_empty(n, n), torch.empty_like(x)

    def at_once() -> None:
        torch.matmul(torch.matmul(x, x.mT, out=scores), x, out=out)

    def by_rows() -> None:
        for first in range(0, n, ROWS):
            block = torch.matmul(x[first : first + ROWS], x.mT, out=scores[:ROWS])
            torch.matmul(block, x, out=out[first : first + ROWS])

    return {"at once": at_once, "by rows": by_rows}


def best_in_turns(works: dict[str, Callable[[], object]], repetitions: int) -> dict[str, float]:
    """The least seconds of each, measured in turns so that a busy minute meets all of them."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repetitions + 1):  # the first turn warms up; being slower, it never counts
        for name, work in works.items():
            began = time.process_time()
            work()
            best[name] = min(best[name], time.process_time() - began)
    return best


def measured(n: int, d: int, dtype: torch.dtype, repetitions: int, target: float | None) -> list[Row]:
    """Velocities of both systems, and a whole step in float64, the type that `simulate` uses."""
    x = uniform(n, d, 0).to(dtype)
    works = products(x)
    systems = {kind: System(kind, BETA) for kind in ("SA", "USA")}
    for kind, system in systems.items():
        works[kind] = lambda system=system: system.velocity(x)
    slope, size = systems["SA"].velocity(x)[None], torch.full((1,), 1e-3, dtype=dtype)
    if dtype == torch.float64:
        works["step"] = lambda: step(systems["SA"], x[None], slope, size)
    seconds = best_in_turns(works, repetitions)
    peer = min(seconds["at once"], seconds["by rows"])
    kind = str(dtype).removeprefix("torch.")
    what = {"SA": f"velocity of SA, {kind}", "USA": f"velocity of USA, {kind}", "step": f"a step of SA, {kind}"}
    rows = []
    for name in [name for name in what if name in seconds]:
        whole = peer * (6 if name == "step" else 1)
        share = whole / seconds[name]
        rows.append(Row(what[name], seconds[name], "s", whole, "matrix products", share, least=target))
    return rows


def memory(kind: str, n: int, d: int) -> float:
    """The memory that one velocity needs, in n x n arrays of float64."""
    words = [sys.executable, "-c", MEMORY, kind, str(n), str(d)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LengthwiseError(f"the velocity of {kind} failed: {done.stderr.strip().splitlines()[-1]}")
    return int(done.stdout) / (8 * n * n)


def rows(quick: bool = False) -> list[Row]:
    n, d, repetitions = (512, 64, 3) if quick else (4096, 64, 7)
    target = None if quick else SHARE
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        table = [row for t in (torch.float32, torch.float64) for row in measured(n, d, t, repetitions, target)]
    finally:
        torch.set_num_threads(before)
    for kind in ("SA", "USA"):
        most = None if quick else MATRICES
        table.append(Row(f"memory of a velocity of {kind}", memory(kind, n, d), "n x n arrays", most=most))
    return table


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
