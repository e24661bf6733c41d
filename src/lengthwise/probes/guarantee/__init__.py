"""The probe `guarantee`: what a model's own training data guarantee of it.

bound      the one entry, and `result`, what it gives
source     where tokens come from: a run's items, or `texts` (files, the built-in text)
message    the model as a message, and which quantiser
losses     the losses, one stretch at a time, kept in a `store`
held_out   the bounded quantities themselves, measured on fresh items or computed exactly
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lengthwise.bounds.compression.quantisers import quantisers
from lengthwise.bounds.tokens.problem import Level
from lengthwise.errors import UsageError
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject


@probes.register("guarantee")
@dataclass(frozen=True)
class GuaranteeProbe(Probe):
    """Bounds on a model's loss, from its own training data.

    quantiser           how weights are written down, such as kmeans:levels=16; empty: the best of a few
    aim                 choose the quantiser for bounds of tokens or of documents
    delta               probability that a bound fails
    tokens, documents   size of the training set that the data are a sample of
    sample              number of documents (items) to draw from the data
    limit               number of predicted tokens to read
    window              number of tokens in a window
    held_out            number of a run's fresh items to measure and compare with the bounds
    """

    needs: ClassVar[tuple[str, ...]] = ("predictor",)

    quantiser: str = ""
    aim: Level = "tokens"
    delta: float = 0.05
    tokens: int | None = None
    documents: int | None = None
    sample: int | None = None
    limit: int | None = None
    window: int | None = None
    held_out: int | None = None

    def __post_init__(self) -> None:
        if self.quantiser:
            quantisers.restore(self.quantiser)
        if self.aim not in ("tokens", "documents"):
            raise UsageError(f"the quantiser is chosen for the bounds of tokens or of documents, not of {self.aim!r}")
        if not 0 < self.delta < 1:
            raise UsageError(f"delta must be a probability between 0 and 1, such as 0.05, not {self.delta}")
        for name in ("tokens", "documents", "sample", "limit", "window", "held_out"):
            value, least = getattr(self, name), 2 if name == "held_out" else 1
            if value is not None and value < least:
                raise UsageError(f"{name.replace('_', '-')} must be at least {least}, not {value}")
        if self.sample is not None and self.limit is not None:
            raise UsageError("a limit would cut the sample short; give one of them")

    def measure(self, subject: Subject, context: Context) -> Record:
        """The record of the bounds; nothing is kept on disk."""
        from lengthwise.probes.guarantee.bound import bound

        with tempfile.TemporaryDirectory(prefix="lengthwise-") as folder:
            place, progress = f"{folder}/bound", context.progress
            found = bound(subject, self, data=context.data, folder=place, seed=context.seed, progress=progress)
        return found.record()
