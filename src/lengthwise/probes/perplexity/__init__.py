"""Mean loss on a text by position: whether a language model uses, or loses, what it read long ago."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject


@probes.register("perplexity")
@dataclass(frozen=True)
class PerplexityProbe(Probe):
    """Mean loss on a text in nats per token, by how many tokens the model has read before.

    The text is the file of the context, or the built-in one. It is read in windows of `length` tokens (0: as many as
    the model reads, at most 8,192), at most `windows` of them, spread evenly over the text. A model with a shorter
    context reads the beginning of each window.
    """

    needs = ("predictor",)
    length: int = 0
    windows: int = 4

    def __post_init__(self) -> None:
        if self.length < 0 or self.windows < 1:
            raise UsageError(f"length must be at least 0 and windows at least 1, not {self.length} and {self.windows}")

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.perplexity.bands import losses_by_band  # torch

        return losses_by_band(self, subject, context)
