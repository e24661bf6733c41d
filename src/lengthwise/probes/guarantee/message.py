"""A model written down: which quantiser, how many bits, and what is lost by it.

Any model may be chosen after the data were seen, as the length of its message is what pays for it: a message says by
itself on which levels every weight lies, so a choice among quantisers needs no further price.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from lengthwise.bounds.compression.gguf_file import message_of_gguf
from lengthwise.bounds.compression.message import Message, decode, encode
from lengthwise.bounds.compression.quantisers import quantisers
from lengthwise.bounds.tokens.make import foreseen_bound
from lengthwise.messages import explain
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.losses import Stretch, losses_on, token_losses
from lengthwise.progress import Progress
from lengthwise.records import Assumption
from lengthwise.subjects.predictor import Predictor

LARGE = 20_000_000  # weights above which trying several quantisers takes too long
CANDIDATES = (
    *(f"uniform:levels={levels}" for levels in (8, 16, 32, 64, 128, 256)),
    *(f"kmeans:levels={levels}" for levels in (4, 8, 16, 32, 64)),
    *(f"kmeans:levels={levels},share=true" for levels in (16, 32, 64)),
)
FOR_LARGE = ("uniform:levels=128",)  # with k-means of 16 levels SmolLM2 loses more than a uniform guess

explain(
    {
        "guarantee.file_losses": "the losses are those of the quantised file; those of its original are not known",
        "guarantee.file_tokenizer": "the file has {file_bits:,} bits; its tokenizer ({tokenizer_bits:,} bits) is not "
        "charged: it is assumed to have been fixed before the training data were seen",
    }
)


@dataclass(frozen=True)
class QuantiserTrial:
    """A quantiser that was tried: its message in bits, the loss on a small part of the data, the bound foreseen."""

    quantiser: str
    bits: int
    loss: float
    foreseen: float


@dataclass(frozen=True)
class ChargedMessage:
    """What is charged for a model, by part, and what it lost by being written down.

    `original` and `quantised` are the mean losses (nats) on the same `compared` tokens at the beginning of the data;
    `source` says what the message is, `notes` what should be known of it.
    """

    source: str
    bits: int
    parts: Mapping[str, int]
    numbers: int
    original: float
    quantised: float
    compared: int
    tried: tuple[QuantiserTrial, ...] = ()
    notes: tuple[Assumption, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bits_per_weight(self) -> float:
        return self.bits / max(1, self.numbers)

    def plain(self) -> dict[str, Any]:
        notes = [note.plain() for note in self.notes]
        more = {"bits_per_weight": self.bits_per_weight, "gap": self.quantised - self.original}
        return {**asdict(self), **more, "notes": notes}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> ChargedMessage:
        names = ("source", "bits", "parts", "numbers", "original", "quantised", "compared", "facts")
        tried = tuple(QuantiserTrial(**one) for one in data["tried"])
        notes = tuple(map(Assumption.from_plain, data["notes"]))
        return cls(**{name: data[name] for name in names}, tried=tried, notes=notes)


def describe(
    predictor: Predictor, asked: GuaranteeProbe, part: Stretch, count: int, progress: Progress
) -> tuple[Message, ChargedMessage, Predictor]:
    """The message of a model with the quantiser that was asked for, or with the best of a few; what is charged for it;
    and the model with the decoded weights.

    Quantisers are compared on a small `part` of the data, by the bound that it foresees for all `count` tokens or
    documents. O(candidates x (weights + one pass over `part`)).
    """
    original, header = predictor.tensors(), json.loads(json.dumps(predictor.header(), default=str))
    numbers = sum(tensor.size for tensor in original.values())
    before = token_losses([losses_on(predictor, part)], predictor.vocabulary)
    specs = (asked.quantiser,) if asked.quantiser else FOR_LARGE if numbers > LARGE else CANDIDATES
    made = [quantisers.restore(spec) for spec in specs]  # a wrong spec is refused before the work
    tried: list[QuantiserTrial] = []
    best: tuple[QuantiserTrial, Message, Predictor] | None = None
    for number, (spec, one) in enumerate(zip(specs, made, strict=True)):
        progress(f"quantising with {spec}", number, len(specs))
        message = encode(original, header, one)
        decoded = predictor.with_weights(decode(message.data)[1])
        after = token_losses([losses_on(decoded, part)], predictor.vocabulary)
        foreseen = foreseen_bound(after, message.bits, count, level=asked.aim, delta=asked.delta)
        tried.append(QuantiserTrial(spec, message.bits, float(after.surprise.mean()), foreseen))
        if best is None or foreseen < best[0].foreseen:
            best = tried[-1], message, decoded
    assert best is not None
    trial, message, decoded = best
    charged = ChargedMessage(
        source=f"quantised with {trial.quantiser} and entropy-coded; decoded back and compared",
        bits=message.bits,
        parts=dict(message.parts),
        numbers=message.numbers,
        original=float(before.surprise.mean()),
        quantised=trial.loss,
        compared=len(before),
        tried=tuple(tried) if len(tried) > 1 else (),
        facts={"quantiser": trial.quantiser, "entropy_bits": message.entropy_bits},
    )
    return message, charged, decoded


def describe_gguf(path: Path, predictor: Predictor, part: Stretch) -> ChargedMessage:
    """What is charged for a GGUF file, which is its own message: the model that is run is the one in the file."""
    message = message_of_gguf(path)
    facts = {"file_bits": message.file_bits, "tokenizer_bits": message.tokenizer_bits}
    losses = losses_on(predictor, part)
    loss = float(losses.surprise.astype(np.float64).mean())
    return ChargedMessage(
        source="the GGUF file itself, its blocks entropy-coded; decoded back and compared",
        bits=message.bits,
        parts={name: int(bits) for name, bits in message.parts.items()},
        numbers=message.numbers,
        original=loss,
        quantised=loss,
        compared=len(losses.surprise),
        notes=(Assumption("guarantee.file_losses"), Assumption("guarantee.file_tokenizer", values=facts)),
        facts=facts,
    )
