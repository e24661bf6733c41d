"""How far a query is from a key, for the encodings that depend on nothing else."""

from __future__ import annotations

from torch import Tensor


def distances(queries_at: Tensor, keys_at: Tensor) -> Tensor:
    """The query's position minus the key's, [items or 1, 1, queries, keys]; negative where a key lies ahead."""
    return (queries_at[:, :, None] - keys_at[:, None, :])[:, None]
