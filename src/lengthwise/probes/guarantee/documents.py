"""Documents of a file, one a line, read as a stream: JSONL with "tokens" or "text", or a plain text.

A file is read twice. The first time every line is checked, counted and hashed, so that a mistake in the last line is
found before a model has worked for an hour; the second time documents are cut into tokens as they are needed. Where
only the first tokens are wanted, what comes after them is not read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.probes.guarantee.losses import TOKENS, Rows, Stretch
from lengthwise.tasks.batch import Batch

Cut = Callable[[str], list[int]]


@dataclass(frozen=True)
class Survey:
    """What the first reading of a file found.

    documents     how many are not empty; `empty` lines and documents are left out
    repeated      how many are the same as an earlier one
    tokens        how many tokens there are to predict; None where they were not counted
    texts         whether there is text, which needs a tokenizer
    whole         whether the file was read to its end; all numbers are of what was read
    """

    digest: str
    documents: int
    empty: int
    repeated: int
    tokens: int | None
    texts: bool
    whole: bool = True


class DocumentFile:
    """The documents of a file. `cut` turns text into tokens; None where the model has no tokenizer."""

    def __init__(self, path: Path, cut: Cut | None, vocabulary: int) -> None:
        self.path, self.cut, self.vocabulary = path, cut, vocabulary
        self.plain = path.suffix.lower() not in (".jsonl", ".json", ".ndjson")

    def survey(self, count_tokens: bool = False, enough: int | None = None) -> Survey:
        """Read all lines once, or up to the document with which there are `enough` tokens to predict. O(file) time, 8
        bytes a document and more; texts are cut only to be counted."""
        content, seen = hashlib.sha256(), set()
        documents = empty = repeated = tokens = 0
        texts, whole = False, True
        for number, line in self._lines(content):
            document = self._document(number, line)
            if not document or (isinstance(document, str) and not document.strip()):
                empty += 1
                continue
            texts = texts or isinstance(document, str)
            documents += 1
            spoken = document if isinstance(document, str) else json.dumps(document)
            mark = hashlib.blake2b(spoken.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            repeated += mark in seen
            seen.add(mark)
            if count_tokens or enough is not None:
                tokens += max(0, len(self._tokens(number, document)) - 1)
            if enough is not None and tokens >= enough:
                whole = False
                break
        if not documents:
            raise UsageError(f'{self.path} holds no document; a line is {{"text": "…"}}, {{"tokens": [3, 1]}} or text')
        if texts and self.cut is None:
            raise UsageError(
                f"there is no tokenizer with the model to cut the texts of {self.path} into tokens; lines "
                '{"tokens": [3, 1, 2]} need none'
            )
        counted = tokens if count_tokens or enough is not None else None
        return Survey(content.hexdigest(), documents, empty, repeated, counted, texts, whole)

    def documents(self) -> Iterator[list[int]]:
        """The tokens of every document that is not empty."""
        for number, line in self._lines():
            document = self._document(number, line)
            if document and not (isinstance(document, str) and not document.strip()):
                yield self._tokens(number, document)

    def _lines(self, content: hashlib._Hash | None = None) -> Iterator[tuple[int, str]]:
        try:
            with self.path.open("rb") as file:
                for number, line in enumerate(file, 1):
                    if content is not None:
                        content.update(line)
                    yield number, line.decode("utf-8").strip("\r\n")
        except UnicodeDecodeError as error:
            raise UsageError(f"{self.path} is not a text in UTF-8: {error}; save it as such") from None
        except OSError as error:
            raise UsageError(f"{self.path} cannot be read: {error.strerror or error}") from None

    def _document(self, number: int, line: str) -> str | list[int]:
        """The text or the tokens of a line."""
        if self.plain or not line.strip():
            return line
        try:
            found = json.loads(line)
        except json.JSONDecodeError as error:
            raise UsageError(f"{self.path}, line {number}, is not JSON ({error.msg}); a line is one object") from None
        if isinstance(found, dict) and "tokens" in found:
            return self._checked(number, found["tokens"])
        if isinstance(found, dict) and isinstance(found.get("text"), str):
            return found["text"]
        raise UsageError(f'{self.path}, line {number}: a line is {{"text": "…"}} or {{"tokens": [3, 1, 2]}}')

    def _tokens(self, number: int, document: str | list[int]) -> list[int]:
        if isinstance(document, str):
            return self._checked(number, self.cut(document) if self.cut else [])
        return document

    def _checked(self, number: int, tokens: object) -> list[int]:
        where = f"{self.path}, line {number}"
        if not isinstance(tokens, list) or not all(type(token) is int for token in tokens):
            raise UsageError(f'{where}: "tokens" is a list of whole numbers, as in {{"tokens": [3, 1, 2]}}')
        for token in tokens:
            if not 0 <= token < self.vocabulary:
                raise UsageError(
                    f"{where}: the model knows the tokens 0 to {self.vocabulary - 1}, and {token} is not one of them"
                )
        return tokens


# --- windows of a model's length -------------------------------------------------------------------------------------


class TokenWindow(NamedTuple):
    """Tokens of a document: each but the first is predicted from those before it in the window."""

    document: int
    tokens: list[int]


def windows_of(documents: Iterable[tuple[int, list[int]]], context: int) -> Iterator[TokenWindow]:
    """Every token but a document's first is predicted once, from at most `context` tokens before it.

    A window begins with the last token of the one before, so that no token is left out between two.
    """
    for number, tokens in documents:
        for first in range(0, len(tokens) - 1, context):
            yield TokenWindow(number, tokens[first : first + context + 1])


def stretches_of(windows: Iterable[TokenWindow], tokens: int) -> Iterator[Stretch]:
    """Windows in stretches of `tokens` predictions or a little more."""
    held: list[TokenWindow] = []
    count = 0
    for window in windows:
        held.append(window)
        count += len(window.tokens) - 1
        if count >= tokens:
            yield laid_out(held)
            held, count = [], 0
    if held:
        yield laid_out(held)


def laid_out(windows: list[TokenWindow]) -> Stretch:
    """Windows of about one length side by side, as many as one pass takes; shorter ones are filled up at the right."""
    by_length = sorted(range(len(windows)), key=lambda index: -len(windows[index].tokens))
    groups: list[list[int]] = []
    for index in by_length:
        widest = len(windows[groups[-1][0]].tokens) - 1 if groups else 0
        if groups and (len(groups[-1]) + 1) * widest <= max(TOKENS, widest):
            groups[-1].append(index)
        else:
            groups.append([index])
    return Stretch(tuple(_rows(windows, group) for group in groups))


def _rows(windows: list[TokenWindow], group: list[int]) -> Rows:
    width = max(len(windows[index].tokens) for index in group) - 1
    whole = np.zeros((len(group), width + 1), dtype=np.int64)
    scored = np.zeros((len(group), width), dtype=bool)
    for row, index in enumerate(group):
        tokens = windows[index].tokens
        whole[row, : len(tokens)] = tokens
        scored[row, : len(tokens) - 1] = True
    documents = np.array([windows[index].document for index in group], dtype=np.int64)
    return Rows(Batch(whole[:, :-1], whole[:, 1:], scored), documents, np.array(group, dtype=np.int64))
