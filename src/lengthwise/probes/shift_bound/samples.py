"""Items of both sides of a shift, as a model reads them, with what it scores where it is asked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.limits import MOST_SIZE, whole_number
from lengthwise.models.forward import run
from lengthwise.models.parts import Anatomy
from lengthwise.probes.probe import Context
from lengthwise.probes.shown.inputs import Inputs, inputs_for, inputs_of_lines
from lengthwise.seeds import Floats, Seeds
from lengthwise.subjects.subject import Subject
from lengthwise.tasks.ladder import ladder_of
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task

_CELLS = 4_000_000  # hidden numbers of a chunk
_SIZES = re.compile(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?")  # 40 or 5-20


@dataclass(frozen=True, eq=False)
class AskedItem:
    """One item: the tokens [T] that are read, the places that are asked for, and the tokens asked for there; by place
    the last hidden state and the margin, the least lead of that token over all others."""

    tokens: tuple[int, ...]
    places: tuple[int, ...]
    labels: tuple[int, ...]
    states: Floats  # [places, W]
    margins: Floats  # [places]

    @property
    def margin(self) -> float:
        """Above 0 exactly where all that is asked for is right."""
        return float(self.margins.min())


@dataclass(frozen=True, eq=False)
class ShiftSide:
    """A sample of one side; `from_file` says that it cannot be drawn again."""

    name: str
    items: tuple[AskedItem, ...]
    from_file: bool

    @property
    def margins(self) -> Floats:
        return np.array([item.margin for item in self.items])


def drawn_side(subject: Subject, context: Context, where: str, items: int, role: str) -> ShiftSide:
    """Items from a level or sizes, or the first lines of a file, each once. Two roles draw independently."""
    seed = Seeds(context.seed).key(f"shift bound, {role}") >> 1
    if is_file(where):
        found = _scored(subject, inputs_of_lines(subject, Path(where), items))
        if len(found) < 2:
            raise UsageError(f"{where} holds one item, and a sample needs 2 or more")
        return ShiftSide(Path(where).name, found, True)
    task, sizes = _place(subject, context, where)
    chosen = Seeds(seed).draws("sizes", items=np.arange(items)).integers(0, len(sizes), 1)[:, 0]
    shown = []
    for number, size in enumerate(sizes):
        if count := int((chosen == number).sum()):
            asked = Context(task, sizes=(size,), items=count, seed=seed)
            shown.append(inputs_for(subject, asked, count))
    return ShiftSide(
        f"{name_of(task)}, {where if not where.isdigit() else f'size {where}'}", _scored(subject, shown), False
    )


def is_file(where: str) -> bool:
    """Whether a side is read from a file, and not drawn; a size is a size, whatever the files here are called."""
    return Path(where).suffix == ".jsonl" or (not _SIZES.fullmatch(where) and Path(where).is_file())


def _place(subject: Subject, context: Context, where: str) -> tuple[Task, Sequence[int]]:
    """The task and the sizes of a level or of a text such as 40 or 5-20."""
    stored = subject.capability("run") if subject.offers("run") else None
    task = context.task if context.task is not None else None if stored is None else stored.task
    if task is None:
        raise UsageError(f"{subject.name} has no task of its own; name one, or give two files of lines")
    if found := _SIZES.fullmatch(where):
        low, high = (whole_number(end, "a size", MOST_SIZE) for end in (found[1], found[2] or found[1]))
        if sizes := task.sizes(low, high):
            return task, sizes
        raise UsageError(f"the task {name_of(task)} has no items of size {where}")
    trained = context.train_size or (None if stored is None else stored.train_size)
    if trained is None:
        raise UsageError(
            f"the levels of {name_of(task)} begin where training ended, which is not known for {subject.name}; give "
            "sizes, such as 10 or 5-20, or the size it was trained to"
        )
    levels = {level.name: level for level in ladder_of(task, trained)}
    if where not in levels:
        raise UsageError(
            f"{where!r} is not a level, a size or a file; the levels of {name_of(task)} are {', '.join(levels)}"
        )
    level = levels[where]
    return level.task, level.sizes


@torch.no_grad()
def _scored(subject: Subject, shown: Sequence[Inputs]) -> tuple[AskedItem, ...]:
    anatomy: Anatomy = subject.capability("anatomy")
    if anatomy.head is None:
        raise UsageError(f"{subject.name} has no outputs that score tokens, and a margin is one between scores")
    found = []
    for inputs in shown:
        if inputs.targets is None:
            raise UsageError(
                f"the answers for {inputs.described} are not known or are numbers, so errors cannot be counted"
            )
        at_once = max(1, _CELLS // (inputs.tokens.shape[1] * anatomy.width))
        for tokens, targets in zip(inputs.tokens.split(at_once), inputs.targets.split(at_once), strict=True):
            found += _items(anatomy, tokens, targets)
    return tuple(found)


def _items(anatomy: Anatomy, tokens: Tensor, targets: Tensor) -> list[AskedItem]:
    assert anatomy.head is not None
    final = run(replace(anatomy, head=None), tokens).final.cpu()
    head, found = anatomy.head.detach().cpu(), []
    for row, asked, states in zip(tokens, targets, final, strict=True):
        places = (asked >= 0).nonzero()[:, 0]
        if not len(places):
            raise UsageError("an item asks for nothing, so it has no error")
        at, labels = states[places], asked[places]
        margins = _margins(at @ head.T, labels)
        read, asked_at, wanted = (tuple(one.tolist()) for one in (row, places, labels))
        found.append(AskedItem(read, asked_at, wanted, at.double().numpy(), margins))
    return found


def _margins(scores: Tensor, labels: Tensor) -> Floats:
    """By how much the score of the label leads, [places]; a tie is 0."""
    own = scores.gather(1, labels[:, None])[:, 0]
    others = scores.scatter(1, labels[:, None], -torch.inf).max(dim=1).values
    return (own - others).double().numpy()


def one_place(side: ShiftSide, seed: int, role: str) -> ShiftSide:
    """Each item with one of its places, drawn uniformly: independent draws whose expected error is the mean share of
    wrong tokens per item."""
    draws = Seeds(seed).draws(f"place of {role}", items=np.arange(len(side.items))).integers(0, 1 << 30, 1)[:, 0]
    items = []
    for item, draw in zip(side.items, draws, strict=True):
        at = int(draw % len(item.places))
        one = slice(at, at + 1)
        items.append(
            replace(
                item,
                places=item.places[one],
                labels=item.labels[one],
                states=item.states[one],
                margins=item.margins[one],
            )
        )
    return replace(side, items=tuple(items))
