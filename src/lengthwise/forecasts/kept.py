"""What is kept with the package for its atlas, so that a forecast takes no time to choose it: the relevance of features
before training, and the features that a checkpoint is compared by.

`lengthwise forecast --evaluate --out FILE` writes it. Where a baseline that is a special case scored better on other
tasks than all features together, that baseline is what is kept.
"""

from __future__ import annotations

import hashlib
import importlib.resources
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from lengthwise.evidence import Atlas
from lengthwise.forecasts.cases import BEFORE, SHOWN, cases_of, pooled
from lengthwise.forecasts.choosing import chosen
from lengthwise.forecasts.similar import Relevance

FILE = "kept.json"


@dataclass(frozen=True)
class Kept:
    """`before`: the relevances before training; `checkpoint`: the features of a checkpoint that count."""

    before: Relevance
    checkpoint: tuple[str, ...] = BEFORE + SHOWN

    def plain(self, atlas: Atlas) -> dict[str, Any]:
        """What is written, with a digest of the atlas that it belongs to."""
        return {"atlas": fingerprint(atlas), "before": vars(self.before), "checkpoint": list(self.checkpoint)}

    @classmethod
    def from_plain(cls, data: Mapping[str, Any]) -> Kept:
        return cls(Relevance(**data["before"]), tuple(data["checkpoint"]))


def kept_for(atlas: Atlas) -> Kept:
    """What is kept for this atlas; for another, relevances of all features are chosen now: a fraction of a second."""
    file = importlib.resources.files("lengthwise.forecasts") / "data" / FILE
    content = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    return Kept.from_plain(content) if content.get("atlas") == fingerprint(atlas) else Kept(chosen_before(atlas))


def chosen_before(atlas: Atlas) -> Relevance:
    """The relevances that forecast each task of the atlas best from the others."""
    return chosen(pooled(cases_of(atlas.runs)), BEFORE)


def fingerprint(atlas: Atlas) -> str:
    """A digest of what relevances are chosen from."""
    rows = [
        [
            run.task,
            run.group,
            *vars(run.facts).values(),
            run.design,
            run.verdict,
            run.train_size,
            run.seed,
            *run.exact,
        ]
        for run in atlas.runs
    ]
    return hashlib.sha256(json.dumps(rows).encode()).hexdigest()[:16]
