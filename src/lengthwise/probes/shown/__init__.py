"""What probes of a model's weights share: the settings of their inputs, and one forward pass for all of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from lengthwise.errors import UsageError
from lengthwise.limits import MOST_SIZE, check_count, check_reach
from lengthwise.probes.probe import Context, Probe
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.models.forward import Trace
    from lengthwise.models.parts import Anatomy
    from lengthwise.probes.shown.inputs import Inputs
    from lengthwise.subjects.subject import Subject

LARGE = 20_000_000  # parameters above which a probe does less, so that all of them together take minutes at most
MOST_ITEMS = 10_000  # of which a model is shown all at once
LONGEST = 64  # tokens of a text that are read, unless longer inputs are asked for


@dataclass(frozen=True, eq=False)
class Look:
    """What a probe may use: the weights, the inputs and the forward pass on them, and the seed of what it draws."""

    subject: Subject
    wanted: Context

    @property
    def seed(self) -> int:
        return self.wanted.seed

    @cached_property
    def anatomy(self) -> Anatomy:
        return self.subject.capability("anatomy")

    @property
    def large(self) -> bool:
        return self.anatomy.parameters > LARGE

    @cached_property
    def inputs(self) -> Inputs:
        return self.longer(2 if self.large else 8, LONGEST)

    @cached_property
    def trace(self) -> Trace:
        from lengthwise.probes.shown.inputs import traced  # torch

        count, length = self.inputs.tokens.shape
        kept = sum(3 * self.anatomy.width + length * block.attention.heads for block in self.anatomy.blocks)
        check_reach(f"a look at {count:,} sequences of {length:,} tokens", memory=4.0 * count * length * kept)
        return traced(self.anatomy, self.inputs)

    def longer(self, items: int, longest: int) -> Inputs:
        """Longer inputs from the same source, for a probe of what length does: `items` sequences, unless the user said
        how many, of at most `longest` tokens. No forward pass on them is kept."""
        from lengthwise.probes.shown.inputs import inputs_for  # torch

        return inputs_for(self.subject, self.wanted, items, longest)


def look_at(subject: Subject, context: Context, items: int | None = None, size: int | None = None) -> Look:
    """The look at a subject with these inputs: that of the last call where the same is asked for again."""
    wanted = replace(context, items=items, sizes=() if size is None else (size,))
    kept: Look | None = vars(subject).get("_look")
    if kept is None or kept.wanted != wanted:
        kept = vars(subject)["_look"] = Look(subject, wanted)
    return kept


@dataclass(frozen=True)
class WeightsProbe(Probe):
    """A probe that looks at a model's weights and at a forward pass on some inputs.

    The inputs are items of the context's task or sequences of its file, else items of the run's own task, else the
    built-in text, else made-up sequences (`lengthwise.probes.shown.inputs`). `items` is the number of items, by default
    8, or 2 for models with over 20 million parameters; `size` is the size of the items, by default the largest of
    training.
    """

    needs: ClassVar[tuple[str, ...]] = ("anatomy",)
    title: ClassVar[str] = ""

    items: int | None = None
    size: int | None = None

    def __post_init__(self) -> None:
        for name, most in (("items", MOST_ITEMS), ("size", MOST_SIZE)):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise UsageError(f"{name} must be at least 1, not {value}")
            if value is not None:
                check_count(value, f"the number of {name}" if name == "items" else "the size", most)

    def measure(self, subject: Subject, context: Context) -> Record:
        return self.answer(look_at(subject, context, self.items, self.size))

    @abstractmethod
    def answer(self, look: Look) -> Record:
        """What the probe finds in a model and its forward pass."""

    def record(self, **content: Any) -> Record:
        """A record under the title of this probe; `ask` adds its name and settings."""
        return Record(type(self).__name__, title=self.title, **content)
