"""The tokenizer that comes with a model, in a file next to its weights or inside a GGUF file."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from lengthwise.errors import UsageError
from lengthwise.models.hub_folder import inside, staged

TOKENIZER = "tokenizer.json"  # the only file that a tokenizer is read from: others can name code


@dataclass(frozen=True)
class TextTokenizer:
    """`cut` gives the tokens of a text, `name` the text that a token stands for, in quotes."""

    cut: Callable[[str], list[int]]
    name: Callable[[int], str]


def tokenizer_beside(folder: Path | None, gguf: Path | None) -> TextTokenizer | None:
    """The tokenizer in a folder (tokenizer.json), else the one in a GGUF file, or None. What it adds to a text, such
    as a token at its beginning, is kept."""
    if folder is not None and (folder / TOKENIZER).exists():
        from tokenizers import Tokenizer

        place = inside(folder, TOKENIZER)
        try:
            found = Tokenizer.from_file(str(place))
        except Exception as error:  # the library has no kind of its own
            said = " ".join(str(error).split())[:120]
            raise UsageError(f"{place} cannot be read as a tokenizer: {said}") from error
        found.no_padding()
        found.no_truncation()
        return TextTokenizer(
            lambda text: found.encode(text).ids,
            lambda token: _quoted(found.decode([token], skip_special_tokens=False)),
        )
    return None if gguf is None else _of_gguf(gguf)


@functools.lru_cache(maxsize=1)  # it takes seconds to build
def _of_gguf(path: Path) -> TextTokenizer | None:
    """The tokenizer inside a GGUF file; None where it holds none that transformers can read."""
    from transformers import AutoTokenizer

    with contextlib.redirect_stderr(io.StringIO()), staged({path.name: path}) as place:  # bars
        try:
            found = AutoTokenizer.from_pretrained(
                place, gguf_file=path.name, local_files_only=True, trust_remote_code=False
            )
        except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError, RuntimeError):
            return None
    return TextTokenizer(
        lambda text: list(found(text, truncation=False, verbose=False)["input_ids"]),
        lambda token: _quoted(str(found.decode([token], skip_special_tokens=False))),
    )


def _quoted(piece: str) -> str:
    return json.dumps(piece, ensure_ascii=False)  # line breaks and the like are shown as such
