"""The tokenizer that comes with a model, in a file next to its weights or inside a GGUF file."""

from __future__ import annotations

import contextlib
import functools
import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import read_json
from lengthwise.models.hub_folder import in_one_sentence, inside, staged
from lengthwise.reading import MOST_WHOLE, read_text

TOKENIZER = "tokenizer.json"  # the only file that a tokenizer is read from: others can name code
_SETTINGS, _TEMPLATE = "tokenizer_config.json", "chat_template.jinja"
_NO_TOKENIZER = "cannot be read as a tokenizer"
BREAKS = "has a tokenizer that fails on this input"  # it was read, and may still lack what a text needs
_SPECIAL = ("bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token")


@dataclass(frozen=True)
class TextTokenizer:
    """`cut` gives the tokens of a text, `text` the text of tokens, `name` that of one token, in quotes."""

    cut: Callable[[str], list[int]]
    text: Callable[[list[int]], str]

    def name(self, token: int) -> str:
        return _quoted(self.text([token]))


def tokenizer_beside(folder: Path | None, gguf: Path | None) -> TextTokenizer | None:
    """The tokenizer in a folder (tokenizer.json), else the one in a GGUF file, or None. What it adds to a text, such
    as a token at its beginning, is kept."""
    if folder is not None and (folder / TOKENIZER).exists():
        found = _of_folder(folder)
        return _careful(
            folder / TOKENIZER,
            lambda text: found.encode(text).ids,
            lambda tokens: found.decode(tokens, skip_special_tokens=False),
        )
    found = None if gguf is None else _of_gguf(gguf)
    return found and _careful(
        gguf,
        lambda text: list(found(text, truncation=False, verbose=False)["input_ids"]),
        lambda tokens: str(found.decode(tokens, skip_special_tokens=False)),
    )


def _careful(place: Any, cut: Callable[[str], list[int]], text: Callable[[list[int]], str]) -> TextTokenizer:
    def careful_cut(given: str) -> list[int]:
        with in_one_sentence(place, BREAKS):
            return cut(given)

    def careful_text(given: list[int]) -> str:
        with in_one_sentence(place, BREAKS):
            return text(given)

    return TextTokenizer(careful_cut, careful_text)


def chat_tokenizer(folder: Path, gguf: Path | None) -> Any:
    """The same tokenizer as one of `transformers`, with its special tokens and its chat template where they are known;
    None where there is no tokenizer. Of tokenizer_config.json nothing but these texts is read."""
    from transformers import PreTrainedTokenizerFast

    if not (folder / TOKENIZER).exists():
        return None if gguf is None else _of_gguf(gguf)
    found = _of_folder(folder)
    config = read_json(inside(folder, _SETTINGS)) if (folder / _SETTINGS).exists() else {}
    config = config if isinstance(config, dict) else {}
    texts = {name: one.get("content") if isinstance(one, dict) else one for name, one in config.items()}
    known = {name: texts[name] for name in _SPECIAL if isinstance(texts.get(name), str)}
    template = config.get("chat_template")
    if (folder / _TEMPLATE).exists():
        template = read_text(inside(folder, _TEMPLATE))
    elif isinstance(template, list):  # several by name
        named = {one.get("name"): one.get("template") for one in template if isinstance(one, dict)}
        template = named.get("default")
    with in_one_sentence(folder / TOKENIZER, _NO_TOKENIZER):
        return PreTrainedTokenizerFast(
            tokenizer_object=found,
            chat_template=template if isinstance(template, str) else None,
            clean_up_tokenization_spaces=False,
            **{name: text for name, text in known.items() if found.token_to_id(text) is not None},
        )


def _of_folder(folder: Path) -> Any:
    from tokenizers import Tokenizer

    place = inside(folder, TOKENIZER)
    text = read_text(place, MOST_WHOLE)
    with in_one_sentence(place, _NO_TOKENIZER):
        found = Tokenizer.from_str(text)
        found.no_padding()
        found.no_truncation()
        return found


@functools.lru_cache(maxsize=1)  # it takes seconds to build
def _of_gguf(path: Path) -> Any:
    """The tokenizer inside a GGUF file; None where it holds none that transformers can read."""
    from transformers import AutoTokenizer

    with contextlib.redirect_stderr(io.StringIO()), staged({path.name: path}) as place:  # bars
        try:
            with in_one_sentence(path):
                return AutoTokenizer.from_pretrained(
                    place, gguf_file=path.name, local_files_only=True, trust_remote_code=False
                )
        except UsageError:
            return None


def _quoted(piece: str) -> str:
    return json.dumps(piece, ensure_ascii=False)  # line breaks and the like are shown as such
