"""The contract of an encoder: a position encoding inside a model."""

from __future__ import annotations

from torch import Tensor, nn


class Encoder(nn.Module):
    """The encoding inside a model; every method has the default of doing nothing.

    `at` holds positions, [items or 1, tokens], whole numbers that need not start at 0. One encoder serves all layers.
    """

    def embed(self, at: Tensor) -> Tensor | None:  # noqa: ARG002
        """What is added to the token embeddings, [items or 1, tokens, width]."""
        return None

    def rotate(self, x: Tensor, at: Tensor) -> Tensor:  # noqa: ARG002
        """Queries or keys [items, heads, tokens, head width], transformed by their positions."""
        return x

    def bias(self, queries_at: Tensor, keys_at: Tensor) -> Tensor | None:  # noqa: ARG002
        """What is added to the logits, [items or 1, heads, queries, keys]."""
        return None

    def scores(self, q: Tensor, k: Tensor, queries_at: Tensor, keys_at: Tensor, index: Tensor) -> Tensor | None:  # noqa: ARG002
        """All of q·k where it is not a product of rotated vectors; None where it is. `index`: the queries' places in
        the sequence, counted from 0."""
        return None


def distances(queries_at: Tensor, keys_at: Tensor) -> Tensor:
    """The query's position minus the key's, [items or 1, 1, queries, keys]; negative where a key lies ahead."""
    return (queries_at[:, :, None] - keys_at[:, None, :])[:, None]
