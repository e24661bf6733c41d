"""What training needs to go on: the weights, AdamW's moments, and the history, in one safetensors file."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from lengthwise.errors import UsageError
from lengthwise.files import replace_file, writing
from lengthwise.interrupts import held_back


def save_checkpoint(
    path: Path, model: torch.nn.Module, optimiser: torch.optim.Optimizer, history: dict[str, Any]
) -> None:
    """Write the checkpoint beside the old one and put it in its place in one move."""
    tensors = {f"model.{name}": value.contiguous() for name, value in model.state_dict().items()}
    for index, parameter in enumerate(_parameters(optimiser)):
        for name, value in optimiser.state.get(parameter, {}).items():
            tensors[f"optimiser.{index}.{name}"] = value.contiguous()
    with writing(path.parent), replace_file(path) as part:
        save_file(tensors, part, metadata={"history": json.dumps(history), "digest": _digest(tensors)})


def load_checkpoint(path: Path, model: torch.nn.Module, optimiser: torch.optim.Optimizer) -> dict[str, Any]:
    """Put the saved state into model and optimiser; returns the history."""
    try:
        with held_back(), safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            history = json.loads(metadata["history"])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 (not a mapping)
        if metadata["digest"] != _digest(tensors):
            raise ValueError("its content was changed")
        model.load_state_dict({k.removeprefix("model."): v for k, v in tensors.items() if k.startswith("model.")})
        for index, parameter in enumerate(_parameters(optimiser)):
            start = f"optimiser.{index}."
            optimiser.state[parameter] = {k.removeprefix(start): v for k, v in tensors.items() if k.startswith(start)}
    except (SafetensorError, KeyError, ValueError, RuntimeError, OSError) as error:
        raise UsageError(
            f"the checkpoint {path} cannot be read ({str(error).splitlines()[0]}); delete it to train from the start"
        ) from error
    return history


def _digest(tensors: dict[str, torch.Tensor]) -> str:
    hashed = hashlib.blake2b(digest_size=16)
    for name in sorted(tensors):
        hashed.update(name.encode())
        hashed.update(tensors[name].numpy().tobytes())
    return hashed.hexdigest()


def _parameters(optimiser: torch.optim.Optimizer) -> list[torch.nn.Parameter]:
    return [parameter for group in optimiser.param_groups for parameter in group["params"]]
