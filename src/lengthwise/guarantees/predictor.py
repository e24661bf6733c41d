"""What predicts: a model of ours or of `transformers`, behind the few things that a bound asks of it."""

from __future__ import annotations

import abc
import hashlib
import json
from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lengthwise.errors import UsageError
from lengthwise.models.formed import rebuilt
from lengthwise.models.forms import Form, forms
from lengthwise.models.transformer import Transformer
from lengthwise.registry import plain_settings

Tensors = dict[str, NDArray[np.float32]]


class Predictor(abc.ABC):
    """A model that predicts a token from those before it.

    `vocabulary` is V, how many tokens there are to choose from; `longest` is how many tokens it can read at once (None:
    any number); `network` holds the weights. Prediction is in two steps so that the logits of many tokens never exist
    together: V may be 50,000.
    """

    network: nn.Module
    vocabulary: int
    longest: int | None

    @abc.abstractmethod
    def states(self, inputs: Tensor, scored: Tensor) -> Tensor:
        """What the model knows where `scored` [B, T] is True, [scored, W], having read `inputs` [B, T]."""

    @abc.abstractmethod
    def logits(self, states: Tensor) -> Tensor:
        """[some, W] → [some, V]."""

    @abc.abstractmethod
    def header(self) -> dict[str, Any]:
        """What a decoder must be told beside the weights, ready for JSON."""

    @property
    def parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.network.parameters())

    def digest(self) -> str:
        """What the model is, as it was read: its settings and every stored number, wherever the files lie. O(bytes)."""
        found = hashlib.sha256(json.dumps(self.header(), sort_keys=True, default=str).encode())
        for name, tensor in self._numbers().items():
            found.update(f"\n{name} {tensor.dtype} {list(tensor.shape)} ".encode())
            found.update(np.ascontiguousarray(tensor).data)
        return found.hexdigest()

    def _numbers(self) -> Mapping[str, NDArray[Any]]:
        return {name: tensor.detach().float().numpy() for name, tensor in _stored(self.network).items()}

    def tensors(self) -> Tensors:
        """A copy of every number that the model was given by training, tied ones once."""
        return {name: np.array(tensor.detach().float().numpy()) for name, tensor in _stored(self.network).items()}

    @torch.no_grad()
    def fill(self, tensors: Mapping[str, NDArray[np.float32]]) -> None:
        """Put decoded weights into the model: those of `tensors()`, no more and no less."""
        places = _stored(self.network)
        if set(places) != set(tensors):
            wrong = min(set(places) ^ set(tensors))
            raise UsageError(f"the decoded weights are not those of this model: {wrong!r} is in one of them alone")
        for name, place in places.items():
            if place.shape != tensors[name].shape:
                raise UsageError(
                    f"the decoded weights {name!r} have the shape {tensors[name].shape}, not {place.shape}"
                )
            place.copy_(torch.from_numpy(np.array(tensors[name])))


class OurPredictor(Predictor):
    """A Transformer of ours; positions are those of testing, the same for every context of a length."""

    def __init__(self, model: Transformer) -> None:
        if not model.architecture.causal:
            raise UsageError("a bound is about a model that looks only at what came before, and this one is an encoder")
        self.network = self.model = model.eval()
        self.vocabulary, self.longest = model.interface.outputs, None

    def states(self, inputs: Tensor, scored: Tensor) -> Tensor:
        items, tokens = inputs.shape
        at = self.model.architecture.position.indices(tokens, items, self.model.shape, None, False)
        return self.model(inputs, at=at, scored=scored)

    def logits(self, states: Tensor) -> Tensor:
        return states  # V is small: the forward pass has made them

    def header(self) -> dict[str, Any]:
        seen = self.model.interface
        interface = {"vocabulary": seen.vocabulary, "outputs": seen.outputs, "rows": seen.rows, "trained": seen.trained}
        return {"model": "lengthwise", **plain_settings(self.model.architecture), **interface}


class FormedPredictor(OurPredictor):
    """A model of ours that was trained in a form: its message holds the coordinates, the form and the seed, and its
    weights are made from them as a decoder would make them."""

    def __init__(self, model: Transformer, form: Form, seed: int, coordinates: Tensors) -> None:
        super().__init__(model)
        self.form, self.seed, self.coordinates = form, seed, coordinates

    def _numbers(self) -> Mapping[str, NDArray[Any]]:
        return {**super()._numbers(), **{f"coordinates {name}": one for name, one in self.coordinates.items()}}

    def tensors(self) -> Tensors:
        return self.coordinates

    def fill(self, tensors: Mapping[str, NDArray[np.float32]]) -> None:
        self.coordinates = dict(tensors)
        made = rebuilt(self.model.architecture, self.model.interface, self.form, self.seed, tensors)
        self.network = self.model = made

    def header(self) -> dict[str, Any]:
        return {**super().header(), "form": forms.text_of(self.form), "seed": self.seed}


class TheirPredictor(Predictor):
    """A decoder of `transformers`, run by its own code."""

    def __init__(self, model: Any) -> None:
        head = model.get_output_embeddings()
        if head is None:
            raise UsageError(
                f"the model ({type(model).__name__}) has no output over its vocabulary, so it predicts no token; "
                "a decoder with its language-modelling head does"
            )
        self.network = self.model = model.eval()
        self.head, self.config = head, model.config
        self.vocabulary = int(head.weight.shape[0])
        self.longest = getattr(model.config, "max_position_embeddings", None)

    def states(self, inputs: Tensor, scored: Tensor) -> Tensor:
        return self.model.base_model(input_ids=inputs, use_cache=False).last_hidden_state[scored]

    def logits(self, states: Tensor) -> Tensor:
        return self.head(states)

    def header(self) -> dict[str, Any]:
        config = self.config.to_diff_dict()
        needless = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures")
        return {"model": "transformers", **{key: value for key, value in config.items() if key not in needless}}


def _stored(network: nn.Module) -> dict[str, Tensor]:
    """Weights by name. A tied one is stored once, under the first of its names; what is made anew from the settings
    (angles, slopes) is no part of the state."""
    found: dict[str, Tensor] = {}
    seen: set[int] = set()
    for name, tensor in network.state_dict().items():
        if tensor.data_ptr() in seen and tensor.numel():
            continue
        seen.add(tensor.data_ptr())
        if not tensor.is_floating_point():
            raise UsageError(f"the weights {name!r} are whole numbers, which cannot be quantised")
        found[name] = tensor
    return found
