"""What a model is shown: a task's items, sequences from a file, the built-in text, or made-up sequences; and the
forward pass on it.

Most probes look at short sequences. A probe of what length does asks for longer ones (`longest`): more tokens of each
text, or items of up to eight times the size of training.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.models.forward import Trace, run
from lengthwise.models.parts import Anatomy
from lengthwise.probes.probe import Context
from lengthwise.probes.shown import LONGEST
from lengthwise.probes.shown.lines import lines_of, object_in, whole_numbers
from lengthwise.seeds import Ints, Seeds
from lengthwise.subjects.subject import Subject
from lengthwise.subjects.symbols import MappedAnswers
from lengthwise.subjects.tokenizer import TextTokenizer
from lengthwise.tasks.batch import NOTHING, Batch, Samples, pack
from lengthwise.tasks.jsonl import JsonLines
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task
from lengthwise.text import TITLE, built_in_parts

STRETCH = 8  # longer items of a task have at most this many times the size of training


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


class Shown:
    """A subject as its inputs see it. `task` is that of its run, or `lost` says why there is none; `trained` is the
    longest sequence that a model of ours was trained on."""

    def __init__(self, subject: Subject) -> None:
        self.subject, self.anatomy = subject, subject.capability("anatomy")
        self.causal = self.anatomy.blocks[0].attention.causal
        stored = subject.capability("run") if subject.offers("run") else None
        self.train_size, self.task, self.lost = None if stored is None else stored.train_size, None, ""
        try:
            self.task: Task | None = None if stored is None else stored.task
        except UsageError as error:
            self.lost = str(error)
        ours = subject.offers("transformer")
        self.trained: int | None = subject.capability("transformer").interface.trained if ours else None

    @property
    def tokenizer(self) -> TextTokenizer | None:
        return self.subject.capability("tokenizer") if self.subject.offers("tokenizer") else None


def inputs_for(subject: Subject, wanted: Context, usual: int, longest: int = LONGEST) -> Inputs:
    """What the caller requested; else the run's own task; else the built-in text; else made-up sequences.

    `wanted` has the task or the file, the number of items (`usual` where it does not say) and at most one size.
    `longest` is how many tokens of a text are read. Above 64, a task's items and made-up sequences are longer too.
    """
    shown = Shown(subject)
    items = usual if wanted.items is None else wanted.items
    size = wanted.sizes[0] if wanted.sizes else None
    task = shown.task if wanted.task is None else wanted.task
    if wanted.data is not None:
        found = _from_file(shown, Path(wanted.data), size, items, wanted.seed, longest)
    elif task is not None:
        found = _from_task(shown, task, wanted, items, longest)
    elif size is not None:
        raise UsageError("a size goes with a task, and this model has none of its own; name one")
    else:
        found = _from_built_in_text(shown, items, longest) or _made_up(shown, items, wanted.seed, longest)
    if found.tokens.shape[1] < 2:
        raise UsageError("the inputs have one token each, and what is measured lies between tokens; two are needed")
    return found


def inputs_of_lines(subject: Subject, path: Path, most: int) -> list[Inputs]:
    """The first lines of a file, each once and whole: items of the run's task by size, tokens and texts by length."""
    shown = Shown(subject)
    tokens = "tokens" in _lines(path, 1)[0][1]
    if not tokens and shown.task is not None:
        drawn = JsonLines(str(path)).first(most)
        return [_as_read(shown, shown.task, path, size, samples) for size, samples in sorted(drawn.items())]
    rows = _token_rows(path, most) if tokens else _text_rows(shown, path, most, None)
    alike: dict[int, list[list[int]]] = {}
    for row in rows:
        alike.setdefault(len(row), []).append(row)
    return [_next_tokens(shown, _from_rows(path, own, f"lines of {n} tokens")) for n, own in sorted(alike.items())]


def room_for(anatomy: Anatomy, most: int) -> int:
    """How many tokens a sequence may have, up to `most`: a table of positions has an end."""
    if anatomy.longest is None:
        return most
    while most > 1 and int(anatomy.places(most).max()) >= anatomy.longest:  # some tables leave rows out at the start
        most -= 1
    return most


