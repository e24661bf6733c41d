"""How to train: the settings of a run's training, and its learning rate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal, get_args

from lengthwise.errors import UsageError
from lengthwise.models.forms import Form
from lengthwise.models.forms.full import Full
from lengthwise.training.lengths import SizeSchedule, Uniform

Decay = Literal["linear", "cosine", "constant"]


@dataclass(frozen=True)
class Recipe:
    """How to train. `warmup` is a share of the steps; `stop_at` ends training early, only when asked, once that share
    of in-range items is exactly right at two checks in a row. `pool` is how many batches are drawn together and sorted
    by length, for tasks whose items differ in length; a batch then mixes sizes. `form` is how the weights are made from
    what is trained."""

    steps: int = 2000
    batch: int = 64
    rate: float = 2e-3
    warmup: float = 0.05
    decay: Decay = "linear"
    weight_decay: float = 0.01
    clip: float = 1.0
    sizes: SizeSchedule = field(default_factory=Uniform)
    stop_at: float | None = None
    check_every: int = 100
    pool: int = 1
    form: Form = field(default_factory=Full)

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "check_every", "pool"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name.replace('_', '-')} is at least 1, not {getattr(self, name)}")
        if not (self.rate > 0 and math.isfinite(self.rate)):
            raise UsageError(f"the learning rate is above 0, not {self.rate}")
        if not (self.clip > 0 and self.weight_decay >= 0):
            raise UsageError(
                f"clip is above 0 and weight decay 0 or more, not clip {self.clip} and weight decay {self.weight_decay}"
            )
        if self.decay not in get_args(Decay):
            raise UsageError(f"decay is one of {', '.join(get_args(Decay))}, not {self.decay!r}")
        if not 0 <= self.warmup < 1:
            raise UsageError(f"warm-up is a share of the steps in [0, 1), not {self.warmup}")
        if self.stop_at is not None and not 0 < self.stop_at <= 1:
            raise UsageError(f"stop-at is a share of items in (0, 1], not {self.stop_at}")

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        warm = max(1, round(self.warmup * self.steps))
        if step < warm:
            return self.rate * (step + 1) / warm
        done = (step - warm) / max(1, self.steps - warm)
        if self.decay == "linear":
            return self.rate * (1 - done)
        return self.rate * (0.5 * (1 + math.cos(math.pi * done)) if self.decay == "cosine" else 1.0)
