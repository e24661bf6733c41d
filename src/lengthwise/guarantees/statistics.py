"""From the states of a model to what is kept of every predicted token."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.bounds.tokens.losses import KS
from lengthwise.errors import LengthwiseError
from lengthwise.guarantees.predictor import Predictor

CELLS = 1 << 23  # logits that exist at once: 64 megabytes


class Statistics(NamedTuple):
    """Surprise [n] and entropy [n] in nats, rank [n], mass of the k likeliest [n, 3]."""

    surprise: NDArray[np.float32]
    entropy: NDArray[np.float32]
    rank: NDArray[np.int32]
    mass: NDArray[np.float32]


@torch.no_grad()
def statistics_of(predictor: Predictor, states: Tensor, targets: Tensor) -> Statistics:
    """What the model said of each target. O(n W V) work for the logits, O(CELLS) memory whatever n and V."""
    rows = max(1, CELLS // predictor.vocabulary)
    parts = [
        _some(predictor.logits(states[first : first + rows]), targets[first : first + rows])
        for first in range(0, len(targets), rows)
    ]
    return Statistics(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _some(logits: Tensor, targets: Tensor) -> Statistics:
    # In double precision: in single, surprises over 50,000 tokens came out 2e-5 nats too small, not only rounded.
    log_p = logits.double().log_softmax(dim=-1)
    at = targets[:, None]
    asked = log_p.gather(1, at)
    if bool(torch.isnan(asked).any()):
        raise LengthwiseError("the model gives NaN where a probability is wanted; its weights are too large to be run")
    p = log_p.exp()
    entropy = torch.special.entr(p).sum(dim=1)
    # A tie counts against the model: those as likely as the token stand before it.
    rank = (logits >= logits.gather(1, at)).sum(dim=1) - 1
    most = p.topk(min(max(KS), p.shape[1]), dim=1).values.cumsum(dim=1)
    mass = torch.stack([most[:, min(k, most.shape[1]) - 1] for k in KS], dim=1).clamp(max=1.0)
    return Statistics(
        (-asked[:, 0]).clamp(min=0).float().numpy(),
        entropy.clamp(min=0).float().numpy(),
        rank.to(torch.int32).numpy(),
        mass.float().numpy(),
    )
