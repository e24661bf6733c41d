"""What probes of a model's weights share: the settings of their inputs, and one forward pass for all of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from lengthwise.errors import UsageError
from lengthwise.probes.probe import Context, Probe
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.probes.shown.look import Look
    from lengthwise.subjects.subject import Subject

LARGE = 20_000_000  # parameters above which a probe does less, so that all of them together take minutes at most


@dataclass(frozen=True)
class WeightsProbe(Probe):
    """A probe that looks at a model's weights and at a forward pass on some inputs.

    The inputs are items of the context's task or sequences of its file, else items of the run's own task, else the
    built-in text, else made-up sequences (`lengthwise.probes.shown.inputs`). `items` is how many, by default 8, or 2
    for a model of over 20 million parameters; `size` is the size of the items, by default the largest of training.
    """

    needs: ClassVar[tuple[str, ...]] = ("anatomy",)
    title: ClassVar[str] = ""

    items: int | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        for name in ("items", "size"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} is at least 1, not {value}")

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.shown.look import look_at  # torch

        return self.answer(look_at(subject, context, self.items, self.size))

    @abstractmethod
    def answer(self, look: Look) -> Record:
        """What the probe finds in a model and its forward pass."""

    def record(self, **content: Any) -> Record:
        """A record under the title of this probe; `ask` adds its name and settings."""
        return Record(type(self).__name__, title=self.title, **content)
