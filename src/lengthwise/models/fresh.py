"""A model before training: its weights are a function of its seed."""

from __future__ import annotations

import torch

from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.seeds import Seeds


def fresh_model(architecture: Architecture, interface: Interface, seed: int) -> Transformer:
    """The untrained model of a seed; the caller's random state is left alone.

    The first weights are drawn by torch, so they are the same wherever torch's generator on the processor is.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(Seeds(seed).key("init") >> 1)
        return Transformer(architecture, interface)
