"""A model written down: which quantiser, how many bits, and what is lost by it.

Any model may be chosen after the data were seen, as the length of its message is what pays for it: a message says by
itself on which levels every weight lies, so a choice among quantisers needs no further price.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lengthwise.bounds.compression.message import Message, decode, encode
from lengthwise.bounds.compression.quantisers import quantisers
from lengthwise.bounds.tokens.make import foreseen_bound
from lengthwise.bounds.tokens.problem import Level
from lengthwise.guarantees.listener import Listener
from lengthwise.guarantees.predictor import Predictor
from lengthwise.guarantees.stretch import Stretch, losses_on, token_losses

LARGE = 20_000_000  # weights from which on trying several quantisers takes too long
CANDIDATES = (
    *(f"uniform:levels={levels}" for levels in (8, 16, 32, 64, 128, 256)),
    *(f"kmeans:levels={levels}" for levels in (4, 8, 16, 32, 64)),
    *(f"kmeans:levels={levels},share=true" for levels in (16, 32, 64)),
)
FOR_LARGE = ("uniform:levels=128",)  # with k-means of 16 levels SmolLM2 loses more than a uniform guess


@dataclass(frozen=True)
class Aim:
    """Which bound a quantiser is chosen for, on how many tokens or documents, and at which delta."""

    level: Level
    count: int
    delta: float


@dataclass(frozen=True)
class Trial:
    """A quantiser that was tried: its message in bits, the loss on a small part of the data, the bound foreseen."""

    quantiser: str
    bits: int
    loss: float
    foreseen: float


@dataclass(frozen=True)
class Description:
    """What is charged for a model, by part, and what it lost by being written down.

    `original` and `quantised` are the mean losses (nats) on the same `compared` tokens at the beginning of the data;
    `source` says what the message is, and `notes` what should be known of it.
    """

    source: str
    bits: int
    parts: Mapping[str, int]
    numbers: int
    original: float
    quantised: float
    compared: int
    tried: tuple[Trial, ...] = ()
    notes: tuple[str, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def bits_a_weight(self) -> float:
        return self.bits / max(1, self.numbers)

    def plain(self) -> dict[str, Any]:
        return {**asdict(self), "bits_a_weight": self.bits_a_weight, "gap": self.quantised - self.original}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Description:
        names = ("source", "bits", "parts", "numbers", "original", "quantised", "compared", "facts")
        tried = tuple(Trial(**one) for one in data["tried"])
        return cls(**{name: data[name] for name in names}, tried=tried, notes=tuple(data["notes"]))


def describe(
    predictor: Predictor, quantiser: str | None, part: Stretch, aim: Aim, listener: Listener
) -> tuple[Message, Description]:
    """The message of a model with the quantiser that was asked for, or with the best of a few, and its description.

    `part` is the small part of the data on which quantisers are compared, `aim` for which bound. The
    model is left with the decoded weights. O(candidates x (weights + one pass over `part`)).
    """
    original, header = predictor.tensors(), json.loads(json.dumps(predictor.header(), default=str))
    numbers = sum(tensor.size for tensor in original.values())
    before = token_losses([losses_on(predictor, part)], predictor.vocabulary)
    specs = (quantiser,) if quantiser else FOR_LARGE if numbers > LARGE else CANDIDATES
    made = [quantisers.make(spec) for spec in specs]  # a wrong spec is refused before the work
    found: list[tuple[Trial, Message]] = []
    for spec, one in zip(specs, made, strict=True):
        message = encode(original, header, one)
        predictor.fill(decode(message.data)[1])
        after = token_losses([losses_on(predictor, part)], predictor.vocabulary)
        foreseen = foreseen_bound(after, message.bits, aim.count, level=aim.level, delta=aim.delta)
        trial = Trial(spec, message.bits, float(after.surprise.mean()), foreseen)
        found.append((trial, message))
        listener.said(f"{spec}: {message.bits / numbers:.2f} bits a weight, loss {trial.loss:.4f} nats on a part")
    best, message = min(found, key=lambda pair: pair[0].foreseen)
    predictor.fill(decode(message.data)[1])
    described = Description(
        source=f"quantised with {best.quantiser} and entropy-coded; decoded back and compared",
        bits=message.bits,
        parts=dict(message.parts),
        numbers=message.numbers,
        original=float(before.surprise.mean()),
        quantised=best.loss,
        compared=len(before),
        tried=tuple(trial for trial, _ in found) if len(found) > 1 else (),
        facts={"quantiser": best.quantiser, "entropy_bits": message.entropy_bits},
    )
    return message, described
