"""The capabilities `weights`, `predictor` and `states`: a model as numbers, the probabilities of its next token, and
its last hidden states."""

from __future__ import annotations

import abc
import copy
import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from lengthwise.errors import UsageError
from lengthwise.hardware import Computing
from lengthwise.models.formed import rebuilt
from lengthwise.models.forms import Form, forms
from lengthwise.models.named import plain_model
from lengthwise.models.network import Network
from lengthwise.models.placed import home, placed, precise, rounding_of
from lengthwise.models.transformer import Transformer

Tensors = dict[str, NDArray[np.float32]]
Module = TypeVar("Module", bound=nn.Module)
LONG = 1024  # tokens above which attention is computed without keeping its weights


class ModelWeights(abc.ABC):
    """The weights of a model. A model is never changed: `with_weights` gives another one."""

    network: nn.Module

    @abc.abstractmethod
    def header(self) -> dict[str, Any]:
        """What a decoder must know in addition to the weights, ready for JSON."""

    @abc.abstractmethod
    def with_weights(self, tensors: Mapping[str, NDArray[np.float32]]) -> Self:
        """The same model with other weights, those of `tensors()` by name. O(weights) time and memory."""

    @property
    def parameters(self) -> int:
        return sum(parameter.numel() for parameter in self.network.parameters())

    def digest(self) -> str:
        """What the model is: a hash of its settings and of every stored number, independent of its files. O(bytes)."""
        found = hashlib.sha256(json.dumps(self.header(), sort_keys=True, default=str).encode())
        for name, tensor in self._numbers().items():
            found.update(f"\n{name} {tensor.dtype} {list(tensor.shape)} ".encode())
            found.update(np.ascontiguousarray(tensor).data)
        return found.hexdigest()

    def _numbers(self) -> Tensors:
        """What the digest covers."""
        return ModelWeights.tensors(self)

    def tensors(self) -> Tensors:
        """Every number that the model was given by training, tied ones once. They are not copied: do not write."""
        return {name: tensor.detach().float().cpu().numpy() for name, tensor in _stored(self.network).items()}


class Predictor(ModelWeights):
    """A model that predicts a token. `vocabulary` is V, the number of tokens to choose from; `longest` is how many
    tokens it can read at once (None: any number).

    Prediction takes two steps so that the logits of many tokens never exist together: V may be 50,000.
    """

    vocabulary: int
    longest: int | None
    causal: bool = True  # whether it sees only what came before
    by_length: bool = False  # whether what it says of a token depends on how many tokens it reads in all

    @abc.abstractmethod
    def states(self, inputs: Tensor, scored: Tensor) -> Tensor:
        """The state of the model where `scored` [B, T] is True, [scored, W], after reading `inputs` [B, T]."""

    @abc.abstractmethod
    def logits(self, states: Tensor) -> Tensor:
        """[some, W] → [some, V]."""


class OurPredictor(Predictor):
    """A Transformer of ours or a network trained here; positions are those of testing, the same for every context of a
    length."""

    def __init__(self, model: Network) -> None:
        self.network = self.model = model.eval()
        self.vocabulary, self.longest, self.causal = model.interface.outputs, None, model.architecture.causal

    def states(self, inputs: Tensor, scored: Tensor) -> Tensor:
        items, tokens = inputs.shape
        at = self.model.position.indices(tokens, items, self.model.shape, None, False)
        return self.model(*(one.to(home(self.model)) for one in (inputs, at, scored)))

    def logits(self, states: Tensor) -> Tensor:
        return states  # V is small: the forward pass has made them

    def header(self) -> dict[str, Any]:
        own = {**plain_model(self.model.architecture), **vars(self.model.interface)}
        return {"model": "lengthwise", **own, **rounding_of(self.model)}

    def with_weights(self, tensors: Mapping[str, NDArray[np.float32]]) -> Self:
        return type(self)(_filled(self.model, tensors))


class FormedPredictor(OurPredictor):
    """A model of ours that was trained in a form: its message holds the coordinates, the form and the seed, and its
    weights are made from them as a decoder would make them."""

    def __init__(self, model: Transformer, form: Form, seed: int, coordinates: Tensors) -> None:
        super().__init__(model)
        self.formed = model
        self.form, self.seed, self.coordinates = form, seed, coordinates

    def _numbers(self) -> Tensors:
        return {**super()._numbers(), **{f"coordinates {name}": one for name, one in self.coordinates.items()}}

    def tensors(self) -> Tensors:
        return self.coordinates

    def with_weights(self, tensors: Mapping[str, NDArray[np.float32]]) -> Self:
        made = rebuilt(self.formed.architecture, self.formed.interface, self.form, self.seed, tensors)
        made = placed(
            made.to(home(self.formed)), Computing(precision=rounding_of(self.formed).get("precision", "float32"))
        )
        return type(self)(made, self.form, self.seed, dict(tensors))

    def header(self) -> dict[str, Any]:
        return {**super().header(), "form": forms.text_of(self.form), "seed": self.seed}


