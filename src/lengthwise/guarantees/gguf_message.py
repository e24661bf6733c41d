"""A GGUF file is its own message: its weights are quantised already, and the file decodes to them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from lengthwise.guarantees.description import Description
from lengthwise.guarantees.predictor import Predictor
from lengthwise.guarantees.stretch import Stretch, losses_on


def describe_gguf(path: Path, predictor: Predictor, part: Stretch) -> Description:
    """What the file is charged with. Nothing is lost: the model that is run is the one in the file."""
    from lengthwise.bounds.compression.gguf_file import message_of_gguf  # its library is an extra

    message = message_of_gguf(path)
    losses, _ = losses_on(predictor, part)
    loss = float(losses.surprise.astype(np.float64).mean())
    return Description(
        source="the GGUF file itself, its blocks entropy-coded; decoded back and compared",
        bits=message.bits,
        parts={name: int(bits) for name, bits in message.parts.items()},
        numbers=message.numbers,
        original=loss,
        quantised=loss,
        compared=len(losses.surprise),
        notes=(
            "the losses are those of the quantised file; what its original would lose is not known here",
            f"the file has {message.file_bits:,} bits; its tokenizer ({message.tokenizer_bits:,} bits) is not charged: "
            "it is assumed to have been fixed before the training data were seen",
        ),
        facts={"file_bits": message.file_bits, "tokenizer_bits": message.tokenizer_bits},
    )
