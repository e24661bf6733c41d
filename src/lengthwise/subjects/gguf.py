"""A GGUF file: weights that are quantised already, often with their tokenizer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.files import sha256
from lengthwise.subjects.hub import HubSubject
from lengthwise.subjects.tokenizer import TOKENIZER, TextTokenizer, tokenizer_beside


class GgufSubject(HubSubject):
    """The model in a GGUF file; a tokenizer.json in its folder takes precedence over the tokenizer inside."""

    source = "GGUF file"

    def __init__(self, path: Path) -> None:
        super().__init__(path, name=path.stem)
        self.folder = path.parent

    def capabilities(self) -> Mapping[str, Callable[[], Any]]:
        text = {"tokenizer": self._tokenizer, "completions": self._completions}
        return {**super().capabilities(), **text, "gguf": lambda: self.path}

    def offers(self, name: str) -> bool:
        needs_tokenizer = name in ("tokenizer", "completions")
        return super().offers(name) and not (needs_tokenizer and tokenizer_beside(self.folder, self.path) is None)

    def files(self) -> Mapping[str, str]:
        assert self.path is not None
        beside = self.path.parent / TOKENIZER
        return {self.path.name: sha256(self.path), **({TOKENIZER: sha256(beside)} if beside.exists() else {})}

    def _tokenizer(self) -> TextTokenizer:
        found = tokenizer_beside(self.folder, self.path)
        if found is None:
            raise UsageError(f"{self.path} holds no tokenizer that transformers can read")
        return found
