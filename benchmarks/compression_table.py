"""What a description costs and what it loses, quantiser by quantiser: the tables of docs/explanation/compression.md.

    python benchmarks/compression_table.py                  normal numbers: error and entropy at the same length
    python benchmarks/compression_table.py RUN --size 50    a run: its message by parts, and how it answers afterwards

Sizes do not depend on the machine; losses do in their last digits.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from lengthwise.bounds.compression import decode, encode, make_quantiser
from lengthwise.errors import LengthwiseError
from lengthwise.probes.curve.evaluate import measure_size
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.run import NetworkAnswers

NUMBERS = 100_000
LEVELS = {"uniform": (8, 16, 32, 64, 128), "kmeans": (4, 8, 16, 32)}
SPECS = (
    *(f"uniform:levels={levels}" for levels in (16, 32, 64)),
    "uniform:levels=32,share=True",
    *(f"kmeans:levels={levels}" for levels in (8, 16)),
    "kmeans:levels=16,share=True",
    "exact",
)


def normal_rows(numbers: int = NUMBERS) -> list[list[str]]:
    """Squared error D in units of the variance, entropy H in bits, and D 4^H, which says what is lost at a length: a
    bit more divides the error by four, and no code can have less than 1 for normal numbers."""
    values = np.random.default_rng(0).normal(size=numbers).astype(np.float32)
    rows = [["quantiser", "entropy H", "squared error D", "D 4^H"]]
    for name, counts in LEVELS.items():
        for levels in counts:
            spec = f"{name}:levels={levels}"
            found = make_quantiser(spec).quantise(values)
            shares = np.bincount(found.symbols.ravel()) / numbers
            entropy = float(-(shares[shares > 0] * np.log2(shares[shares > 0])).sum())
            error = relative_error({"": values}, {"": found.values()}) ** 2
            rows.append([f"`{spec}`", f"{entropy:.3f}", f"{error:.3g}", f"{error * 4**entropy:.2f}"])
    return rows


def run_rows(folder: Path, size: int, items: int) -> list[list[str]]:
    """A row a quantiser: the message by parts, how far the weights moved, and what the decoded model does."""
    subject = open_subject(folder)
    run, predictor = subject.capability("run"), subject.capability("predictor")
    original, header = predictor.tensors(), predictor.header()
    names = ("header, prefix, checksum", "tables", "exact", "symbols")
    rows = [["quantiser", "bits", "a weight", *names, "entropy", "relative error", "loss", "exact match"]]
    for spec in SPECS:
        message = encode(original, header, make_quantiser(spec))
        decoded = decode(message.data)[1]
        model = predictor.with_weights(decoded).network
        with torch.no_grad():
            point = measure_size(NetworkAnswers(model), run.task.part("test"), size, items, run.seed)
        parts = dict(message.parts)
        first = sum(parts.pop(name) for name in ("header", "prefix", "checksum"))
        cells = [first, *(parts[name] for name in names[1:]), round(message.entropy_bits)]
        sizes = [f"{message.bits:,}", f"{message.bits / message.numbers:.2f}", *(f"{cell:,}" for cell in cells)]
        lost = [f"{relative_error(original, decoded):.3f}", f"{point.loss:.4f}", f"{point.exact:.1%}"]
        rows.append([f"`{spec}`", *sizes, *lost])
    return rows


def relative_error(original: Mapping[str, NDArray], decoded: Mapping[str, NDArray]) -> float:
    """The length of all changes together over that of all weights together."""
    change = sum(float(((decoded[name] - tensor).astype(np.float64) ** 2).sum()) for name, tensor in original.items())
    return float(np.sqrt(change / sum(float((tensor.astype(np.float64) ** 2).sum()) for tensor in original.values())))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", nargs="?", type=Path, metavar="RUN", help="the folder of a run (normal numbers)")
    parser.add_argument("--size", type=int, default=50, help="of the items that the model answers (50)")
    parser.add_argument("--items", type=int, default=1000, help="how many (1000)")
    options = parser.parse_args()
    try:
        rows = normal_rows() if options.run is None else run_rows(options.run, options.size, options.items)
    except LengthwiseError as error:
        print(f"compression_table: {error}", file=sys.stderr)
        return 2
    for row in (rows[0], ["---"] * len(rows[0]), *rows[1:]):
        print(f"| {' | '.join(row)} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
