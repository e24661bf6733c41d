"""The probe `shift_bound`: the largest error that a shift can cause, from the model's own Lipschitz constant."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from lengthwise.errors import UsageError
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Record
from lengthwise.registry import named_in

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject

METRICS = ("states", "sequence", "measure")


@probes.register("shift_bound")
@dataclass(frozen=True)
class ShiftBoundProbe(Probe):
    """A bound on the error under a shift: source risk, Lipschitz constant times distance, sampling; term by term.

    `source` and `target` are a level of the task's ladder ("training", "depth 5"), a size ("40", "5-20") or a file of
    lines; the source is training unless it is given. `metric` says what the distance and the constant are about:

    states     the last hidden state at one place per item, drawn from those that are asked for; any two lengths
    sequence   all embeddings of an item, at equal length
    measure    how often each token occurs before a place that is asked for; any two lengths, for models without
               positions

    `items` is how many are drawn from each side, and as many once more to hold the bound against; a file gives its
    first lines, each once. Labels of the target are used unless `separation` says how far apart inputs with different
    labels are.
    """

    needs: ClassVar[tuple[str, ...]] = ("anatomy",)

    target: str = ""
    source: str = "training"
    metric: str = "states"
    items: int = 400
    delta: float = 0.05
    separation: float | None = None

    def __post_init__(self) -> None:
        if self.metric not in METRICS:
            raise UsageError(f"the metric of a bound must be one of {', '.join(METRICS)}, not {self.metric!r}")
        if self.items < 2 or not 0 < self.delta < 1:
            raise UsageError(
                f"a sample must have 2 items or more and delta must lie between 0 and 1, not {self.items} and "
                f"{self.delta}"
            )

    def measure(self, subject: Subject, context: Context) -> Record:
        return named_in("lengthwise.probes.shift_bound.bound:bound_shift")(self, subject, context)  # torch
