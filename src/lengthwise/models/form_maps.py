"""The maps of forms: from the numbers that are trained to the weights of a model."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.forms import Map
from lengthwise.seeds import Draws, Seeds

TALL, FLAT, WHOLE, POINT = ".tall", ".flat", ".whole", "point"


class LowRankMap(Map):
    def __init__(self, initial: Mapping[str, Tensor], rank: int, seeds: Seeds) -> None:
        self.initial = dict(initial)
        shapes: dict[str, tuple[int, ...]] = {}
        self.first: dict[str, Tensor] = {}  # A0 of the matrices that are factored
        for number, (name, weight) in enumerate(self.initial.items()):
            if weight.dim() == 2 and rank * sum(weight.shape) < weight.numel():
                signs = random_signs(seeds.key("low rank", number), rank * weight.shape[1])
                self.first[name] = signs.view(rank, -1).to(weight.dtype) / rank**0.5
                shapes[name + TALL] = (weight.shape[0], rank)
                shapes[name + FLAT] = (rank, weight.shape[1])
            else:
                shapes[name + WHOLE] = tuple(weight.shape)
        self.shapes = shapes

    def weights(self, coordinates: Mapping[str, Tensor]) -> dict[str, Tensor]:
        made = {}
        for name, weight in self.initial.items():
            if name in self.first:
                flat = self.first[name] + coordinates[name + FLAT]
                made[name] = torch.addmm(weight, coordinates[name + TALL], flat)
            else:
                made[name] = weight + coordinates[name + WHOLE]
        return made


class Moved(Map):
    """Every weight is its initial value and what was added to it."""

    def __init__(self, initial: Mapping[str, Tensor]) -> None:
        self.initial = dict(initial)
        self.shapes = {name: tuple(weight.shape) for name, weight in self.initial.items()}

    def weights(self, coordinates: Mapping[str, Tensor]) -> dict[str, Tensor]:
        return {name: weight + coordinates[name] for name, weight in self.initial.items()}


class SubspaceMap(Map):
    """A map whose coordinates are those of another one, restricted to a random subspace."""

    def __init__(self, inner: Map, dimensions: int, seeds: Seeds) -> None:
        self.inner = inner
        self.counts = [math.prod(shape) for shape in inner.shapes.values()]
        total = sum(self.counts)
        if dimensions > total:
            raise UsageError(f"a subspace of {dimensions} dimensions does not fit into {total} numbers; use fewer")
        self.shapes = {POINT: (dimensions,)}
        self.groups = random_groups(seeds.key("subspace groups"), total, dimensions)
        self.signs = random_signs(seeds.key("subspace signs"), total)

    def weights(self, coordinates: Mapping[str, Tensor]) -> dict[str, Tensor]:
        point = coordinates[POINT]
        moved = (self.signs.to(point.dtype) * point[self.groups]).split(self.counts)
        shapes = self.inner.shapes.items()
        return self.inner.weights({name: part.view(shape) for (name, shape), part in zip(shapes, moved, strict=True)})


# Signs and groups are the same on every machine: integers are hashed, and no generator has a say.


def random_signs(key: int, count: int) -> Tensor:
    """-1 or 1, float32, [count]."""
    bits = Draws(key, [0]).bits(count)[0]
    return torch.from_numpy((bits >> 63).astype("float32")) * 2 - 1


def random_groups(key: int, count: int, groups: int) -> Tensor:
    """The group of each of `count` things, [count]: a random order dealt out, so that sizes differ by 1 at most."""
    return torch.from_numpy(Draws(key, [0]).permutation(count)[0] % groups)
