"""What a model is shown: items of a task, sequences of a file, the built-in text, or made-up sequences.

Most probes look at short sequences. A probe of what length does asks for longer ones (`longest`): more tokens of each
text, or items of up to eight times the size of training.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.models.parts import Anatomy
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.subject import Subject
from lengthwise.subjects.tokenizer import TextTokenizer
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import NOTHING, Batch, Samples, pack
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task
from lengthwise.text import TITLE, built_in_parts

LONGEST = 64  # tokens of a text that are read, unless longer inputs are asked for
STRETCH = 8  # longer items of a task have at most this many times the size of training


@dataclass(frozen=True)
class WantedInputs:
    """What decides the inputs; what is None has a default."""

    task: Task | None = None
    train_size: int | None = None
    data: str | None = None
    size: int | None = None
    items: int | None = None
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Inputs:
    """Sequences of one length, [B, T], and where they come from in words; `names` says what a token stands for.

    `targets` [B, T] are the tokens that the model is asked for at each place, -1 where it is not; None where it is not
    known what it should say.
    """

    tokens: Tensor
    described: str
    names: Callable[[int], str] | None = None
    targets: Tensor | None = None

    def name(self, token: int) -> str:
        """What the token stands for, or its number where that is not known."""
        return str(token) if self.names is None else self.names(token)


@dataclass(frozen=True, eq=False)
class Shown:
    """A subject as its inputs see it. `task` is that of its run, or `lost` says why there is none; `trained` is the
    longest sequence that a model of ours was trained on."""

    subject: Subject
    anatomy: Anatomy
    task: Task | None
    train_size: int | None
    lost: str
    trained: int | None

    @property
    def causal(self) -> bool:
        return self.anatomy.blocks[0].attention.causal

    @property
    def tokenizer(self) -> TextTokenizer | None:
        return self.subject.capability("tokenizer") if self.subject.offers("tokenizer") else None


def _shown(subject: Subject) -> Shown:
    task, train_size, lost, trained = None, None, "", None
    if subject.offers("run"):
        run = subject.capability("run")
        train_size = run.train_size
        try:
            task = run.task
        except UsageError as error:
            lost = str(error)
    if subject.offers("transformer"):
        trained = subject.capability("transformer").interface.trained
    return Shown(subject, subject.capability("anatomy"), task, train_size, lost, trained)


def inputs_for(subject: Subject, wanted: WantedInputs, usual: int, longest: int = LONGEST) -> Inputs:
    """What was asked for; else the run's own task; else the built-in text; else made-up sequences.

    `usual` is how many where nobody said; `longest` is how many tokens of a text are read. Above 64, items of a task
    and made-up sequences are longer too.
    """
    shown = _shown(subject)
    items = usual if wanted.items is None else wanted.items
    if wanted.data is not None:
        found = _from_file(shown, Path(wanted.data), wanted.size, items, wanted.seed, longest)
    elif wanted.task is not None or shown.task is not None:
        found = _from_task(shown, wanted, items, longest)
    elif wanted.size is not None:
        raise UsageError("a size goes with a task, and this model has none of its own; name one")
    else:
        found = _from_built_in_text(shown, items, longest) or _made_up(shown, items, wanted.seed, longest)
    if found.tokens.shape[1] < 2:
        raise UsageError("the inputs have one token each, and what is measured lies between tokens; two are needed")
    return found


def room_for(anatomy: Anatomy, most: int) -> int:
    """How many tokens a sequence may have, up to `most`: a table of positions has an end."""
    if anatomy.longest is None:
        return most
    while most > 1 and int(anatomy.places(most).max()) >= anatomy.longest:  # some tables leave rows out at the start
        most -= 1
    return most


def _from_task(shown: Shown, wanted: WantedInputs, items: int, longest: int) -> Inputs:
    task = shown.task if wanted.task is None else wanted.task
    assert task is not None
    known, anatomy, size = shown.task, shown.anatomy, wanted.size
    if known is not None and task.vocabulary != known.vocabulary:
        _refuse_symbols(task, f"the model was trained on the symbols of {name_of(known)}")
    if len(task.vocabulary) != len(anatomy.embed):
        _refuse_symbols(task, f"{anatomy.name} reads {len(anatomy.embed)} tokens and not {len(task.vocabulary)}")
    if size is None:
        size = _size(task, shown.train_size or wanted.train_size)
        if longest > LONGEST:
            size = _longer_size(task, size, shown.causal, room_for(anatomy, longest))
    batch = task.part("test").batch(size, wanted.seed, range(items), role="test", causal=shown.causal)
    own = "the run's own task" if task == known else "the task"
    described = f"{items} items of size {size} of {own} {name_of(task)}"
    return Inputs(torch.from_numpy(batch.inputs), described, task.vocabulary.__getitem__, _targets(task, batch))


def _targets(task: Task, batch: Batch) -> Tensor | None:
    """What items ask for; None where that is numbers."""
    return None if task.readout == "numbers" else torch.from_numpy(np.where(batch.scored, batch.targets, -1))


def _next_tokens(shown: Shown, inputs: Inputs) -> Inputs:
    """A text asks for its next token, of a model that reads from left to right; one of ours was trained on a task."""
    ours = shown.task is not None or shown.lost or shown.trained is not None
    if ours or not shown.causal:
        return inputs
    return replace(inputs, targets=torch.nn.functional.pad(inputs.tokens[:, 1:], (0, 1), value=-1))


def _size(task: Task, trained: int | None) -> int:
    """The largest size at which the model was trained; else the first from 10 on."""
    within = task.sizes(1, trained) if trained else task.sizes(10, 30)[:1] or task.sizes(1, 10)
    if not within:
        raise UsageError(f"the task {name_of(task)} has no items of size 1 to {trained or 30}; give a size")
    return within[-1]


def _longer_size(task: Task, size: int, causal: bool, most: int) -> int:
    """The largest of size, 2 size, 4 size, 8 size (or the last before it) whose items have at most `most` tokens."""
    found = size
    for factor in (2, 4, STRETCH):
        try:
            larger = task.sizes(found + 1, factor * size)
            if not larger:
                continue
            batch = task.part("test").batch(larger[-1], 0, range(1), role="test", causal=causal)
        except LengthwiseError:  # the task does not go so far
            break
        if batch.inputs.shape[1] > most:
            break
        found = larger[-1]
    return found


def _refuse_symbols(task: Task, why: str) -> None:
    raise UsageError(
        f"the task {name_of(task)} has another vocabulary than the model: {why}; give a task with the same symbols, "
        'or a file of lines {"tokens": [3, 1, 2]}'
    )


# --- files ----------------------------------------------------------------------------------------------------------


def _from_file(shown: Shown, path: Path, size: int | None, items: int, seed: int, longest: int) -> Inputs:
    first = _lines(path, 1)[0]
    if "tokens" in first:
        found = _from_rows(path, items, lambda line: _whole_numbers(line.get("tokens")), "lists of tokens")
        return _next_tokens(shown, found)
    if shown.task is not None:
        return _from_items(shown, shown.task, path, size, items, seed)
    if shown.lost:
        raise UsageError(f'{shown.lost}, so the texts of {path} cannot be read; lines {{"tokens": [3, 1, 2]}} can')
    return _from_texts(shown, path, items, room_for(shown.anatomy, longest))


def _from_items(shown: Shown, own: Task, path: Path, size: int | None, items: int, seed: int) -> Inputs:
    """Items of a file, their symbols turned into those of the run's task."""
    task = tasks.make({"name": "jsonl", "path": str(path)})
    strange = [symbol for symbol in task.symbols if symbol not in own.symbols]
    if strange:
        raise UsageError(
            f"{path} holds the symbol {strange[0]!r}, which is not one of those that the model was trained on "
            f"({name_of(own)})"
        )
    if size is None:
        known = task.sizes(1, 1_000_000)
        near = [s for s in known if shown.train_size is None or s <= shown.train_size]
        size = near[-1] if near else known[0]
    number = np.array([own.symbols.index(symbol) for symbol in task.symbols])
    drawn = task.draw(size, seed, range(items), "test")
    samples = Samples(_renamed(drawn.prompts, number), _renamed(drawn.answers, number))  # pyright: ignore
    batch = pack(samples, task.readout, shown.causal)
    described = f"{items} items of size {size} drawn from {path}"
    return Inputs(torch.from_numpy(batch.inputs), described, own.vocabulary.__getitem__, _targets(own, batch))


