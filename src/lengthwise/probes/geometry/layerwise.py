"""Hidden states one block after the other, so that memory does not grow with depth; and weights of the same size that
were never trained.

**Random weights.** Every tensor keeps its size and loses its structure: matrices, embeddings, tables of positions and
biases are drawn from a normal distribution with the root mean square of the trained tensor, and the weights of a norm
are all equal to theirs. Matching each tensor, instead of drawing all with a deviation of 0.02, keeps the scale of each
part relative to the others, so what differs from the trained model is what training put into the directions.
Position encodings that are functions (biases, sinusoids, rotations) stay as they are, and so do the numbers per head
that an attention rule learned; its matrices are drawn. Blocks are drawn when needed.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from lengthwise.models.forward import apply_block, embed
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, NormPart, TablePart
from lengthwise.seeds import Seeds

Part = TypeVar("Part")
Change = Callable[[int, BlockPart], BlockPart]


def stream(anatomy: Anatomy, tokens: Tensor, change: Change | None = None) -> Iterator[tuple[str, Tensor]]:
    """The place and the hidden states [B, T, W] after the embedding and after each block, one after the other.

    Sequences go through a block one at a time, and nothing of a block is kept but the states it hands on: at no time is
    there more than one sequence's attention. `change` may put another block in the place of block number n.
    """
    at = anatomy.places(tokens.shape[1])
    x = embed(anatomy, tokens, at)
    yield "embedding", x
    for number, block in enumerate(anatomy.blocks):
        block = block if change is None else change(number, block)
        x = x.to(block.mlp.w_in.dtype)
        x = torch.cat([apply_block(block, one, at).after_mlp for one in x.split(1)])
        yield f"block {number}", x


def sees_only_the_past(anatomy: Anatomy, length: int) -> bool:
    """Whether the states of a prefix are the first states of the whole: then one pass serves every length."""
    half = max(1, length // 2)
    same_places = torch.equal(anatomy.places(half), anatomy.places(length)[:, :half])
    return same_places and all(block.attention.causal for block in anatomy.blocks)


def in_single_precision(_: int, block: BlockPart) -> BlockPart:
    """The block in float32, which takes half the time; a block with functions of its own stays as it is."""
    attention = block.attention
    if attention.bias is not None or attention.scores is not None or attention.network is not None:
        return block
    return _mapped(block, lambda _part, _name, tensor: tensor.float() if tensor.is_floating_point() else tensor)


def random_outside(anatomy: Anatomy, seed: int) -> Anatomy:
    """The model with a random embedding, table of positions and norm of embeddings; its blocks are the trained ones."""
    generator = _generator(seed, 0)
    table = anatomy.table
    if table is not None and table.rows is not None:
        rows = _alike(table.rows, generator)
        table = TablePart(lambda at: rows[at], rows, float(rows.norm(dim=1).max()))
    embedding = _alike(anatomy.embed, generator)
    norm = None if anatomy.norm_embed is None else _mapped(anatomy.norm_embed, _drawn(generator))
    return dataclasses.replace(anatomy, embed=embedding, table=table, norm_embed=norm)


def random_blocks(seed: int) -> Change:
    """A change that puts a random block in the place of each."""
    return lambda number, block: _mapped(block, _drawn(_generator(seed, 1 + number)))


def _generator(seed: int, place: int) -> torch.Generator:
    return torch.Generator().manual_seed(Seeds(seed).key("random weights", place) >> 1)  # it takes 63 bits


def _drawn(generator: torch.Generator) -> Callable[[Any, str, Tensor], Tensor]:
    def change(part: Any, name: str, tensor: Tensor) -> Tensor:
        if name == "rotary":
            return tensor
        if isinstance(part, NormPart) and name == "weight":
            return torch.full_like(tensor, float(tensor.square().mean().sqrt()))
        if isinstance(part, AttentionPart) and name in ("wk", "wv", "bk", "bv") and part.key_heads:
            repeated = part.heads // part.key_heads  # heads that share their keys still share them
            return _alike(tensor[::repeated], generator).repeat_interleave(repeated, dim=0)
        return _alike(tensor, generator)

    return change


def _alike(tensor: Tensor, generator: torch.Generator) -> Tensor:
    drawn = torch.empty(tensor.shape, dtype=tensor.dtype).normal_(generator=generator)  # the same on every device
    return drawn.to(tensor.device) * tensor.square().mean().sqrt()


def _mapped(part: Part, change: Callable[[Any, str, Tensor], Tensor]) -> Part:
    """The part with every tensor in it changed."""
    made: dict[str, Any] = {}
    for field in dataclasses.fields(part):  # pyright: ignore[reportArgumentType]
        value = getattr(part, field.name)
        if isinstance(value, Tensor):
            made[field.name] = change(part, field.name, value)
        elif isinstance(value, nn.Module):
            made[field.name] = drawn = copy.deepcopy(value)
            for name, tensor in drawn.named_parameters():
                tensor.data = change(part, name, tensor.data) if tensor.dim() > 1 else tensor.data
        elif dataclasses.is_dataclass(value):
            made[field.name] = _mapped(value, change)
    return dataclasses.replace(part, **made)  # pyright: ignore[reportArgumentType]
