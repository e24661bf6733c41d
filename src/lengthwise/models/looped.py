"""A Transformer whose layers are repeated, more often for longer inputs.

A token at place i passes through the layers n(i) times and then stays as it is. With loops=size, n(i) is the number of
tokens up to i or, behind the end of the prompt, up to there: it depends on nothing that comes later. A chain of steps
from token to token is never longer than that.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from lengthwise.models.architecture import Interface
from lengthwise.models.others import Looped
from lengthwise.models.transformer import Cache, Transformer
from lengthwise.tasks.batch import SEP


@dataclass
class LoopState:
    """What is known of the tokens read so far: their inputs and final states [B, T, W], the number of tokens up to the
    end of the prompt [B, 1], 0 while it has not ended, and the cache of every pass, which the next step extends."""

    inputs: Tensor
    states: Tensor
    prompt: Tensor
    caches: list[Cache] = field(default_factory=list)


class LoopedNetwork(nn.Module):
    def __init__(self, settings: Looped, interface: Interface) -> None:
        super().__init__()
        self.settings, self.inject = settings, settings.inject
        self.inner = Transformer(settings.transformer(), interface)
        self._initialise()
        self.shape = self.inner.shape

    def _initialise(self) -> None:
        """Larger than a Transformer's: what a token hands on in one pass has to arrive after many of them, and the
        input is added to states that are normalised."""
        nn.init.normal_(self.inner.embedding.weight)
        for module in self.inner.blocks.modules():
            if isinstance(module, nn.Linear):
                nn.init.normal_(module.weight, std=module.in_features**-0.5)

    def forward(self, tokens: Tensor, at: Tensor | None = None) -> Tensor:
        """Outputs [B, T, outputs]."""
        return self._read(tokens, None, at, keep=False)[0]

    def step(self, tokens: Tensor, state: LoopState | None, at: Tensor | None = None) -> tuple[Tensor, LoopState]:
        """Outputs at the new tokens, and what is known then. `at` are the positions of all tokens so far."""
        return self._read(tokens, state, at, keep=True)

    def _read(self, tokens: Tensor, state: LoopState | None, at: Tensor | None, keep: bool) -> tuple[Tensor, LoopState]:
        start = 0 if state is None else state.inputs.shape[1]
        total = start + tokens.shape[1]
        at = torch.arange(total, device=tokens.device)[None] if at is None else at
        inputs = self.inner.embedding(tokens)
        added = self.inner.encoder.embed(at[:, start:])
        inputs = inputs if added is None else inputs + added.to(inputs.dtype)
        if state is None:
            state = LoopState(inputs[:, :0], inputs[:, :0], tokens.new_zeros(len(tokens), 1))
        passes, prompt = self._passes(tokens, state.prompt, start)
        x = torch.zeros_like(inputs) if self.inject else inputs
        for loop in range(int(passes.max())):
            cache = self._cache(state, loop, at) if keep else None
            first = int((passes > loop).any(dim=0).int().argmax())  # tokens before it are final: n(i) never falls
            passed = self._pass(x + inputs if self.inject else x, at, start, first, cache)
            x = torch.cat([x[:, :first], torch.where((passes > loop)[:, first:, None], passed, x[:, first:])], dim=1)
        states = torch.cat([state.states, x], dim=1)
        return self.inner.output(x), LoopState(torch.cat([state.inputs, inputs], dim=1), states, prompt, state.caches)

    def _passes(self, tokens: Tensor, prompt: Tensor, start: int) -> tuple[Tensor, Tensor]:
        """How often each of the new tokens passes, [B, T], and the number of tokens up to the end of the prompt."""
        place = torch.arange(start + 1, start + 1 + tokens.shape[1], device=tokens.device)[None].expand(tokens.shape)
        ends = torch.where(tokens == SEP, place, 0)
        ended = torch.cat([prompt, ends], dim=1)
        ended = torch.where(ended == 0, torch.iinfo(ended.dtype).max, ended).cummin(dim=1).values[:, 1:]
        last = ended[:, -1:]
        passes = self.settings.passes(torch.minimum(place, ended))
        return passes, torch.where(last > start + tokens.shape[1], 0, last)

    def _pass(self, x: Tensor, at: Tensor, start: int, first: int, cache: Cache | None) -> Tensor:
        """The layers once, normalised, for the new tokens x [B, T, W]; of the last layer, from the token `first` on."""
        inner, joint = self.inner, self.inner.architecture.attention.joint
        index = torch.arange(0 if joint else start, at.shape[1], device=x.device)
        sight = inner._sight(at, index)
        for block in inner.blocks[:-1]:
            x = block(x, sight, inner.encoder, cache)
        places = torch.arange(first, x.shape[1], device=x.device) if first else None
        sight = sight if joint or not first else inner._sight(at, index[first:])
        return inner.norm(inner.blocks[-1](x, sight, inner.encoder, cache, places))

    def _cache(self, state: LoopState, loop: int, at: Tensor) -> Cache:
        """The cache of a pass. Where no token has passed so often before, those that were read are final: they are
        read once more for their keys."""
        if loop == len(state.caches):
            state.caches.append(Cache())
            if known := state.inputs.shape[1]:
                x = state.states + state.inputs if self.inject else state.states
                self._pass(x, at[:, :known], 0, 0, state.caches[loop])
        return state.caches[loop]