def _renamed(rows: Ints, number: Ints) -> Ints:
    return np.where(rows == NOTHING, NOTHING, number[np.maximum(rows, 0)])


def _from_texts(shown: Shown, path: Path, items: int, longest: int) -> Inputs:
    """Texts, cut into tokens by the tokenizer that comes with the model."""
    tokenizer = shown.tokenizer
    if tokenizer is None:
        raise UsageError(
            f"there is no tokenizer.json with the model to cut the texts of {path} into tokens; lines "
            '{"tokens": [3, 1, 2]} need none'
        )

    def cut(line: dict[str, Any]) -> list[int]:
        text = next((line[key] for key in ("text", "input") if isinstance(line.get(key), str)), None)
        if text is None:
            raise UsageError(f'{path}: a line has neither "tokens", "text" nor "input"; each needs one of them')
        return tokenizer.cut(text)[:longest]

    found = replace(_from_rows(path, items, cut, f"texts, of each at most {longest} tokens"), names=tokenizer.name)
    return _next_tokens(shown, found)


def _from_rows(path: Path, items: int, read: Callable[[dict[str, Any]], list[int]], what: str) -> Inputs:
    rows = [read(line) for line in _lines(path, items)]
    shortest = min(map(len, rows))
    if shortest < 2:
        raise UsageError(f"{path} has a sequence of {shortest} tokens; two or more are needed")
    cut = "" if all(len(row) == shortest for row in rows) else f", cut to the {shortest} tokens of the shortest"
    return Inputs(torch.tensor([row[:shortest] for row in rows]), f"the first {len(rows)} {what} in {path}{cut}")


