"""Whether an engine computes what it was asked to: its log-probabilities compared with those of our forward pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject

TRANSFORMERS = "transformers"


@probes.register("conformance")
@dataclass(frozen=True)
class ConformanceProbe(Probe):
    """Log-probabilities of the next token after prompts of three lengths, by an engine and by our own forward pass.

    `engine` is a server, openai:URL,model=NAME, or transformers itself. Prompts are `prompts` stretches of a text at
    each length; lengths are those of the context, or an eighth, a half and all of what the model reads. The two agree
    where no log-probability differs by more than `tolerance` nats.
    """

    needs = ("predictor", "tokenizer")
    engine: str = TRANSFORMERS
    prompts: int = 3
    tolerance: float = 0.1

    def __post_init__(self) -> None:
        if self.prompts < 1 or not self.tolerance > 0:
            raise UsageError(
                f"prompts must be at least 1 and tolerance above 0, not {self.prompts} and {self.tolerance:g}"
            )

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.conformance.differences import compare_engine  # torch

        return compare_engine(self, subject, context)
