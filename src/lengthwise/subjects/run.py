"""A model of lengthwise: the folder of a run, a model folder without a record, or a network in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from os.path import lexists
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.integrity import COORDINATES, MODEL, PLAN, RUN, check_files, check_run, digests, read_record
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.architecture import Architecture
from lengthwise.models.batches import logits_of
from lengthwise.models.folder import CONFIG, load_model
from lengthwise.models.formed import load_coordinates
from lengthwise.models.named import models
from lengthwise.models.network import Network
from lengthwise.models.placed import home
from lengthwise.models.transformer import Cache, Transformer
from lengthwise.registry import format_spec, plain_settings, restored_settings
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.predictor import FormedPredictor, OurPredictor, Predictor, states_of_transformer
from lengthwise.subjects.subject import OF_TRANSFORMERS, MarkedItems, Subject, first_errors
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import EOS, PAD, Batch
from lengthwise.tasks.task import Task
from lengthwise.training.recipe import Recipe

CELLS = 2_000_000  # attention logits that a chunk of items may have in one layer: small enough for the cache


@dataclass(frozen=True, eq=False)
class StoredRun:
    """The record of a run as plain data; the objects that it names are made at the first request.

    `given` replaces the run's own task, for a task object that has no name to restore it by.
    """

    folder: Path
    record: Mapping[str, Any]
    given: Task | None = None

    def stored(self, *names: str) -> Any:
        """What the record holds under these names, one inside the other; a usage error where it lacks one."""
        found: Any = self.record
        for name in names:
            if not isinstance(found, Mapping) or name not in found:
                raise UsageError(f"the record of the run in {self.folder} is incomplete: {name!r} is missing")
            found = found[name]
        return found

    @property
    def plan(self) -> Mapping[str, Any]:
        return self.stored("plan")

    @property
    def digest(self) -> str:
        """The digest of the plan."""
        return self.stored("digest")

    @property
    def train_size(self) -> int:
        return int(self.stored("plan", "train_size"))

    @property
    def seed(self) -> int:
        return int(self.stored("plan", "seed"))

    @property
    def steps(self) -> int:
        """How many steps training took, which may be fewer than the recipe's."""
        return int(self.stored("history", "step"))

    @cached_property
    def task(self) -> Task:
        """The run's own task; a usage error where it cannot be had."""
        if self.given is not None:
            return self.given
        try:
            return tasks.restore(self.stored("plan", "task"))
        except (KeyError, TypeError, ValueError) as error:  # a UsageError is a ValueError
            raise UsageError(f"the task of the run cannot be loaded: {error}") from error

    @property
    def train_sizes(self) -> list[int]:
        return self.task.sizes(1, self.train_size)

    @cached_property
    def recipe(self) -> Recipe:
        try:
            return restored_settings(Recipe, self.stored("plan", "recipe"))
        except (KeyError, TypeError, AttributeError) as error:
            raise UsageError(f"the recipe of the run in {self.folder} is incomplete: {error}") from error


class OwnSubject(Subject):
    """A Transformer of lengthwise, or another network that was trained by it; `run` is what is stored of its run, where
    there is one."""

    def __init__(self, name: str, model: Network, folder: Path | None = None, run: StoredRun | None = None) -> None:
        self.name, self.model, self.folder, self.run = name, model, folder, run

    @property
    def facts(self) -> tuple[tuple[str, str], ...]:
        own = self.model.architecture
        found = [("kind", f"{'run' if self.run else 'model'} of lengthwise, {'decoder' if own.causal else 'encoder'}")]
        if isinstance(own, Architecture):
            config = plain_settings(own)
            heads = f"{config['heads']} head{'s' * (config['heads'] != 1)}"
            found += [
                ("layers", f"{config['depth']} of width {config['width']} with {heads}"),
                ("attention", config["attention"]),
                ("positions", config["position"]),
            ]
        else:
            count = sum(parameter.numel() for parameter in self.model.parameters())
            found.append(("network", f"{models.text_of(own)}, {count:,} parameters"))
        if self.run is not None:
            task = self.run.stored("plan", "task")
            name = format_spec(task) if isinstance(task, Mapping) else str(task)
            steps = f", {self.run.steps:,} steps" if "history" in self.run.record else ""
            found.append(("trained", f"{name}, sizes up to {self.run.train_size}{steps}"))
        return tuple(found)

    def capabilities(self) -> Mapping[str, Callable[[], Any]]:
        model = self.model
        found: dict[str, Callable[[], Any]] = {
            "answers": lambda: NetworkAnswers(model),
            "weights": lambda: self.capability("predictor"),
            "predictor": self._predictor,
        }
        if isinstance(model, Transformer):
            found["transformer"] = lambda: model
            found["anatomy"] = lambda: anatomy_of(model, self.name)
            found["states"] = lambda: states_of_transformer(model)
        if self.run is not None:
            found["run"] = lambda: self.run
        return found

    def lacking(self, name: str) -> str:
        if name == "run":
            return f"there is no {RUN} with its model"
        return f"its network is {models.text_of(self.model.architecture)}" if name in OF_TRANSFORMERS else ""

    def files(self) -> Mapping[str, str]:
        return {} if self.folder is None else digests(self.folder, MODEL)

    def _predictor(self) -> Predictor:
        if self.run is None or self.folder is None or not isinstance(self.model, Transformer):
            return OurPredictor(self.model)
        if not (self.folder / COORDINATES).exists():
            return OurPredictor(self.model)
        return FormedPredictor(self.model, self.run.recipe.form, self.run.seed, load_coordinates(self.folder))


