"""What is inspected: a run folder of ours, a model folder, a folder of the Hugging Face Hub, or a GGUF file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.folder import CONFIG, load_model
from lengthwise.models.parts import Anatomy
from lengthwise.models.transformer import Transformer
from lengthwise.registry import plain_settings
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task

RUN = "run.json"


@dataclass(frozen=True, eq=False)
class Subject:
    """A model as parts, with what is known about where it comes from.

    `task` and `train_size` are those of a run; `lost` says why a run's task could not be had. `trained` is the longest
    sequence of tokens that one of our models was trained on. `folder` may hold a tokenizer, and so may
    the GGUF file `gguf`.
    """

    anatomy: Anatomy
    facts: tuple[tuple[str, str], ...]
    task: Task | None = None
    train_size: int | None = None
    trained: int | None = None
    lost: str = ""
    folder: Path | None = None
    gguf: Path | None = None


def open_subject(model: str | Path | Any) -> Subject:
    """The subject of a path, of a Transformer of ours, or of a model of `transformers`."""
    if isinstance(model, Transformer):
        return _ours(model, "the model", None, None)
    if not isinstance(model, str | Path):
        from lengthwise.models.huggingface import anatomy_of_huggingface

        if not hasattr(model, "config"):
            raise UsageError(f"inspect takes a path or a model, not a {type(model).__name__}")
        return _theirs(anatomy_of_huggingface(model), None)
    path = Path(model)
    if not path.exists():
        raise UsageError(
            f"there is no {path}; give the folder of a run, a folder with config.json and safetensors, or a GGUF file"
        )
    if path.is_dir() and _is_ours(path):
        return _ours(load_model(path), path.name or str(path), path, _record(path))
    from lengthwise.models.huggingface import load_huggingface

    anatomy = load_huggingface(path)
    if path.is_dir() and (path / CONFIG).exists():
        return _theirs(anatomy, path)
    path = next(path.glob("*.gguf")) if path.is_dir() else path  # a folder with anything but one was refused above
    return _theirs(anatomy, path.parent, path)


def _is_ours(folder: Path) -> bool:
    if (folder / RUN).exists():
        return True
    config = read_json(folder / CONFIG) if (folder / CONFIG).exists() else {}
    if not isinstance(config, dict):
        raise UsageError(f"{folder / CONFIG} is not the config of a model: it holds no object")
    return config.get("model_type") == "lengthwise"


def _record(folder: Path) -> dict[str, Any] | None:
    return read_json(folder / RUN) if (folder / RUN).exists() else None


def _ours(model: Transformer, name: str, folder: Path | None, record: dict[str, Any] | None) -> Subject:
    anatomy = anatomy_of(model, name)
    config = plain_settings(model.architecture)
    kind = "decoder" if model.architecture.causal else "encoder"
    facts = [
        ("kind", f"{'run' if record else 'model'} of lengthwise, {kind}, parts in float64"),
        ("layers", f"{config['depth']} of width {config['width']} with {config['heads']} heads"),
        ("attention", config["attention"]),
        ("positions", config["position"]),
    ]
    task, train_size, lost = None, None, ""
    if record is not None:
        try:
            plan = record["plan"]
            train_size = int(plan["train_size"])
            task = tasks.restore(plan["task"])
        except (KeyError, TypeError, ValueError) as error:  # a UsageError is a ValueError
            lost = f"the task of the run cannot be had: {error}"
    return Subject(anatomy, tuple(facts), task, train_size, model.interface.trained, lost, folder)


def _theirs(anatomy: Anatomy, folder: Path | None, gguf: Path | None = None) -> Subject:
    block = anatomy.blocks[0]
    attention = block.attention
    shared = f", {attention.key_heads} of keys" if attention.key_heads not in (None, attention.heads) else ""
    kind = "decoder" if attention.causal else "encoder"
    precision = str(anatomy.embed.dtype).removeprefix("torch.")
    positions = "rotary" if attention.rotary is not None else "learned" if anatomy.table is not None else "none"
    facts = (
        ("kind", f"model of transformers, {kind}, {block.order}-norm, parts in {precision}"),
        ("layers", f"{len(anatomy.blocks)} of width {anatomy.width} with {attention.heads} heads{shared}"),
        ("attention", attention.rule),
        ("positions", positions + (f", {anatomy.longest} of them" if anatomy.longest else "")),
    )
    return Subject(anatomy, facts, folder=folder, gguf=gguf)
