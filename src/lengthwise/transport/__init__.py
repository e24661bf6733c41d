"""How far two weighted samples are apart: exact Wasserstein-1 distances with a certificate.

    from lengthwise.transport import TransportProblem, VectorCost, solve
    found = solve(TransportProblem(VectorCost(x, y)))  # x [n, d], y [m, d]
    found.certificate.primal, found.certificate.gap, found.claim()

    problem    two samples, their weights and the cost between them; what a solver returns
    solving    `solve`: chooses a method, solves, verifies, and reports what it chose
    verify     the certificate, recomputed from the costs, the plan and the potentials alone
    solvers/   the methods

Nothing here needs torch. Without numba (the extra `ot`) the same methods run interpreted, for a few thousand points.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lengthwise.transport.problem import MatrixCost, TransportProblem, VectorCost
    from lengthwise.transport.solving import Transported, solve

__all__ = ["MatrixCost", "TransportProblem", "Transported", "VectorCost", "solve"]


def __getattr__(name: str) -> Any:
    """The public names, loaded when first used: the solvers import numba where it is installed."""
    if name not in __all__:
        raise AttributeError(f"module 'lengthwise.transport' has no attribute {name!r}")
    home = "solving" if name in ("Transported", "solve") else "problem"
    return getattr(importlib.import_module(f"lengthwise.transport.{home}"), name)
