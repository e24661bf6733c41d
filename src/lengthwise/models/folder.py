"""A model as a folder in the layout of the Hugging Face Hub: config.json, model.safetensors, README.md. No pickle."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file

from lengthwise.errors import UsageError
from lengthwise.files import read_json, replace_file, sha256, write_json, writing
from lengthwise.integrity import CONFIG, MODEL, RUN, WEIGHTS, check_files, read_record
from lengthwise.interrupts import held_back
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.model import Model
from lengthwise.models.named import not_a_config, plain_model, restored_model
from lengthwise.models.network import Network, fresh_network
from lengthwise.models.placed import placed
from lengthwise.outputs import is_ours, write_output
from lengthwise.positions import positions

CARD = "README.md"


def save_model(folder: Path, model: Network, card: str) -> None:
    """Write the model; the weights' hash stands in config.json, which is written last."""
    with writing(folder):
        folder.mkdir(parents=True, exist_ok=True)
        with replace_file(folder / WEIGHTS) as part:
            state = model.state_dict().items()
            tensors = {name: value.cpu().clone().contiguous() for name, value in state}  # some are tied
            save_file(tensors, part, metadata={"format": "pt"})
        write_card(folder, card)
        ours, settings = isinstance(model.architecture, Architecture), plain_model(model.architecture)
        config = {
            "model_type": "lengthwise",
            "architectures": ["LengthwiseTransformer" if ours else model.architecture.title],
            **(settings if ours else {"model": settings}),
            **vars(model.interface),
            "dtype": str(next(model.parameters()).dtype).removeprefix("torch."),
            "weights_sha256": sha256(folder / WEIGHTS),
        }
        write_json(folder / CONFIG, config)


def write_card(folder: Path, card: str) -> None:
    """Write the README.md of a folder, unless somebody has made it their own."""
    if not (folder / CARD).exists() or is_ours(folder / CARD):
        write_output(folder / CARD, card)


def load_model(folder: Path, position: str | None = None, given: Model | None = None) -> Network:
    """The model of a folder, bit for bit as it was saved; that of a finished run must be the one its record names.
    `position` reads it with another encoding, which must have the same parameters (RoPE with another scaling). `given`
    stands in for a model that no name leads to."""
    if (folder / RUN).exists():
        check_files(folder, read_record(folder), MODEL)
    config = read_json(folder / CONFIG)
    try:
        architecture = restored_model(config["model"], given) if "model" in config else restored_model(config)
        if position:
            if not isinstance(architecture, Architecture):
                raise UsageError("only our Transformer can be read with another encoding, and this is another network")
            architecture = dataclasses.replace(architecture, position=positions.make(position))
        interface = Interface(*(config[name] for name in ("vocabulary", "outputs", "rows", "trained")))
        model = fresh_network(architecture, interface, 0).to(getattr(torch, config["dtype"]))
        expected = config["weights_sha256"]
    except (KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise not_a_config(folder / CONFIG, error) from error
    what = f"the encoding {position!r} does not fit these weights" if position else "the weights do not fit the config"
    load_weights(model, folder, expected, what)
    return placed(model.eval())


def load_weights(model: Network, folder: Path, expected: str, unfit: str = "the weights have another shape") -> None:
    """Put the weights of a folder into a model, if they are those whose SHA-256 is expected."""
    if not (folder / WEIGHTS).is_file():
        raise UsageError(f"{folder} has no {WEIGHTS}; a complete model folder has {CONFIG} and {WEIGHTS}")
    if sha256(folder / WEIGHTS) != expected:
        raise UsageError(
            f"{folder / WEIGHTS} is not the file that was saved (its SHA-256 differs): truncated or changed"
        )
    try:
        with held_back():
            weights = load_file(folder / WEIGHTS)
        model.load_state_dict(weights)
    except (SafetensorError, RuntimeError) as error:
        raise UsageError(f"{folder}: {unfit}; a changed encoding must have the same parameters") from error
