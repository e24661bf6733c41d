"""Does a model look ahead? Other tokens later on must not change what it says of earlier ones."""

from __future__ import annotations

import numpy as np
import torch

from lengthwise.bounds.tokens.assumptions import PAST
from lengthwise.guarantees.predictor import Predictor
from lengthwise.guarantees.stretch import Stretch
from lengthwise.records import Assumption

TOLERANCE = 1e-3  # of logits in single precision, which change a little with what stands beside them


@torch.no_grad()
def only_the_past(predictor: Predictor, part: Stretch, rows: int = 4) -> Assumption:
    """Read some rows of the data twice, the second time with their later halves turned round."""
    widest = max(part.rows, key=lambda some: some.batch.inputs.shape[1]).batch
    inputs = widest.inputs[:rows]
    half = (inputs.shape[1] + 1) // 2
    if half == inputs.shape[1]:
        return Assumption(PAST)  # rows of one token cannot tell
    others = np.concatenate([inputs[:, :half], inputs[:, :half:-1], inputs[:, half : half + 1]], axis=1)
    others[:, half:] = np.where(others[:, half:] == inputs[:, half:], others[:, :1], others[:, half:])
    asked = torch.zeros(inputs.shape, dtype=torch.bool)
    asked[:, half - 1] = True
    first, second = (predictor.logits(predictor.states(torch.from_numpy(read), asked)) for read in (inputs, others))
    same = float((first - second).abs().max()) <= TOLERANCE * max(1.0, float(first.abs().max()))
    return Assumption(PAST, "checked" if same else "violated")
