"""Recurrences that are linear in their state: the delta rule and a diagonal state space.

The state of a head is a matrix S. A chunk of tokens is read at once, by products of matrices and, for the delta rule,
one triangular solution; between chunks S is carried on. One token is a chunk of its own, so generation and training
are the same code. A layer is that of our Transformer with the recurrence in the place of attention.

Shapes: B items, T tokens, H heads, K and V rows and columns of S, R keys per token, M = T R of them in all.
"""

from __future__ import annotations

import abc
import contextlib
import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from lengthwise.models.architecture import Interface
from lengthwise.models.others import DeltaRule, StateSpace
from lengthwise.models.transformer import small_first_weights

CHUNK = 64  # keys that are read at once: the work in a chunk grows with its square
_LEAST = 1e-6  # of the absolute value of a transition, whose logarithm is taken


def read_delta(
    queries: Tensor, keys: Tensor, values: Tensor, betas: Tensor, decays: Tensor | None, state: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """What queries [B, H, T, K] read after each token, [B, H, T, V], and the state [B, H, K, V] after the last; None is
    a state of zeros.

    At token t, S ← a S, then S ← S + β k (v - kᵀ S) for each of its R pairs in order, and q reads qᵀ S. Keys and values
    are [B, H, T, R, K or V], `betas` [B, H, T, R], and `decays` are ln a [B, H, T], or None where a is 1. In a chunk,
    what is written at key i is u_i with u_i + β_i Σ_{j<i} a_{j..i} (k_i·k_j) u_j = β_i (v_i - a_{0..i} k_iᵀ S): a
    system that is triangular, with ones on its diagonal (yang2024, the UT transform). O(T (CHUNK + K) V).
    """
    order, read = keys.shape[3], []
    for q, k, v, beta, decay in _chunks(max(1, CHUNK // order), queries, keys, values, betas, decays):
        k, v, beta = k.flatten(2, 3), v.flatten(2, 3), beta.flatten(2, 3)[..., None]  # [B, H, M, …]
        within, since = _products(decay, None, q)
        within = within.repeat_interleave(order, dim=-1)  # [B, H, T, M]
        before = (beta * k @ k.mT * within.repeat_interleave(order, dim=-2)).tril(-1)
        if state is not None:
            v = v - since.repeat_interleave(order, dim=-2) * (k @ state)
        written = torch.linalg.solve_triangular(before, beta * v, upper=False, unitriangular=True)
        read.append(_read(q, k, written, within, since, state))
        state = _carried(k, written, within, since, state)
    return torch.cat(read, dim=2), state


def read_diagonal(
    queries: Tensor, keys: Tensor, values: Tensor, transitions: Tensor, state: Tensor | None
) -> tuple[Tensor, Tensor | None]:
    """What queries [B, H or 1, T, K] read after each token, [B, H, T, V], and the state [B, H, K, V] after the last:
    S ← a S + k vᵀ, with a in (-1, 1) [B, H, T]. O(T (CHUNK + K) V)."""
    read = []
    for q, k, v, a in _chunks(CHUNK, queries, keys, values, transitions):
        within, since = _products(a.abs().clamp_min(_LEAST).log(), 1 - 2 * (a < 0).to(a.dtype), q)
        read.append(_read(q, k, v, within, since, state))
        state = _carried(k, v, within, since, state)
    return torch.cat(read, dim=2), state


def _read(q: Tensor, k: Tensor, v: Tensor, within: Tensor, since: Tensor, state: Tensor | None) -> Tensor:
    """What queries find in the state before a chunk and in what the chunk has written up to them."""
    read = (q @ k.mT * within) @ v
    return read if state is None else read + since * (q @ state)


def _carried(k: Tensor, v: Tensor, within: Tensor, since: Tensor, state: Tensor | None) -> Tensor:
    """The state after a chunk."""
    written = (k * within[..., -1, :, None]).mT @ v
    return written if state is None else written + since[..., -1:, :] * state


def _chunks(size: int, *parts: Tensor | None) -> Any:
    """The parts [B, H, T, …], cut along the tokens."""
    pieces = [None if part is None else part.split(size, dim=2) for part in parts]
    count = next(len(piece) for piece in pieces if piece is not None)
    return zip(*([None] * count if piece is None else piece for piece in pieces), strict=True)


def _products(logs: Tensor | None, signs: Tensor | None, like: Tensor) -> tuple[Tensor, Tensor]:
    """The product of the transitions from after token j to token i, [B, H, T, T], 0 where j is later; and of those up
    to token i, [B, H, T, 1]. Logarithms of the products are summed span by span, as differences of sums from the start
    would lose the digits of a short span behind a long one."""
    tokens = like.shape[2]
    if logs is None:
        ones = like.new_ones(tokens, tokens)
        return ones.tril(), ones[:, :1]
    spans = logs[..., None].expand(*logs.shape, tokens).tril(-1).cumsum(dim=-2)
    within, since = spans.exp().tril(), logs.cumsum(dim=-1).exp()[..., None]
    if signs is not None:
        turns = signs.cumprod(dim=-1)[..., None]
        within, since = within * turns * turns.mT, since * turns
    return within, since


class ShortConvolution(nn.Module):
    """Each channel filtered over the last few tokens, with SiLU behind it; the state is the tokens before."""

    def __init__(self, width: int, tokens: int) -> None:
        super().__init__()
        self.behind = tokens - 1
        self.filters = nn.Conv1d(width, width, tokens, groups=width)

    def forward(self, x: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor]:
        state = x.new_zeros(x.shape[0], self.behind, x.shape[2]) if state is None else state
        seen = torch.cat([state, x], dim=1)
        return F.silu(self.filters(seen.mT).mT), seen[:, seen.shape[1] - self.behind :]


class Fading(nn.Module):
    """How much time passes at a token, Δ, and the logarithm of what remains after it, -Δ exp(rate), one per head."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.time = nn.Linear(width, heads)
        self.rate = nn.Parameter(torch.linspace(1, 16, heads).log())

    def initialise(self) -> None:
        """At first Δ lies between 0.001 and 0.1: most of the state outlives many tokens (dao2024)."""
        first = torch.exp(torch.linspace(math.log(1e-3), math.log(1e-1), len(self.time.bias)))
        with torch.no_grad():
            self.time.bias.copy_(first + torch.log(-torch.expm1(-first)))  # softplus of this is `first`

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        passed = F.softplus(self.time(x)).transpose(1, 2)  # [B, H, T]
        return passed, -passed * self.rate.exp()[:, None]


def _unrounded(columns: Tensor) -> contextlib.AbstractContextManager[Any]:
    """A block in which nothing is rounded to bfloat16, where products are elsewhere."""
    if columns.dtype != torch.bfloat16:
        return contextlib.nullcontext()
    return torch.autocast(columns.device.type, enabled=False)


class Mixer(nn.Module, abc.ABC):
    """What stands in a layer in the place of attention: `project` reads the residual stream, `recur` the state."""

    fading: Any  # a `Fading`, or None where all of the state is kept

    def __init__(self, settings: DeltaRule | StateSpace, columns: int) -> None:
        super().__init__()
        self.heads, self.width = settings.heads, settings.width
        self.project = nn.Linear(settings.width, columns)
        self.convolution = ShortConvolution(columns, settings.convolution) if settings.convolution else None
        self.norm = nn.RMSNorm(settings.width // settings.heads)
        self.out = nn.Linear(settings.width, settings.width)

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        """[B, T, W] in and out, and the state behind the last token; None is the state before the first."""
        before, held = (None, None) if state is None else state
        columns = self.project(x)
        if self.convolution is not None:
            columns, before = self.convolution(columns, before)
        with _unrounded(columns):  # sums over many tokens
            x = x.float() if x.dtype == torch.bfloat16 else x
            mixed, held = self.recur(x, columns.to(x.dtype), held)  # [B, H, T, W / H]
        return self.out(mixed.transpose(1, 2).flatten(2)), (before, held)

    @abc.abstractmethod
    def recur(self, x: Tensor, columns: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor | None]:
        """What is read at each token, [B, H, T, W / H], and the state behind the last."""

    def initialise(self) -> None:
        """First weights that are not those of a Transformer."""
        if self.fading is not None:
            self.fading.initialise()

    def by_head(self, columns: Tensor, *each: int) -> Tensor:
        """[B, T, H … W / H] as [B, H, T, …, W / H]."""
        return columns.unflatten(-1, (self.heads, *each, self.width // self.heads)).transpose(1, 2)


class DeltaMixer(Mixer):
    """The delta rule, as `read_delta` defines it."""

    def __init__(self, settings: DeltaRule) -> None:
        super().__init__(settings, (1 + 2 * settings.order) * settings.width)
        self.order, self.largest = settings.order, 2 if settings.negative else 1
        self.beta = nn.Linear(settings.width, settings.heads * settings.order)
        self.fading = Fading(settings.width, settings.heads) if settings.gate else None

    def recur(self, x: Tensor, columns: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor | None]:
        several = self.order * self.width
        q, k, v = columns.split([self.width, several, several], dim=-1)
        q, k = F.normalize(self.by_head(q), dim=-1), F.normalize(self.by_head(k, self.order), dim=-1)
        beta = self.largest * self.beta(x).sigmoid().unflatten(-1, (self.heads, self.order)).transpose(1, 2)
        decay = None if self.fading is None else self.fading(x)[1]
        read, state = read_delta(q, k, self.by_head(v, self.order), beta, decay, state)
        return self.norm(read), state

    def initialise(self) -> None:
        """β has to come close to its ends, and varies with the token from the start."""
        super().initialise()
        nn.init.normal_(self.beta.weight, std=self.width**-0.5)


class StateSpaceMixer(Mixer):
    """A diagonal state space, as `read_diagonal` defines it, with a gate on what is read; k and q serve all heads."""

    def __init__(self, settings: StateSpace) -> None:
        super().__init__(settings, settings.width + 2 * settings.state)
        self.state, self.negative = settings.state, settings.negative
        self.fading = Fading(settings.width, settings.heads)
        self.gate = nn.Linear(settings.width, settings.width)
        self.direct = nn.Parameter(torch.ones(settings.heads, 1, 1))

    def recur(self, x: Tensor, columns: Tensor, state: Tensor | None) -> tuple[Tensor, Tensor | None]:
        v, k, q = columns.split([self.width, self.state, self.state], dim=-1)
        v, k, q = self.by_head(v), k[:, None], q[:, None]
        passed, logs = self.fading(x)
        transition = 2 * logs.exp() - 1 if self.negative else logs.exp()
        read, state = read_diagonal(q, k, passed[..., None] * v, transition, state)
        return self.norm((read + self.direct * v) * F.silu(self.by_head(self.gate(x)))), state


class RecurrentBlock(nn.Module):
    """A layer of our Transformer with a recurrence in the place of attention."""

    def __init__(self, mixer: Mixer, ratio: int) -> None:
        super().__init__()
        width = mixer.width
        self.mixer_norm, self.mixer, self.mlp_norm = nn.LayerNorm(width), mixer, nn.LayerNorm(width)
        self.mlp = nn.Sequential(nn.Linear(width, ratio * width), nn.ReLU(), nn.Linear(ratio * width, width))

    def forward(self, x: Tensor, state: Any) -> tuple[Tensor, Any]:
        mixed, state = self.mixer(self.mixer_norm(x), state)
        x = x + mixed
        return x + self.mlp(self.mlp_norm(x)), state


class LinearNetwork(nn.Module):
    """Tokens [B, T] in, outputs [B, T, outputs] out; `step` carries the states of the layers from chunk to chunk."""

    mixer: type[Mixer]

    def __init__(self, settings: DeltaRule | StateSpace, interface: Interface) -> None:
        super().__init__()
        self.embedding = nn.Embedding(interface.vocabulary, settings.width)
        mixers: list[Any] = [type(self).mixer(settings) for _ in range(settings.depth)]  # pyright: ignore
        self.blocks = nn.ModuleList(RecurrentBlock(mixer, settings.mlp_ratio) for mixer in mixers)
        self.norm = nn.LayerNorm(settings.width)
        self.output = nn.Linear(settings.width, interface.outputs, bias=False)
        small_first_weights(self, settings.depth, ("mixer.out.weight", "mlp.2.weight"))
        for mixer in mixers:
            mixer.initialise()

    def forward(self, tokens: Tensor) -> Tensor:
        return self.step(tokens, None)[0]

    def step(self, tokens: Tensor, state: Any) -> tuple[Tensor, Any]:
        x, states = self.embedding(tokens), []
        for block, held in zip(self.blocks, state or [None] * len(self.blocks), strict=True):
            x, held = block(x, held)
            states.append(held)
        return self.output(self.norm(x)), states


class DeltaNetwork(LinearNetwork):
    mixer = DeltaMixer


class StateSpaceNetwork(LinearNetwork):
    mixer = StateSpaceMixer
