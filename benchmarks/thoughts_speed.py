"""Chains of thought in a file: 100,000 steps with planted faults, read and examined in under 60 s of one core.

Running parities of random bits, 2 to 19 columns wide; in a quick run a tenth of the steps. Every planted fault must be
found, and nothing else.
"""

from __future__ import annotations

import json
import random
import sys
import tempfile
import time
from pathlib import Path

from rows import Row, standalone

from lengthwise.errors import LengthwiseError
from lengthwise.oracle.locality.thoughts.findings import examine
from lengthwise.oracle.locality.thoughts.reading import read_chains, splitting, tokenising

SECONDS = 60.0
FAULTS = 5


def chain(bits: list[int], fault: int) -> list[str]:
    """The states of a chain; at step `fault` the parity is wrong, and what follows continues from it."""
    states, parities = [], list[int]()
    for step in range(len(bits) + 1):
        cells = [str(parity) for parity in parities] + ["."] * (len(bits) - step)
        states.append(" ".join(f"{bit}|{cell}" for bit, cell in zip(bits, cells, strict=True)))
        if step < len(bits):
            before = parities[-1] if parities else 0
            parities.append(before ^ bits[step] ^ (step + 1 == fault))
    return states


def write(path: Path, records: int) -> dict[int, int]:
    """A file of chains; the lines and steps that are wrong."""
    draw, faults = random.Random(0), {}
    with path.open("w", encoding="utf-8") as file:
        for line in range(1, records + 1):
            bits = [draw.randrange(2) for _ in range(draw.randint(2, 19))]
            if line % (records // FAULTS) == 0:
                faults[line] = draw.randint(1, len(bits))
            file.write(json.dumps({"states": chain(bits, faults.get(line, 0))}) + "\n")
    return faults


def rows(quick: bool = False) -> list[Row]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "cot.jsonl"
        faults = write(path, 1_000 if quick else 10_000)
        began = time.process_time()
        found = examine(str(path), read_chains(str(path), splitting("lines"), tokenising("words")))
        seconds = time.process_time() - began
    named = {conflict.line: conflict.step for conflict in found.conflicts}
    if named != faults:
        raise LengthwiseError(f"planted {faults}, found {named}")
    return [Row(f"chains of thought, {found.steps:,} steps, read and examined", seconds, "s", most=SECONDS)]


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
