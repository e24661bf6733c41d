"""How strongly the answer of one layer depends on the frequencies that its heads average: the constant L.

    L = ‖U‖ (1 + m ‖A‖ ‖B‖) · sum over heads of ‖V‖ · (max ‖E_s‖ + max ‖p_i‖)

with m the Lipschitz constant of the activation. If x and z end in the same symbol at the same phase, and the weights
with which each head sees each (symbol, phase) differ by at most d in total, the answers differ by at most L d.
*Proof.* Head h gives V sum_c w_c y_c over classes c, so it changes by at most ‖V‖ max ‖y_c‖ d; the residual stream adds
the heads; y + B psi(A y + b) has the Lipschitz constant 1 + m ‖A‖ ‖B‖; then comes U. A step has no such constant.
"""

from __future__ import annotations

import math

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.numbers import Array, as_floats
from lengthwise.oracle.limit.transformer import LimitTransformer


def lipschitz_constant(model: LimitTransformer) -> float:
    """L, in the Euclidean norm of the answer; infinite with the activation "step". Norms are in double precision."""
    if len(model.layers) != 1:
        raise UsageError(
            "the constant L is defined for one layer; two layers have another one, known up to a polynomial"
        )
    layer = model.layers[0]
    size = _longest(model.embeddings) + _longest(model.positions)
    heads = sum(_norm(head.value) for head in layer.heads)
    if layer.mlp is None:
        return _norm(model.readout) * heads * size
    if layer.mlp.activation == "step":
        return math.inf
    return _norm(model.readout) * (1 + _norm(layer.mlp.inner) * _norm(layer.mlp.outer)) * heads * size


def _norm(matrix: Array) -> float:
    return float(np.linalg.norm(as_floats(matrix), ord=2))


def _longest(rows: Array) -> float:
    return float(np.linalg.norm(as_floats(rows), axis=1).max())
