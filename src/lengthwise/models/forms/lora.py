"""Low-rank form: what is added to a matrix is the product of a tall and a flat one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.models.forms import forms
from lengthwise.models.forms.form import Form, Map
from lengthwise.models.forms.signs import random_signs
from lengthwise.seeds import Seeds

TALL, FLAT, WHOLE = ".tall", ".flat", ".whole"


@forms.register("lora")
@dataclass(frozen=True)
class LowRank(Form):
    """Every matrix W is W0 + B (A0 + A) with `rank` columns in B; B and A are trained.

    That holds for embedding and output too. A0 is made of random signs over the root of the rank, so that B moves the
    matrix as far as itself, and B is zero at first (hu2022, section 4.1). Vectors (biases, the gains of norms) are few
    and are trained whole, and so is a matrix that two factors would not make smaller.
    """

    rank: int = 4

    def __post_init__(self) -> None:
        check_rank(self.rank)

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map:
        return LowRankMap(initial, self.rank, seeds)


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


def check_rank(rank: int) -> None:
    if rank < 1:
        raise UsageError(f"a rank is at least 1, not {rank}")