def _whole_numbers(row: Any) -> list[int]:
    if not isinstance(row, list) or not all(type(token) is int for token in row):
        raise UsageError(f'"tokens" is a list of whole numbers, as in {{"tokens": [3, 1, 2]}}, not {str(row)[:60]}')
    return row


def _lines(path: Path, most: int) -> list[dict[str, Any]]:
    try:
        with path.open(encoding="utf-8") as file:
            found = [json.loads(line) for _, line in zip(range(most), filter(str.strip, file), strict=False)]
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}") from None
    except json.JSONDecodeError as error:
        raise UsageError(f"{path} is not JSONL, one JSON object per line: {error}") from None
    if not found:
        raise UsageError(f'{path} is empty; a line is {{"tokens": [3, 1, 2]}} or {{"text": "…"}}')
    if not all(isinstance(line, dict) for line in found):
        raise UsageError(f'{path} holds a line that is no JSON object; a line is {{"tokens": [3, 1, 2]}}')
    return found


# --- the built-in text ----------------------------------------------------------------------------------------------


def _from_built_in_text(shown: Shown, items: int, longest: int) -> Inputs | None:
    """The beginnings of `items` parts of the text that comes with the package; None where it cannot be cut into the
    model's tokens."""
    tokenizer = None if shown.lost else shown.tokenizer
    if tokenizer is None:
        return None
    longest = room_for(shown.anatomy, longest)
    rows = [tokenizer.cut(part)[:longest] for part in built_in_parts(items)]
    shortest = min(map(len, rows))
    tokens = torch.tensor([row[:shortest] for row in rows])
    if shortest < 2 or int(tokens.max()) >= len(shown.anatomy.embed):
        return None
    described = f"{items} parts of the built-in text ({TITLE}), of each the first {shortest} tokens"
    return _next_tokens(shown, Inputs(tokens, described, tokenizer.name))


# --- sequences that say nothing -------------------------------------------------------------------------------------


def _made_up(shown: Shown, items: int, seed: int, longest: int) -> Inputs:
    """Tokens drawn evenly from the whole vocabulary; every second sequence repeats its first half."""
    anatomy = shown.anatomy
    length = min(shown.trained or 32, 32, max(2, (anatomy.longest or 64) // 2))
    if longest > LONGEST:
        length = room_for(anatomy, longest if shown.trained is None else min(longest, STRETCH * shown.trained))
    draws = Seeds(seed).draws("neutral", items=range(items))
    tokens = draws.integers(0, len(anatomy.embed), length)
    half = length // 2
    tokens[1::2, half : 2 * half] = tokens[1::2, :half]
    why = f" ({shown.lost})" if shown.lost else ""
    said = f"{items} made-up sequences of {length} tokens: drawn evenly from the vocabulary, every second one with its "
    return Inputs(torch.from_numpy(tokens), f"{said}first half repeated; they are no text{why}")
