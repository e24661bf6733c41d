"""Random signs and random groups, the same on every machine: integers are hashed, and no generator has a say."""

from __future__ import annotations

import torch
from torch import Tensor

from lengthwise.seeds import Draws


def random_signs(key: int, count: int) -> Tensor:
    """-1 or 1, float32, [count]."""
    bits = Draws(key, [0]).bits(count)[0]
    return torch.from_numpy((bits >> 63).astype("float32")) * 2 - 1


def random_groups(key: int, count: int, groups: int) -> Tensor:
    """The group of each of `count` things, [count]: a random order dealt out, so that sizes differ by 1 at most."""
    return torch.from_numpy(Draws(key, [0]).permutation(count)[0] % groups)
