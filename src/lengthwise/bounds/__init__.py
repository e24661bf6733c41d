"""What is guaranteed: numbers in, `Claim`s out. Nothing here needs torch.

lipschitz      how much a model can stretch distances, certified
kantorovich    how large a risk can become when the data shift, term by term
shifted        the same for the 0-1 error, from two samples
sampling       by how much a finite sample can mislead
compression    how long a model's description is, actually written and decoded
tokens         the largest loss of a model of tokens, from its description and its losses in training
contexture     what contexts can teach, and how much of it a representation has
contrastive    a bound on the InfoNCE loss
plan           what a training run could guarantee before it is carried out, by the methods of plan_methods

The functions that make a bound can be imported from here; they are loaded when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lengthwise.bounds.contrastive import contrastive_bound
    from lengthwise.bounds.kantorovich import agnostic_bound, margin_bound, realizable_bound
    from lengthwise.bounds.plan import GuaranteePlan
    from lengthwise.bounds.sampling import Sampling, distance_deviation, risk_deviation, uniform_deviation
    from lengthwise.bounds.tokens import TokenLosses, bounds_for, token_bound

_HOMES = {
    "contrastive": ("contrastive_bound",),
    "kantorovich": ("agnostic_bound", "margin_bound", "realizable_bound"),
    "plan": ("GuaranteePlan",),
    "sampling": ("Sampling", "distance_deviation", "risk_deviation", "uniform_deviation"),
    "tokens": ("TokenLosses", "bounds_for", "token_bound"),
}

__all__ = [
    "GuaranteePlan",
    "Sampling",
    "TokenLosses",
    "agnostic_bound",
    "bounds_for",
    "contrastive_bound",
    "distance_deviation",
    "margin_bound",
    "realizable_bound",
    "risk_deviation",
    "token_bound",
    "uniform_deviation",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"lengthwise.bounds.{home}"), name)
    raise AttributeError(f"module 'lengthwise.bounds' has no attribute {name!r}")
