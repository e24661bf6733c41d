"""What a model is made of: its matrices with their sizes and norms, and how large hidden states are on given inputs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.models.forward import Trace
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, NormPart


@dataclass(frozen=True)
class Matrix:
    """A stored matrix: its place, its shape, its largest singular value and the root of its sum of squares."""

    place: str
    shape: tuple[int, ...]
    spectral: float
    frobenius: float

    @property
    def parameters(self) -> int:
        return self.shape[0] * self.shape[1]


@dataclass(frozen=True)
class Radius:
    """How long hidden states are at one place of the forward pass: the least, the median and the greatest norm.
    `inside` is True between the two parts of a block."""

    place: str
    inside: bool
    least: float
    median: float
    greatest: float


def matrices(anatomy: Anatomy) -> list[Matrix]:
    """Every matrix of the model as it is stored: all heads of an attention as one, shared keys and a tied head once."""
    return [
        Matrix(place, tuple(tensor.shape), spectral_norm(tensor), float(tensor.double().norm()))
        for place, tensor in _named(anatomy)
    ]


def spectral_norm(matrix: Tensor) -> float:
    """The largest singular value, from the eigenvalues of AᵀA or AAᵀ, whichever is smaller.

    Good to about 1e-12 of the value, which is plenty for a table; certificates round up by a margin of their own.
    """
    matrix = matrix.double()
    gram = matrix.T @ matrix if matrix.shape[0] >= matrix.shape[1] else matrix @ matrix.T
    return float(torch.linalg.eigvalsh(gram)[-1].clamp(min=0.0).sqrt())


def _named(anatomy: Anatomy) -> Iterator[tuple[str, Tensor]]:
    yield "embedding", anatomy.embed
    if anatomy.table is not None and anatomy.table.rows is not None:
        yield "positions", anatomy.table.rows
    for number, block in enumerate(anatomy.blocks):
        for name, matrix in block_matrices(block):
            yield f"block {number} {name}", matrix
    if anatomy.head is not None and anatomy.head is not anatomy.embed:
        yield "output", anatomy.head


def block_matrices(block: BlockPart) -> Iterator[tuple[str, Tensor]]:
    """The matrices of a block by name: query, key, value, out, mlp in, mlp gate, mlp out."""
    attention = block.attention
    yield "query", attention.wq.flatten(0, 1)
    yield "key", _stored(attention, attention.wk).flatten(0, 1)
    yield "value", _stored(attention, attention.wv).flatten(0, 1)
    yield "out", attention.wo.transpose(0, 1).flatten(1)
    yield "mlp in", block.mlp.w_in
    if block.mlp.w_gate is not None:
        yield "mlp gate", block.mlp.w_gate
    yield "mlp out", block.mlp.w_out


def _stored(attention: AttentionPart, heads: Tensor) -> Tensor:
    """The different heads of keys or values, each once."""
    return heads[:: attention.heads // (attention.key_heads or attention.heads)]


def norm_gains(anatomy: Anatomy) -> list[tuple[str, str, float]]:
    """Every norm: its place, its kind, and the largest absolute entry of its weight."""
    found: list[tuple[str, NormPart | None]] = [("embedding", anatomy.norm_embed)]
    for number, block in enumerate(anatomy.blocks):
        found += [(f"block {number} attention", block.norm_attention), (f"block {number} mlp", block.norm_mlp)]
        found += [(f"block {number} queries", block.attention.norm_q), (f"block {number} keys", block.attention.norm_k)]
    found.append(("final", anatomy.norm_final))
    return [(place, norm.kind, float(norm.weight.abs().max())) for place, norm in found if norm is not None]


def radii(trace: Trace) -> list[Radius]:
    """Norms of hidden states: what enters the blocks, what leaves each attention and each MLP, and the last of all."""
    found = [_radius("embedding", trace.embedded)]
    for number, block in enumerate(trace.blocks):
        found.append(_radius(f"block {number} attention", block.after_attention, inside=True))
        found.append(_radius(f"block {number} mlp", block.after_mlp))
    return [*found, _radius("final", trace.final)]


def _radius(place: str, hidden: Tensor, inside: bool = False) -> Radius:
    norms = hidden.norm(dim=-1)
    return Radius(place, inside, float(norms.min()), float(norms.median()), float(norms.max()))