def is_own(folder: Path) -> bool:
    """Whether a folder holds a model of lengthwise."""
    if lexists(folder / RUN):  # also a link that leads nowhere, which then is refused
        return True
    config = read_json(folder / CONFIG) if (folder / CONFIG).exists() else {}
    if not isinstance(config, dict):
        raise UsageError(f"{folder / CONFIG} is not the config of a model: it does not contain an object")
    return config.get("model_type") == "lengthwise"


def open_own(folder: Path) -> OwnSubject:
    """The subject of a run folder or a model folder, its files compared with the record that was written with them.
    A run that is trained and not yet measured has its record in plan.json."""
    model = load_model(folder)
    record: dict[str, Any] | None = None
    if lexists(folder / RUN):
        record = check_run(folder)
    elif (folder / PLAN).exists() and "history" in read_json(folder / PLAN):
        record = read_record(folder, PLAN)
        check_files(folder, record, MODEL)
    if record is not None and not isinstance(record.get("plan"), dict):
        raise UsageError(f"{folder / RUN} is not the record of a run: it has no plan")
    run = None if record is None else StoredRun(folder, record)
    return OwnSubject(folder.name or folder.resolve().name, model, folder, run)


# --- answers --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class NetworkAnswers:
    """Answers under teacher forcing, one forward pass per item: an item is right when the best-scored token is right at
    every answer position, which is so exactly when greedy decoding writes it."""

    model: Network

    @torch.no_grad()
    def mark(self, task: Task, size: int, items: Sequence[int], seed: int) -> MarkedItems:
        whole, tokens, losses, places, instead = [], [], [], [], []
        for batch, seeds in measured_batches(self.model, task, size, items, seed):
            logits = logits_of(self.model, task, batch, seeds, training=False).cpu()
            if task.readout == "numbers":
                off = (logits - torch.from_numpy(batch.targets)).abs()
                right, by_item = (off <= task.tolerance).flatten(), (off <= task.tolerance).all(dim=1)
                loss = off.square().flatten()
            else:
                asked = torch.from_numpy(batch.targets[batch.scored])
                right = logits.argmax(dim=-1) == asked
                by_place = torch.ones(batch.scored.shape, dtype=torch.bool)
                by_place[torch.from_numpy(batch.scored)] = right
                by_item = by_place.all(dim=1)
                loss = torch.nn.functional.cross_entropy(logits, asked, reduction="none")
                place, given = first_errors(batch.scored, logits.argmax(dim=-1).numpy(), asked.numpy())
                places.append(place)
                instead += [task.vocabulary[token] for token in given]
            for kept, new in ((whole, by_item), (tokens, right), (losses, loss.double())):
                kept.append(new.numpy())
        found = MarkedItems(np.concatenate(whole), np.concatenate(tokens), np.concatenate(losses))
        return replace(found, first_wrong=np.concatenate(places), instead=tuple(instead)) if places else found


def rows_at_once(model: Network, tokens: int) -> int:
    """How many rows of `tokens` tokens go through a model together; of another network as if it had one head."""
    heads = model.architecture.heads if isinstance(model, Transformer) else 1
    return max(1, CELLS // (tokens * tokens * heads))


def measured_batches(
    model: Network, task: Task, size: int, items: Sequence[int], seed: int
) -> Iterator[tuple[Batch, Seeds]]:
    """The test items of these numbers in chunks that fit into memory, each with the seeds of its positions."""
    causal = model.architecture.causal
    chunk = rows_at_once(model, task.width(size, causal))
    for first in range(0, len(items), chunk):
        batch = task.batch(size, seed, items[first : first + chunk], role="test", causal=causal)
        yield batch, Seeds(Seeds(seed).key("test positions", size, first))


@torch.no_grad()
def continue_greedily(model: Transformer, known: list[list[int]], limits: Ints, at: Tensor) -> list[list[int]]:
    """Each row of tokens with what the model writes behind it, up to a special token or to its limit of tokens, at the
    positions `at` [rows or 1, places].

    The rows go through one cache together, a column at a time from the end of the shortest on; where a row is still
    known, its own token is read and not what the model would write. Rows that have ended are taken out.
    """
    lengths = np.array([len(row) for row in known])
    text = np.full((len(known), int(max(limits.max(), lengths.max()))), PAD)
    for row, tokens in zip(text, known, strict=True):
        row[: len(tokens)] = tokens
    ends, going = np.maximum(lengths, limits), np.flatnonzero(lengths < limits)
    cache, column = Cache(), int(lengths.min())
    read, there = text[going, :column], home(model)
    while len(going):
        places = (at if len(at) == 1 else at[going])[:, :column].to(there)
        logits = model(torch.from_numpy(read).to(there), at=places, cache=cache)[:, -1]
        free = lengths[going] <= column
        text[going, column] = np.where(free, logits.argmax(dim=-1).cpu().numpy(), text[going, column])
        column += 1
        ended = free & (text[going, column - 1] <= EOS)
        ends[going[ended]] = column
        stays = ~ended & (column < limits[going])
        if not stays.all():
            kept, going = torch.from_numpy(np.flatnonzero(stays)).to(there), going[stays]
            cache.keys = [keys[kept] for keys in cache.keys]
            cache.values = [values[kept] for values in cache.values]
        read = text[going, column - 1 : column]
    return [row[:end].tolist() for row, end in zip(text, ends, strict=True)]
