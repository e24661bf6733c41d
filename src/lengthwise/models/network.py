"""Networks that are not our Transformer: a module of torch, with what training and measuring ask of a network."""

from __future__ import annotations

import copy
import functools
import hashlib
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from lengthwise.errors import Interrupted, UsageError
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.model import Model
from lengthwise.models.transformer import Transformer, fresh_model
from lengthwise.positions import Position, Shape
from lengthwise.positions.encodings import NoPosition
from lengthwise.seeds import Seeds
from lengthwise.testing.networks import network_faults
from lengthwise.trust import said_in


@dataclass
class Carried:
    """What a network with a `step` keeps of the tokens that it has read; None before the first."""

    state: Any = None


class ModuleNetwork(nn.Module):
    """`module` takes tokens [B, T] and gives [B, T, outputs]; where it has an encoding of ours, it takes the positions
    of all tokens so far as `at`.

    A module may have a method `step(tokens, state)`, with state None before the first token. It gives the outputs at
    the new tokens and the next state, so that generation reads every token once.
    """

    def __init__(self, architecture: Model, interface: Interface, module: nn.Module) -> None:
        super().__init__()
        self.architecture, self.interface, self.module = architecture, interface, module
        self.position: Position = getattr(architecture, "position", NoPosition())
        plain = Shape(1, 1, interface.rows, interface.trained, architecture.causal)
        self.shape: Shape = plain if isinstance(self.position, NoPosition) else module.shape  # pyright: ignore

    def forward(
        self, tokens: Tensor, at: Tensor | None = None, scored: Tensor | None = None, cache: Carried | None = None
    ) -> Tensor:
        """Logits [B, T, outputs], or [number scored, outputs], as our Transformer gives them."""
        placed = {} if isinstance(self.position, NoPosition) else {"at": at}
        if cache is None:
            outputs = self.module(tokens, **placed)
        else:
            outputs, cache.state = self.module.step(tokens, cache.state, **placed)  # pyright: ignore
        return outputs if scored is None else outputs[scored]

    @torch.no_grad()
    def generate(self, prompt: Tensor, steps: int, at: Tensor | None = None) -> Tensor:
        """Greedy continuation of `prompt` [B, T] by `steps` tokens. A network without `step` reads the whole sequence
        for every token."""
        if not self.architecture.causal:
            raise UsageError("only a causal model writes token by token, and this one is declared with causal = False")
        carried = Carried() if hasattr(self.module, "step") else None
        tokens, start = prompt, prompt.shape[1]
        for step in range(steps):
            read = tokens if carried is None or step == 0 else tokens[:, -1:]
            logits = self(read, at=None if at is None else at[:, : start + step], cache=carried)
            tokens = torch.cat([tokens, logits[:, -1:].argmax(dim=-1)], dim=1)
        return tokens[:, start:]


Network = Transformer | ModuleNetwork


def fresh_network(architecture: Model, interface: Interface, seed: int) -> Network:
    """The untrained network of a seed; the caller's random state is left alone."""
    if isinstance(architecture, Architecture):
        return fresh_model(architecture, interface, seed)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(Seeds(seed).key("init") >> 1)
        return ModuleNetwork(architecture, interface, architecture.build(interface))


class GivenNetwork(Model):
    """A network that was made already; training begins with a copy of it, whatever the seed."""

    def __init__(self, module: nn.Module) -> None:
        self.module, self.causal = module, getattr(module, "causal", True)

    @functools.cached_property
    def digest(self) -> str:
        """A hash of its weights."""
        found = hashlib.blake2b(digest_size=16)
        for name, tensor in self.module.state_dict().items():
            found.update(f"\n{name} {tensor.dtype} {list(tensor.shape)} ".encode())
            found.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
        return found.hexdigest()

    def build(self, interface: Interface) -> nn.Module:  # noqa: ARG002
        return copy.deepcopy(self.module)

    @property
    def title(self) -> str:
        return type(self.module).__name__

    def plain(self) -> dict[str, Any]:
        return {"weights": self.digest}

    def __repr__(self) -> str:
        return f"{self.title} {self.digest}"


def check_network(network: ModuleNetwork, name: str, tokens: int, trains: bool = True) -> None:
    """Refuse, in one sentence, a network that does not fit its task: it is tried on `tokens` tokens."""
    interface, module = network.interface, network.module
    try:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            faults = network_faults(module, interface, network.architecture.causal, tokens, trains)
            fault = next(faults, None)
    except (Interrupted, UsageError):
        raise
    except Exception as error:
        what = f"tokens 0 to {interface.vocabulary - 1}, [items, tokens] = [3, {tokens}]"
        raise UsageError(f"{name} failed when it was given {what}: {said_in(error, type(module))}") from error
    if fault:
        raise UsageError(f"{name}: {fault}")
