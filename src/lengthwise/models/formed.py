"""A model in a form: trained through its coordinates, and made again from them and the seed; and the maps of forms,
from what is trained to the weights."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.func import functional_call

from lengthwise.errors import UsageError
from lengthwise.files import replace_file, writing
from lengthwise.integrity import COORDINATES
from lengthwise.interrupts import held_back
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.forms import Form, Map
from lengthwise.models.placed import home
from lengthwise.models.transformer import Cache, Transformer, fresh_model
from lengthwise.seeds import Draws, Seeds

TALL, FLAT, WHOLE, POINT = ".tall", ".flat", ".whole", "point"


class Formed(Transformer):
    """A Transformer whose parameters are the coordinates of a form; its weights are made again at every pass.

    It is there to be trained. `settled` gives the plain Transformer with the weights of the moment.
    """

    def __init__(self, base: Transformer, form: Form, made: Map) -> None:
        nn.Module.__init__(self)  # the layers are those of `base`, whose weights are not parameters of this model
        self.architecture, self.interface, self.shape = base.architecture, base.interface, base.shape
        self.form, self.map = form, made
        self._base = (base,)  # in a tuple, as a module that is an attribute would bring its parameters along
        self.names = {name: name.replace(".", "/") for name in made.shapes}  # torch allows no dots in names
        for name, shape in made.shapes.items():
            self.register_parameter(self.names[name], nn.Parameter(torch.zeros(shape, device=home(base))))

    @property
    def coordinates(self) -> dict[str, Tensor]:
        own = dict(self.named_parameters())
        return {name: own[inner] for name, inner in self.names.items()}

    def forward(
        self, tokens: Tensor, at: Tensor | None = None, scored: Tensor | None = None, cache: Cache | None = None
    ) -> Tensor:
        weights = self.map.weights(self.coordinates)
        return functional_call(self._base[0], weights, (tokens, at, scored, cache))

    def train(self, mode: bool = True) -> Formed:
        self._base[0].train(mode)  # some attention rules differ in training
        return super().train(mode)

    @torch.no_grad()
    def settled(self) -> Transformer:
        """The plain model, with weights of its own."""
        (base,) = self._base
        model = fresh_model(base.architecture, base.interface, 0)
        model.load_state_dict({**base.state_dict(), **self.map.weights(self.coordinates)})
        return model.eval()


def in_form(model: Transformer, form: Form, seed: int) -> Transformer:
    """The untrained model of a seed, ready to be trained in a form; `full` is the model itself."""
    made = form.map_for(_initial(model), Seeds(seed))
    return model if made is None else Formed(model, form, made)


def rebuilt(
    architecture: Architecture,
    interface: Interface,
    form: Form,
    seed: int,
    coordinates: Mapping[str, Tensor | NDArray[np.float32]],
) -> Transformer:
    """The model that these coordinates stand for: what a decoder does that knows this package and what is given here.

    Nothing else enters. On one machine the weights are those of training bit for bit. Elsewhere the initial weights are
    the same where torch draws the same normal numbers on the processor, and a product of two factors (`lora`) may be
    rounded otherwise; random signs and groups are the same everywhere. For `full` the coordinates are the weights.
    """
    model = fresh_model(architecture, interface, seed)
    made = form.map_for(_initial(model), Seeds(seed))
    own: dict[str, Any] = model.state_dict()
    wanted = {name: tuple(weight.shape) for name, weight in own.items()} if made is None else dict(made.shapes)
    given = {name: torch.as_tensor(value, dtype=torch.float32) for name, value in coordinates.items()}
    if {name: tuple(value.shape) for name, value in given.items()} != wanted:
        raise UsageError("the coordinates are not those of this form and architecture: their names or shapes differ")
    with torch.no_grad():
        weights = given if made is None else made.weights(given)
        model.load_state_dict({**own, **weights})
    return model.eval()


def save_coordinates(folder: Path, model: Formed) -> None:
    """Write what was trained next to the weights that it makes."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in model.coordinates.items()}
    with writing(folder), replace_file(folder / COORDINATES) as part:
        save_file(tensors, part)


def load_coordinates(folder: Path) -> dict[str, NDArray[np.float32]]:
    """The coordinates that a run in a form keeps."""
    path = folder / COORDINATES
    if not path.is_file():
        raise UsageError(f"{folder} has no {COORDINATES}; only a run trained with a form other than full has one")
    try:
        with held_back():
            return {name: value.numpy() for name, value in load_file(path).items()}
    except (SafetensorError, OSError) as error:
        raise UsageError(f"{path} cannot be read ({str(error).splitlines()[0]})") from error


def _initial(model: Transformer) -> dict[str, Tensor]:
    return {name: weight.detach() for name, weight in model.named_parameters()}


class LowRankMap(Map):
    def __init__(self, initial: Mapping[str, Tensor], rank: int, seeds: Seeds) -> None:
        self.initial = dict(initial)
        shapes: dict[str, tuple[int, ...]] = {}
        self.first: dict[str, Tensor] = {}  # A0 of the matrices that are factored
        for number, (name, weight) in enumerate(self.initial.items()):
            if weight.dim() == 2 and rank * sum(weight.shape) < weight.numel():
                signs = random_signs(seeds.key("low rank", number), rank * weight.shape[1])
                self.first[name] = signs.view(rank, -1).to(weight) / rank**0.5
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
        moved = (self.signs.to(point) * point[self.groups.to(point.device)]).split(self.counts)
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
