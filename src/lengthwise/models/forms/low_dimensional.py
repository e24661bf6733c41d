"""Forms that train few numbers: factors of low rank, a point in a random subspace, and both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.models.forms import forms
from lengthwise.models.forms.form import Form, Map

if TYPE_CHECKING:
    from torch import Tensor

    from lengthwise.seeds import Seeds


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
        _check_rank(self.rank)

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map:
        from lengthwise.models.form_maps import LowRankMap

        return LowRankMap(initial, self.rank, seeds)


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
        _check_dimensions(self.dimensions)

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map:
        from lengthwise.models.form_maps import Moved, SubspaceMap

        return SubspaceMap(Moved(initial), self.dimensions, seeds)


@forms.register("sublora")
@dataclass(frozen=True)
class LowRankSubspace(Form):
    """The trained numbers of `lora:rank=…` are P w, with w of `dimensions` numbers (lotfi2024, section 5)."""

    rank: int = 4
    dimensions: int = 1000

    def __post_init__(self) -> None:
        _check_rank(self.rank)
        _check_dimensions(self.dimensions)

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map:
        from lengthwise.models.form_maps import LowRankMap, SubspaceMap

        return SubspaceMap(LowRankMap(initial, self.rank, seeds), self.dimensions, seeds)


def _check_rank(rank: int) -> None:
    if rank < 1:
        raise UsageError(f"a rank is at least 1, not {rank}")


def _check_dimensions(dimensions: int) -> None:
    if dimensions < 1:
        raise UsageError(f"a subspace has at least 1 dimension, not {dimensions}")
