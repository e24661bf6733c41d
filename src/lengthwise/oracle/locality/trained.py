"""How the built-in layouts fared in training: the outcomes that `benchmarks/layouts.py` measured.

Theory says what a model can do; the outcomes say what one training run did, and are shown next to a verdict.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from lengthwise.messages import explain, sentence

FILE = "trained.json"
LEARNED = 0.95  # of the chains at the training size
HELD, TIMES = 0.95, 10  # of the chains, up to this many times the training size
explain(
    {
        "locality.outcome": "Measured in one training run up to size {train_size}, with {position} and {attention} "
        "attention: the share of entirely correct chains is {shares}.",
        "locality.chains_at": "{share:.0%} at {size}",
    }
)


@dataclass(frozen=True)
class LayoutOutcome:
    """One layout, trained once: `right` chains of `items`, by size."""

    task: str
    position: str
    attention: str
    depth: int
    steps: int
    batch: int
    train_size: int
    right: Mapping[int, int]
    items: Mapping[int, int]

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> LayoutOutcome:
        sizes = data["sizes"]
        return cls(
            **{name: data[name] for name in ("task", "position", "steps", "batch", "train_size")},
            **{name: data["model"][name] for name in ("attention", "depth")},
            right={point["size"]: point["right"] for point in sizes},
            items={point["size"]: point["items"] for point in sizes},
        )

    def exact(self, size: int) -> float:
        """The share of chains of a size that stopped with the right answer."""
        return self.right[size] / self.items[size]

    @property
    def learned(self) -> bool:
        return self.exact(self.train_size) >= LEARNED

    @property
    def held(self) -> bool | None:
        """Whether it held at every size up to ten times that of training; None where it had not learned its training
        size, so that a fall says nothing, or did not fall and was not run so far."""
        beyond = [self.exact(size) >= HELD for size in self.right if size > self.train_size]
        if not self.learned:
            return None
        return False if not all(beyond) else True if TIMES * self.train_size in self.right else None

    def contradicts(self, outlook: str) -> bool:
        """Whether this outcome shows a verdict to be wrong. That a model can hold is not refuted by one that fell."""
        return outlook == "cannot hold" and self.held is True

    @property
    def sentence(self) -> str:
        shares = [
            sentence("locality.chains_at", {"share": self.exact(size), "size": size}) for size in sorted(self.right)
        ]
        return sentence("locality.outcome", {**vars(self), "shares": ", ".join(shares)})


@functools.cache
def outcomes() -> Mapping[str, LayoutOutcome]:
    """The outcomes that ship with the package, by task."""
    text = (files("lengthwise.oracle.locality") / FILE).read_text(encoding="utf-8")
    found = [LayoutOutcome.from_plain(data) for data in json.loads(text)["outcomes"]]
    return {outcome.task: outcome for outcome in found}
