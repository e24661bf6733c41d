"""Descriptions of models: how fast weights become a message and come back, and how short it is.

The model has 9 million normal weights in the shapes of a small Transformer. The sizes are set against the empirical
entropy of the same symbols, below which no code without memory can go, and against what zlib and lzma make of the same
symbols, a byte each. Encoding includes quantising, choosing between the forms, and decoding again to compare. Seconds
are those of the processor.
"""

from __future__ import annotations

import lzma
import sys
import time
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rows import Row, standalone

from lengthwise.bounds.compression import decode, encode, make_quantiser

SPECS = ("uniform:levels=16", "uniform:levels=64", "kmeans:levels=16", "kmeans:levels=16,share=True")
MOST_OVER_ENTROPY = 1.02
LEAST_SPEED = 1.0  # million weights a second


def model(width: int, depth: int) -> dict[str, NDArray[np.float32]]:
    rng = np.random.default_rng(0)
    shapes = {"attention": (4 * width, width), "up": (4 * width, width), "down": (width, 4 * width), "norm": (width,)}
    return {
        f"layers.{layer}.{name}": (rng.normal(size=shape) / np.sqrt(width)).astype(np.float32)
        for layer in range(depth)
        for name, shape in shapes.items()
    }


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    began = time.process_time()
    return work(), time.process_time() - began


def rows(quick: bool = False) -> list[Row]:
    tensors = model(64 if quick else 512, 2 if quick else 3)
    table, fast = [], None if quick else LEAST_SPEED
    for spec in SPECS:
        quantiser = make_quantiser(spec)
        message, seconds = timed(lambda quantiser=quantiser: encode(tensors, {}, quantiser))
        million = message.numbers / 1e6
        table.append(Row(f"{spec}: encoding", million / seconds, "million weights/s", least=fast))
        _, seconds = timed(lambda message=message: decode(message.data))
        table.append(Row(f"{spec}: decoding", million / seconds, "million weights/s", least=fast))
        over = message.bits / message.entropy_bits
        most = None if quick else MOST_OVER_ENTROPY
        bits, least = message.bits / message.numbers, message.entropy_bits / message.numbers
        table.append(Row(f"{spec}: length", bits, "bits a weight", least, "entropy", over, most=most))
    symbols = b"".join(
        make_quantiser(SPECS[0]).quantise(t).symbols.astype(np.uint8).tobytes() for t in tensors.values()
    )
    ours = encode(tensors, {}, make_quantiser(SPECS[0])).bits / len(symbols)
    for name, pack in {"zlib": lambda: zlib.compress(symbols, 9), "lzma": lambda: lzma.compress(symbols)}.items():
        theirs = 8 * len(pack()) / len(symbols)
        table.append(Row(f"{SPECS[0]}: length", ours, "bits a weight", theirs, name, ours / theirs, most=1.0))
    return table


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
