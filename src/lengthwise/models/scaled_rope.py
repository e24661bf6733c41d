"""Models of `transformers` read with another scaling of RoPE. The frequencies are those of `lengthwise.positions`."""

from __future__ import annotations

import copy
import itertools
from typing import Any

import torch
from torch import Tensor, nn

from lengthwise.errors import UsageError
from lengthwise.models.placed import precise
from lengthwise.positions.networks.encoders import DynamicRopeEncoder, RopeEncoder
from lengthwise.positions.position import Shape
from lengthwise.positions.scaling import RopeScaling

# What transformers calls the scalings that it has too. The others have our names.
_THEIRS = {"none": "default", "interpolation": "linear"}


class ScaledRotary(nn.Module):
    """What a model of `transformers` asks for the cosines and sines of positions. Angles are computed in float64.

    With dynamic scaling, the frequencies are those of the number of tokens read, for all tokens alike and for each call
    alone. So keys of an earlier, shorter call do not fit, and must not be kept.
    """

    inv_freq: Tensor

    def __init__(self, encoder: RopeEncoder, theirs: type[nn.Module]) -> None:
        super().__init__()
        self.encoder, self.attention_scaling, self.theirs = encoder, encoder.factor, theirs
        self.register_buffer("inv_freq", encoder.turns.float(), persistent=False)

    @torch.no_grad()
    def forward(self, x: Tensor, position_ids: Tensor, **_: Any) -> tuple[Tensor, Tensor]:
        """For x of any shape and positions [B, T]: cosines and sines, [B, T, D] each, in the type of x."""
        turns, encoder = self.encoder.turns, self.encoder
        if isinstance(encoder, DynamicRopeEncoder):
            turns = encoder.turns_at(int(position_ids.max()) + 1)
        places = precise(position_ids)[..., None]
        angles = places * turns.to(places.device)
        angles = torch.cat([angles, angles], dim=-1)
        return tuple((wave * encoder.factor).to(x) for wave in (angles.cos(), angles.sin()))  # pyright: ignore


def original_length(config: Any) -> int:
    """The context that a model was trained for, before any scaling."""
    known = _parameters(config).get("original_max_position_embeddings")
    return int(known or config.max_position_embeddings)


def rope_parameters(config: Any, scaling: RopeScaling) -> dict[str, Any]:
    """A scaling as `transformers` writes it in the config of a model, for those that it has too."""
    rope = scaling.rope(float(_parameters(config)["rope_theta"]))
    kept = ("rope_theta", "partial_rotary_factor")
    found = {name: value for name, value in _parameters(config).items() if name in kept}
    found["rope_type"] = _THEIRS.get(rope.scaling, rope.scaling)
    if rope.scaling != "none":
        found["factor"] = rope.factor
    if rope.scaling in ("yarn", "llama3", "by_parts"):
        found["original_max_position_embeddings"] = rope.original or original_length(config)
    if rope.scaling == "yarn":
        found |= {"beta_slow": rope.low, "beta_fast": rope.most_turns}
    elif rope.scaling in ("llama3", "by_parts"):
        found |= {"low_freq_factor": rope.low, "high_freq_factor": rope.most_turns}
    return found


def rescaled(model: Any, scaling: RopeScaling, room: float = 0.0) -> Any:
    """A model with this scaling, which shares the weights of the one given; that one is not changed. Its context is
    `room` times the original length where the scaling has no factor."""
    rotary, config = _rotary(model), model.config
    original = scaling.original or original_length(config)
    width = 2 * len(rotary.inv_freq)
    rope = scaling.rope(float(_parameters(config)["rope_theta"]))
    shape = Shape(width, 1, original, original)
    rope.check(shape)
    encoder = rope.build(shape)
    assert isinstance(encoder, RopeEncoder)
    made = _copy(model)
    made.base_model.rotary_emb = ScaledRotary(encoder, type(rotary)).to(rotary.inv_freq.device)
    made.config.rope_parameters = rope_parameters(config, scaling)
    made.config.max_position_embeddings = round(original * max(scaling.factor or room, 1.0))
    return made


def by_transformers(model: Any) -> Any:
    """The same model with the scaling as `transformers` itself computes it from its config."""
    rotary = model.base_model.rotary_emb
    if not isinstance(rotary, ScaledRotary):
        return model
    kind = _parameters(model.config)["rope_type"]
    if kind in ("ntk", "by_parts"):
        raise UsageError(f"transformers does not have the RoPE scaling {kind}; it has linear, dynamic, yarn and llama3")
    made, encoder = _copy(model), rotary.encoder
    if isinstance(encoder, DynamicRopeEncoder):  # transformers takes the original length from here
        made.config.max_position_embeddings = encoder.original
    made.base_model.rotary_emb = rotary.theirs(made.config).to(rotary.inv_freq.device)
    return made


def _copy(model: Any) -> Any:
    """A model with the same weights, not copied, and a config of its own."""
    tensors = itertools.chain(model.parameters(), model.buffers())
    return copy.deepcopy(model, {id(tensor): tensor for tensor in tensors})


def _rotary(model: Any) -> Any:
    """The part of a model that knows its positions."""
    rotary = getattr(model.base_model, "rotary_emb", None)
    if rotary is None or "rope_theta" not in _parameters(model.config) or not hasattr(rotary, "inv_freq"):
        raise UsageError(
            f"a model of the type {model.config.model_type!r} does not have RoPE, with one set of frequencies for all "
            "layers, so there is nothing to scale"
        )
    if _parameters(model.config).get("rope_type") == "proportional":
        raise UsageError(
            "the model turns only a share of its pairs (proportional RoPE), and no scaling here keeps that"
        )
    return rotary


def _parameters(config: Any) -> dict[str, Any]:
    return dict(getattr(config, "rope_parameters", None) or {})
