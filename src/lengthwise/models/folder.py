"""A model as a folder in the layout of the Hugging Face Hub: config.json, model.safetensors, README.md. No pickle."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from lengthwise.errors import UsageError
from lengthwise.files import read_json, replace_file, sha256, write_json, writing
from lengthwise.integrity import CONFIG, MODEL, RUN, WEIGHTS, check_files, read_record
from lengthwise.interrupts import held_back
from lengthwise.models.attention import attentions
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.outputs import is_ours, write_output
from lengthwise.positions import make_position, position_spec
from lengthwise.registry import format_spec

CARD = "README.md"


def architecture_config(architecture: Architecture) -> dict[str, Any]:
    """An architecture as JSON-ready data."""
    try:
        attention, position = (
            format_spec(attentions.spec_of(architecture.attention)),
            position_spec(architecture.position),
        )
    except KeyError as error:  # the spec of what nobody registered is empty
        raise UsageError(
            "attentions and position encodings are stored by their names; register the class of yours, "
            'as with @positions.register("name")'
        ) from error
    return {
        "depth": architecture.depth,
        "width": architecture.width,
        "heads": architecture.heads,
        "mlp_ratio": architecture.mlp_ratio,
        "causal": architecture.causal,
        "attention": attention,
        "position": position,
    }


def architecture_from(config: dict[str, Any]) -> Architecture:
    """The architecture that `architecture_config` described."""
    known = {name: config[name] for name in ("depth", "width", "heads", "mlp_ratio", "causal")}
    attention, position = attentions.restore(config["attention"]), make_position(config["position"])
    return Architecture(**known, attention=attention, position=position)


def save_model(folder: Path, model: Transformer, card: str) -> None:
    """Write the model; the weights' hash stands in config.json, which is written last."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with replace_file(folder / WEIGHTS) as part:
            save_file({k: v.contiguous() for k, v in model.state_dict().items()}, part, metadata={"format": "pt"})
        write_card(folder, card)
        config = {
            "model_type": "lengthwise",
            "architectures": ["LengthwiseTransformer"],
            **architecture_config(model.architecture),
            "vocabulary": model.interface.vocabulary,
            "outputs": model.interface.outputs,
            "rows": model.interface.rows,
            "trained": model.interface.trained,
            "dtype": str(next(model.parameters()).dtype).removeprefix("torch."),
            "weights_sha256": sha256(folder / WEIGHTS),
        }
        write_json(folder / CONFIG, config)


def write_card(folder: Path, card: str) -> None:
    """Write the README.md of a folder, unless somebody has made it their own."""
    if not (folder / CARD).exists() or is_ours(folder / CARD):
        write_output(folder / CARD, card)


def load_model(folder: Path, position: str | None = None) -> Transformer:
    """The model of a folder, bit for bit as it was saved; that of a finished run must be the one its record names.
    `position` reads it with another encoding, which must have the same parameters (RoPE with another scaling)."""
    if (folder / RUN).exists():
        check_files(folder, read_record(folder), MODEL)
    config = read_json(folder / CONFIG)
    try:
        if position:
            config["position"] = position
        interface = Interface(*(config[name] for name in ("vocabulary", "outputs", "rows", "trained")))
        with torch.random.fork_rng(devices=[]):  # first weights are drawn, and the caller's random state is not ours
            model = Transformer(architecture_from(config), interface).to(getattr(torch, config["dtype"]))
        expected = config["weights_sha256"]
    except (KeyError, TypeError, AttributeError, RuntimeError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error).splitlines()[0]
        raise UsageError(f"{folder / CONFIG} is not the config of a lengthwise model: {what}") from error
    if not (folder / WEIGHTS).is_file():
        raise UsageError(f"{folder} holds no {WEIGHTS}; a complete model folder has {CONFIG} and {WEIGHTS}")
    if sha256(folder / WEIGHTS) != expected:
        raise UsageError(
            f"{folder / WEIGHTS} is not the file that was saved (its SHA-256 differs): truncated or changed"
        )
    try:
        with held_back():
            weights = load_file(folder / WEIGHTS)
        model.load_state_dict(weights)
    except (SafetensorError, RuntimeError) as error:
        what = (
            f"the encoding {position!r} does not fit these weights" if position else "the weights do not fit the config"
        )
        raise UsageError(f"{folder}: {what}; a changed encoding must have the same parameters") from error
    return model.eval()
