"""The contract of a form: from coordinates, which are trained, to weights, which make the model."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import TYPE_CHECKING

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
