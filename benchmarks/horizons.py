"""What the slopes of ALiBi predict, and what models with such slopes do. In minutes: `python benchmarks/horizons.py`.

The majority of fair coins. A head of slope m reads the sum of e^(-m d) s_d over the tokens s_d = +1, -1 at distances d,
and by the central limit theorem its sign is that of the plain sum with probability 1 - arccos(rho) / pi, where
rho^2 = tanh(x / 2) / (x / 2) and x = m n (docs/explanation/horizons.md). It is 95 % at x = 0.54.
"""

from __future__ import annotations

import argparse
import json
import math
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import lengthwise as lw
from lengthwise.seeds import Draws
from lengthwise.tasks.algorithmic import BitTask
from lengthwise.tasks.batch import Samples

TRAIN_SIZE, TEST_SIZE = 15, 121
LOCAL = ("[ab]*bab", "[ab]*abba")
STORED = "a*ba*"


@dataclass(frozen=True)
class FairMajority(BitTask):
    """Say which of two bits is the more frequent in an odd number of fair coins."""

    def has(self, size: int) -> bool:
        return size >= 1 and size % 2 == 1

    def sample(self, size: int, draws: Draws) -> Samples:
        bits = draws.integers(0, 2, size)
        return Samples(bits, (2 * bits.sum(axis=1, keepdims=True) > size).astype(bits.dtype))

    def solve(self, prompt: Sequence[str]) -> Sequence[str]:
        return (max("0", "1", key=list(prompt).count),)


def predicted(slope: float, size: int) -> float:
    """The exact match of the sign of a discounted sum."""
    half = slope * size / 2
    return 1 - math.acos(math.sqrt(math.tanh(half) / half)) / math.pi


def cases() -> Iterator[tuple[str, str | FairMajority, str, int, int]]:
    """What is measured: a name, the task, the encoding, the depth and the seed."""
    for slope in (1 / 8, 1 / 32, 1 / 128, 1 / 512):
        for seed in (0, 1):
            yield "majority, one slope", FairMajority(), f"alibi:first={slope},last={slope}", 1, seed
    for last in (1 / 16, 1 / 64, 1 / 256):
        for seed in (0, 1):
            yield "majority, usual slopes", FairMajority(), f"alibi:last={last}", 2, seed
    for slope in (1 / 4, 1 / 16, 1 / 64):
        yield "one b", f"regular:expression={STORED}", f"alibi:first={slope},last={slope}", 1, 0
    for language in LOCAL:
        for encoding in ("alibi", "alibi:first=1", "none"):
            yield "local", f"regular:expression={language}", encoding, 2, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="also write the measured curves to this JSON file")
    parser.add_argument("--steps", type=int, default=1000)
    options = parser.parse_args()
    found = []
    for name, task, encoding, depth, seed in cases():
        with tempfile.TemporaryDirectory() as folder:
            run = lw.train(
                task,
                encoding,
                train_size=TRAIN_SIZE,
                test_size=TEST_SIZE,
                items=400,
                seeds=[seed],
                folder=Path(folder) / "run",
                probes=["curve:grid=geometric"],
                depth=depth,
                heads=4,
                width=64,
                steps=options.steps,
                batch=64,
                rate=3e-3,
            )
            curve = (run.curves[0] if hasattr(run, "curves") else run.curve).plain()
        shares = {point["size"]: point["exact"] for point in curve["points"]}
        slope = lw.make_position(encoding).slopes(4)[-1] if encoding != "none" else math.nan
        said = {size: predicted(slope, size) for size in shares} if name == "majority, one slope" else {}
        texts = [f"{size}: {share:.2f}" + (f" ({said[size]:.2f})" if said else "") for size, share in shares.items()]
        of = task if isinstance(task, str) else "fair coins"
        print(f"{name}; {of}; {encoding}; seed {seed}\n    {'  '.join(texts)}", flush=True)
        found.append({"case": name, "task": of, "encoding": encoding, "depth": depth, "seed": seed, "exact": shares})
        if options.out:
            options.out.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
