"""Subspace form: all weights move together in a random subspace of few dimensions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.forms import forms
from lengthwise.models.forms.form import Form, Map
from lengthwise.models.forms.lora import LowRankMap, check_rank
from lengthwise.models.forms.signs import random_groups, random_signs
from lengthwise.seeds import Seeds

POINT = "point"


@forms.register("subspace")
@dataclass(frozen=True)
class Subspace(Form):
    """The weights are θ0 + P w, with w of `dimensions` numbers and P a random matrix (li2018, section 2).

    Row i of P has one entry, a random sign, in a random column: every number of w moves its own group of weights, each
    up or down, and the groups are equally large. So the columns are orthogonal, P w takes one multiplication a weight,
    and a step of w moves every weight as far as a step of its own would.
    """

    dimensions: int = 1000

    def __post_init__(self) -> None:
        check_dimensions(self.dimensions)

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map:
        return SubspaceMap(Moved(initial), self.dimensions, seeds)


@forms.register("sublora")
@dataclass(frozen=True)
class LowRankSubspace(Form):
    """The trained numbers of `lora:rank=…` are P w, with w of `dimensions` numbers (lotfi2024, section 5)."""

    rank: int = 4
    dimensions: int = 1000

    def __post_init__(self) -> None:
        check_rank(self.rank)
        check_dimensions(self.dimensions)

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map:
        return SubspaceMap(LowRankMap(initial, self.rank, seeds), self.dimensions, seeds)


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


def check_dimensions(dimensions: int) -> None:
    if dimensions < 1:
        raise UsageError(f"a subspace has at least 1 dimension, not {dimensions}")
