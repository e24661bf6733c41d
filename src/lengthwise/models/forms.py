"""How the weights of a model are made from what is trained.

A bound by compression pays for every number that training chose. A form lets training choose few: `lora` a sum of few
outer products for every matrix, `subspace` a point in a random subspace of all weights, `sublora` a point in a random
subspace of such sums. Whatever else a form needs comes from the seed of the run.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.registry import Registry

if TYPE_CHECKING:
    from torch import Tensor

    from lengthwise.seeds import Seeds


class Map(abc.ABC):
    """From coordinates to the weights of one model. `shapes` names the coordinates and gives their shapes.

    At coordinates that are all zero the weights are the initial ones, bit for bit, and every coordinate moves some
    weight. The map is a fixed function: what is random in it was drawn from the seed when it was made.
    """

    shapes: Mapping[str, tuple[int, ...]]

    @abc.abstractmethod
    def weights(self, coordinates: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """The weights by their names, differentiable in the coordinates."""


class Form(abc.ABC):
    """How weights are made from what is trained. A subclass is a frozen dataclass of settings."""

    @abc.abstractmethod
    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map | None:
        """The map of a model with these initial weights; None where the weights themselves are trained."""


forms: Registry[Form] = Registry(
    "form", "lengthwise.models.forms", "lengthwise.forms", base=Form, contract="lengthwise.testing:check_form"
)


@forms.register("full")
@dataclass(frozen=True)
class Full(Form):
    """Every weight is trained; the weights are their own coordinates."""

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> None:  # noqa: ARG002
        return None


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
        from lengthwise.models.formed import LowRankMap

        return LowRankMap(initial, self.rank, seeds)


@forms.register("subspace")
@dataclass(frozen=True)
class Subspace(Form):
    """The weights are θ0 + P w, with w of `dimensions` numbers and P a random matrix (li2018, section 2).

    Row i of P has one entry, a random sign, in a random column: every number of w moves its own group of weights, each
    up or down, and the groups are equally large. So the columns are orthogonal, P w takes one multiplication per
    weight, and a step of w moves every weight as far as a step of its own would.
    """

    dimensions: int = 1000

    def __post_init__(self) -> None:
        _check_dimensions(self.dimensions)

    def map_for(self, initial: Mapping[str, Tensor], seeds: Seeds) -> Map:
        from lengthwise.models.formed import Moved, SubspaceMap

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
        from lengthwise.models.formed import LowRankMap, SubspaceMap

        return SubspaceMap(LowRankMap(initial, self.rank, seeds), self.dimensions, seeds)


def _check_rank(rank: int) -> None:
    if rank < 1:
        raise UsageError(f"a rank must be at least 1, not {rank}")


def _check_dimensions(dimensions: int) -> None:
    if dimensions < 1:
        raise UsageError(f"a subspace must have at least 1 dimension, not {dimensions}")
