"""A model opened up: its weights, its inputs, and a forward pass that is kept for all probes of one measurement."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cached_property

import torch

from lengthwise.models.forward import Trace, run
from lengthwise.models.parts import Anatomy
from lengthwise.probes.probe import Context
from lengthwise.probes.shown import LARGE
from lengthwise.probes.shown.inputs import Inputs, WantedInputs, inputs_for
from lengthwise.subjects.subject import Subject

_last: weakref.WeakKeyDictionary[Subject, Look] = weakref.WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Look:
    """What a probe may use: the weights, the inputs and the forward pass on them, and the seed of what it draws."""

    subject: Subject
    wanted: WantedInputs

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
        return inputs_for(self.subject, self.wanted, 2 if self.large else 8)

    @cached_property
    def trace(self) -> Trace:
        with torch.no_grad():
            return run(self.anatomy, self.inputs.tokens)

    def longer(self, items: int, longest: int) -> Inputs:
        """Longer inputs from the same source, for a probe of what length does: `items` sequences, unless the user said
        how many, of at most `longest` tokens. No forward pass on them is kept."""
        return inputs_for(self.subject, self.wanted, items, longest)


def look_at(subject: Subject, context: Context, items: int | None = None, size: int | None = None) -> Look:
    """The look at a subject with these inputs: that of the last call where the same is asked for again."""
    wanted = WantedInputs(context.task, context.train_size, context.data, size, items, context.seed)
    kept = _last.get(subject)
    if kept is None or kept.wanted != wanted:
        _last[subject] = kept = Look(subject, wanted)
    return kept