def _from_task(shown: Shown, task: Task, wanted: Context, items: int, longest: int) -> Inputs:
    known, anatomy = shown.task, shown.anatomy
    answers = shown.subject.capability("answers") if shown.subject.offers("answers") else None
    mapped = answers if isinstance(answers, MappedAnswers) else None
    if known is not None and task.vocabulary != known.vocabulary:
        _refuse_symbols(task, f"the model was trained on the symbols of {name_of(known)}")
    if mapped is None and len(task.vocabulary) != len(anatomy.embed):
        _refuse_symbols(task, f"{anatomy.name} reads {len(anatomy.embed)} tokens and not {len(task.vocabulary)}")
    if wanted.sizes:
        size = wanted.sizes[0]
    else:
        size = _size(task, shown.train_size or wanted.train_size)
        if longest > LONGEST:
            size = _longer_size(task, size, shown.causal, room_for(anatomy, longest))
    if mapped is not None:
        batch, own = mapped.batch(task.part("test"), size, range(items), wanted.seed), mapped.tokens.names(task)
        described = f"{items} items of size {size} of the task {name_of(task)}, as tokens of {mapped.tokens.name}"
        names = lambda token: own.get(token, str(token))  # noqa: E731
        return Inputs(torch.from_numpy(batch.inputs), described, names, _targets(task, batch))
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
    if "tokens" in _lines(path, 1)[0][1]:
        return _next_tokens(shown, _from_rows(path, _token_rows(path, items), "lists of tokens"))
    if shown.task is not None:
        return _from_items(shown, shown.task, path, size, items, seed)
    return _from_texts(shown, path, items, room_for(shown.anatomy, longest))


def _from_items(shown: Shown, own: Task, path: Path, size: int | None, items: int, seed: int) -> Inputs:
    """A file's items, their symbols turned into those of the run's task."""
    task = JsonLines(str(path))
    if size is None:
        known = task.sizes(1, 1_000_000)
        near = [s for s in known if shown.train_size is None or s <= shown.train_size]
        size = near[-1] if near else known[0]
    return _as_read(shown, own, path, size, task.draw(size, seed, range(items), "test"))


def _as_read(shown: Shown, own: Task, path: Path, size: int, drawn: Samples) -> Inputs:
    """Items of one size of a file as the model reads them, in the symbols of its own task."""
    task = JsonLines(str(path))
    strange = [symbol for symbol in task.symbols if symbol not in own.symbols]
    if strange:
        raise UsageError(
            f"{path} holds the symbol {strange[0]!r}, which is not one of those that the model was trained on "
            f"({name_of(own)})"
        )
    number = np.array([own.symbols.index(symbol) for symbol in task.symbols])
    samples = Samples(_renamed(drawn.prompts, number), _renamed(drawn.answers, number))  # pyright: ignore
    batch = pack(samples, task.readout, shown.causal)
    described = f"{len(drawn.prompts)} items of size {size} drawn from {path}"
    return Inputs(torch.from_numpy(batch.inputs), described, own.vocabulary.__getitem__, _targets(own, batch))


def _renamed(rows: Ints, number: Ints) -> Ints:
    return np.where(rows == NOTHING, NOTHING, number[np.maximum(rows, 0)])


def _token_rows(path: Path, items: int) -> list[list[int]]:
    return [whole_numbers(line.get("tokens"), where) for where, line in _lines(path, items)]


def _text_rows(shown: Shown, path: Path, items: int, longest: int | None) -> list[list[int]]:
    """Texts, cut into tokens by the tokenizer that comes with the model; at most `longest` of each, or all."""
    if shown.lost:
        raise UsageError(f'{shown.lost}, so the texts of {path} cannot be read; lines {{"tokens": [3, 1, 2]}} can')
    if shown.tokenizer is None:
        raise UsageError(
            f"there is no tokenizer.json with the model to cut the texts of {path} into tokens; lines "
            '{"tokens": [3, 1, 2]} need none'
        )
    rows = []
    for where, line in _lines(path, items):
        text = next((line[key] for key in ("text", "input") if isinstance(line.get(key), str)), None)
        if text is None:
            raise UsageError(f'{where}: it has neither "tokens", "text" nor "input"; each line needs one of them')
        rows.append(shown.tokenizer.cut(text)[:longest])
    return rows


def _from_texts(shown: Shown, path: Path, items: int, longest: int) -> Inputs:
    rows = _text_rows(shown, path, items, longest)
    found = _from_rows(path, rows, f"texts, of each at most {longest} tokens")
    return _next_tokens(shown, replace(found, names=None if shown.tokenizer is None else shown.tokenizer.name))


def _from_rows(path: Path, rows: list[list[int]], what: str) -> Inputs:
    shortest = min(map(len, rows))
    if shortest < 2:
        raise UsageError(f"{path} has a sequence of {shortest} tokens; two or more are needed")
    cut = "" if all(len(row) == shortest for row in rows) else f", cut to the {shortest} tokens of the shortest"
    return Inputs(torch.tensor([row[:shortest] for row in rows]), f"the first {len(rows)} {what} in {path}{cut}")


def _lines(path: Path, most: int) -> list[tuple[str, dict[str, Any]]]:
    """The objects of the first lines that are not blank, each with its place."""
    written = ((where, line) for where, line in lines_of(path) if line.strip())
    found = [(where, object_in(line, where)) for where, line in itertools.islice(written, most)]
    if not found:
        raise UsageError(f'{path} is empty; a line is {{"tokens": [3, 1, 2]}} or {{"text": "…"}}')
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


@torch.no_grad()
def traced(anatomy: Anatomy, inputs: Inputs) -> Trace:
    """The forward pass on the inputs."""
    return run(anatomy, inputs.tokens)
