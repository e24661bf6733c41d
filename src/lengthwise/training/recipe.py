"""How to train: the settings of a run's training, and its learning rate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from lengthwise.errors import UsageError
from lengthwise.hardware import PRECISION_WORDS, Precision, check_precision
from lengthwise.limits import check_count
from lengthwise.models.forms import Form, Full, forms
from lengthwise.registry import setting
from lengthwise.training.lengths import SizeSchedule, UniformSizes, schedules

Decay = Literal["linear", "cosine", "constant"]
START_WORDS = "start from the weights of this run and use its shape (default: fresh weights)"


@dataclass(frozen=True)
class Recipe:
    """How to train.

    With a `pool`, several batches are drawn together and sorted by length, for tasks whose items differ in length; a
    batch then mixes sizes. `form` says how the weights are computed from the trained parameters.
    """

    steps: int = setting(2000, "training steps")
    batch: int = setting(64, "items per step")
    rate: float = setting(2e-3, "peak learning rate of AdamW")
    warmup: float = setting(0.05, "share of steps during which the learning rate rises", "SHARE")
    decay: Decay = setting("linear", "learning rate schedule after the warmup: linear, cosine or constant", "HOW")
    weight_decay: float = setting(0.01, "weight decay of AdamW, for matrices")
    clip: float = setting(1.0, "maximum gradient norm")
    sizes: SizeSchedule = setting(
        UniformSizes(),
        "uniform, fixed:size=…, increasing:share=…, long_first:ratio=…, or my.py::Rule",
        registry=schedules,
    )
    stop_at: float | None = setting(
        None, "stop early once in-range accuracy reaches SHARE at two consecutive checks", "SHARE"
    )
    check_every: int = setting(100, "steps between checks of the in-range accuracy")
    pool: int = setting(1, "number of batches to draw together and sort by length")
    form: Form = setting(
        Full(), "what is trained: full, lora:rank=…, subspace:dimensions=…, sublora:…, or my.py::Form", registry=forms
    )
    precision: Precision = setting("float32", PRECISION_WORDS, "HOW", later=True)

    def __post_init__(self) -> None:
        for name in ("steps", "batch", "check_every", "pool"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, not {getattr(self, name)}")
            check_count(getattr(self, name), name)
        if not (self.rate > 0 and math.isfinite(self.rate)):
            raise UsageError(f"the learning rate must be above 0, not {self.rate}")
        if not (self.clip > 0 and self.weight_decay >= 0):
            raise UsageError(
                f"clip must be above 0 and weight_decay 0 or more, not clip {self.clip} and "
                f"weight_decay {self.weight_decay}"
            )
        for name in ("clip", "weight_decay"):
            if not math.isfinite(getattr(self, name)):
                raise UsageError(f"{name} must be finite, not {getattr(self, name)}")
        check_precision(self.precision)
        if self.decay not in get_args(Decay):
            raise UsageError(f"decay must be one of {', '.join(get_args(Decay))}, not {self.decay!r}")
        if not 0 <= self.warmup < 1:
            raise UsageError(f"warmup must be a share of the steps in [0, 1), not {self.warmup}")
        if self.stop_at is not None and not 0 < self.stop_at <= 1:
            raise UsageError(f"stop_at must be a share of items in (0, 1], not {self.stop_at}")

    def rate_at(self, step: int) -> float:
        """The learning rate of a step, counted from 0."""
        warm = max(1, round(self.warmup * self.steps))
        if step < warm:
            return self.rate * (step + 1) / warm
        done = (step - warm) / max(1, self.steps - warm)
        if self.decay == "linear":
            return self.rate * (1 - done)
        return self.rate * (0.5 * (1 + math.cos(math.pi * done)) if self.decay == "cosine" else 1.0)