def grows(config: Any) -> bool:
    """Whether the frequencies of a model of `transformers` change with the number of tokens that it reads."""
    return any(f"'{kind}'" in repr(getattr(config, "rope_parameters", None)) for kind in ("dynamic", "longrope"))


class TheirWeights(ModelWeights):
    """The weights of a model of `transformers`."""

    def __init__(self, model: Any) -> None:
        self.network = self.model = model.eval()
        self.config = model.config

    def header(self) -> dict[str, Any]:
        config = self.config.to_diff_dict()
        needless = ("_name_or_path", "transformers_version", "dtype", "torch_dtype", "architectures")
        own = {key: value for key, value in config.items() if key not in needless}
        return {"model": "transformers", **own, **rounding_of(self.model)}

    def with_weights(self, tensors: Mapping[str, NDArray[np.float32]]) -> Self:
        return type(self)(_filled(self.model, tensors))


class TheirPredictor(TheirWeights, Predictor):
    """A decoder of `transformers`, run by its own code."""

    def __init__(self, model: Any) -> None:
        super().__init__(model)
        self.head = model.get_output_embeddings()
        if self.head is None:
            raise UsageError(
                f"the model ({type(model).__name__}) has no output over its vocabulary, so it predicts no token; "
                "a decoder with its language-modelling head does"
            )
        self.vocabulary = int(self.head.weight.shape[0])
        self.longest = getattr(model.config, "max_position_embeddings", None)
        self.by_length = grows(model.config)

    def states(self, inputs: Tensor, scored: Tensor) -> Tensor:
        there, loaded = home(self.model), self.model.config._attn_implementation
        if long := inputs.shape[1] > LONG:  # all attention weights at once would not fit into memory
            self.model.set_attn_implementation("sdpa")
        try:
            read = self.model.base_model(input_ids=inputs.to(there), use_cache=False).last_hidden_state
        finally:
            if long:
                self.model.set_attn_implementation(loaded)
        return read[scored.to(there)]

    def logits(self, states: Tensor) -> Tensor:
        return self.head(states)


def _stored(network: nn.Module) -> dict[str, Tensor]:
    """Weights by name. A tied one is stored once, under the first of its names; what follows from the settings (angles,
    slopes) is not part of the state."""
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


@torch.no_grad()
def _filled(network: Module, tensors: Mapping[str, NDArray[np.float32]]) -> Module:
    """A copy of a network with these weights, no more and no less than it has."""
    made = copy.deepcopy(network)
    places = _stored(made)
    if set(places) != set(tensors):
        wrong = min(set(places) ^ set(tensors))
        raise UsageError(f"the decoded weights are not those of this model: {wrong!r} is in one of them alone")
    for name, place in places.items():
        if place.shape != tensors[name].shape:
            raise UsageError(f"the decoded weights {name!r} have the shape {tensors[name].shape}, not {place.shape}")
        place.copy_(torch.from_numpy(np.array(tensors[name])))
    return made


# --- hidden states --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class HiddenStates:
    """`read` gives the last hidden states [B, T, W] of a batch of tokens [B, T], in float64; `longest` is how many
    tokens it can read at once, None for any number."""

    read: Callable[[Tensor], Tensor]
    longest: int | None = None


def states_of_transformer(model: Transformer) -> HiddenStates:
    """The states behind the final norm, at the positions of testing."""
    model = precise(copy.deepcopy(model))
    caught: list[Tensor] = []
    model.norm.register_forward_hook(lambda _module, _inputs, output: caught.append(precise(output)))

    @torch.inference_mode()
    def read(batch: Tensor) -> Tensor:
        caught.clear()
        at = model.architecture.position.indices(batch.shape[1], len(batch), model.shape, None, False)
        model(batch.to(home(model)), at=at.to(home(model)))
        return caught[-1].cpu()

    return HiddenStates(read)


def states_of_huggingface(model: nn.Module) -> HiddenStates:
    """The states of a model of `transformers` without its head, computed by its own code."""
    model = precise(model)
    read = torch.inference_mode()(lambda batch: model(input_ids=batch.to(home(model))).last_hidden_state.cpu())
    return HiddenStates(read, getattr(model.config, "max_position_embeddings", None))
