"""Texts as tokens: the tokenizer that comes with a model, and the text that comes with this package."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.inspection.subject import Subject
from lengthwise.models.hub_folder import inside, staged
from lengthwise.text import TITLE, built_in_text

__all__ = ["TITLE", "Cutter", "built_in_parts", "cutter_beside", "cutter_of"]

TOKENIZER = "tokenizer.json"  # the only file of a folder that a tokenizer is read from: others may name code


@dataclass(frozen=True)
class Cutter:
    """A tokenizer: `cut` gives the tokens of a text, and `name` the text that a token stands for, in quotes."""

    cut: Callable[[str], list[int]]
    name: Callable[[int], str]


def cutter_of(subject: Subject) -> Cutter | None:
    """What cuts a text into the tokens of a subject's model; None where nothing does."""
    return cutter_beside(subject.folder, subject.gguf)


def cutter_beside(folder: Path | None, gguf: Path | None) -> Cutter | None:
    """What cuts a text into a model's tokens: the tokenizer.json in its folder, else the one in its GGUF file, or None.

    Special tokens that the tokenizer puts before or after a text are among them.
    """
    if folder is not None and (folder / TOKENIZER).exists():
        from tokenizers import Tokenizer

        place = inside(folder, TOKENIZER)
        try:
            cutter = Tokenizer.from_file(str(place))
        except Exception as error:  # the library has no kind of its own
            said = " ".join(str(error).split())[:120]
            raise UsageError(f"{place} cannot be read as a tokenizer: {said}") from error
        cutter.no_padding()
        cutter.no_truncation()
        return Cutter(
            lambda text: cutter.encode(text).ids,
            lambda token: _quoted(cutter.decode([token], skip_special_tokens=False)),
        )
    return None if gguf is None else _of_gguf(gguf)


@functools.lru_cache(maxsize=1)  # it takes seconds to build, and one inspection reads more than one set of inputs
def _of_gguf(path: Path) -> Cutter | None:
    """The tokenizer inside a GGUF file; None where it holds none that transformers can read."""
    from transformers import AutoTokenizer

    with contextlib.redirect_stderr(io.StringIO()), staged({path.name: path}) as place:  # bars
        try:
            cutter = AutoTokenizer.from_pretrained(
                place, gguf_file=path.name, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError, RuntimeError):
            return None
    return Cutter(
        lambda text: list(cutter(text, truncation=False, verbose=False)["input_ids"]),
        lambda token: _quoted(str(cutter.decode([token], skip_special_tokens=False))),
    )


def _quoted(piece: str) -> str:
    return json.dumps(piece, ensure_ascii=False)  # line breaks and the like are shown as such


def built_in_parts(count: int) -> list[str]:
    """The built-in text in `count` parts of about the same length, which begin with a paragraph where there are enough.

    It is in the public domain; the README.md of `lengthwise.text` says where it comes from.
    """
    text = built_in_text()
    starts = []
    for number in range(count):
        about = number * len(text) // count
        paragraph = text.find("\n\n", about, about + 2000) + 2 if number else 0
        starts.append(paragraph if number == 0 or paragraph >= 2 else about)
    return [text[first:last] for first, last in zip(starts, [*starts[1:], len(text)], strict=True)]
