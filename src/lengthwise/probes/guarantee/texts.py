"""Texts as data: a file of documents, one per line (JSONL with "tokens" or "text", or plain text), or the text that
comes with the package.

A file is read twice. The first time every line is checked, counted and hashed, so that a mistake in the last line is
found before a model has worked for an hour; the second time documents are cut into tokens as they are needed. Where
only the first tokens are wanted, what comes after them is not read.
"""

from __future__ import annotations

import abc
import hashlib
import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.losses import TOKENS, Rows, Stretch
from lengthwise.probes.guarantee.source import DataStanding, TokenSource, cut_after, drawn_evenly
from lengthwise.probes.shown.lines import lines_of, object_in, whole_numbers
from lengthwise.records import Assumption
from lengthwise.tasks.batch import Batch
from lengthwise.text import TITLE, built_in_parts

USUAL_CONTEXT = 1024  # a window is as long as the model can read, but no longer than this unless asked for
PARTS = 16  # documents that the built-in text is taken as

explain(
    {
        "guarantee.stands_in": "the tokens used are the training data of the model, or a uniform sample of them (they "
        "are not: its loss on its own training data is unknown, and its loss on the built-in text is used instead)",
        "guarantee.repeated": "documents are independent of each other (but {repeated:,} of {documents:,}, "
        "{share:.1%}, are the same as an earlier one)",
        "guarantee.independent": "documents are independent of each other (no two are the same)",
        "guarantee.trained_on_file": "the model was trained on the data in {path}, and on nothing else",
        "guarantee.sample_of_tokens": "the data in {path} are a uniform random sample, drawn after training, of the "
        "{tokens:,} tokens that the model was trained on",
        "guarantee.sample_of_documents": "the data in {path} are a uniform random sample, drawn after training, of the "
        "{documents:,} documents that the model was trained on",
        "guarantee.sample_of_both": "the data in {path} are a uniform random sample, drawn after training, of the "
        "{tokens:,} tokens in {documents:,} documents that the model was trained on",
        "guarantee.sampled_documents": "the documents used are a uniform random sample of the file, drawn after "
        "training",
    }
)


class Reader(NamedTuple):
    """How a model reads texts: its tokenizer, the number of its tokens, and how many it reads at once."""

    cut: Callable[[str], list[int]] | None
    vocabulary: int
    longest: int | None = None


class TextSource(TokenSource):
    """Documents that are read in windows of `context` tokens."""

    def __init__(self, reader: Reader, asked: GuaranteeProbe) -> None:
        most = reader.longest or USUAL_CONTEXT
        if asked.window is not None and not 1 <= asked.window <= most:
            raise UsageError(
                f"a context must have 1 to {most} tokens, as many as the model reads at once, not {asked.window}"
            )
        self.context = asked.window or min(most, USUAL_CONTEXT)
        self.how = (
            f"{cut_after(asked)}; every token but a document's first is predicted once, from what came before it in "
            f"its window of {self.context:,} tokens"
        )

    @abc.abstractmethod
    def numbered(self) -> Iterator[tuple[int, list[int]]]:
        """The tokens of each document, with its number."""

    def stretches(self, tokens: int) -> Iterator[Stretch]:
        return stretches_of(windows_of(self.numbered(), self.context), tokens)


class FileSource(TextSource):
    """The documents of a file, or a uniform sample of them."""

    def __init__(self, path: Path, reader: Reader, asked: GuaranteeProbe, seed: int) -> None:
        super().__init__(reader, asked)
        self.file = DocumentFile(path, reader)
        found = self.file.survey(count_tokens=asked.sample is not None, enough=asked.limit)
        self.chosen = None
        if asked.sample is not None and asked.sample < found.documents:
            self.chosen = set(drawn_evenly(found.documents, asked.sample, seed, "documents").tolist())
        self.surveyed = found.documents
        self.documents = found.documents if self.chosen is None else len(self.chosen)
        of = "" if self.chosen is None else f" drawn evenly from {found.documents:,}"
        left_out = f", {found.empty} empty ones left out" if found.empty else ""
        first = "" if found.whole else "the first "
        self.described = f"{first}{self.documents:,} documents{of} of {path}{left_out}{self.how}"
        self.settings = {"data": found.digest, "context": self.context, "sample": asked.sample, "seed": seed}
        self.expected = found.tokens if self.chosen is None else None
        self.standing = _standing(asked, found, str(path), self.chosen is not None)

    def numbered(self) -> Iterator[tuple[int, list[int]]]:
        for number, tokens in enumerate(islice(self.file.documents(), self.surveyed)):
            if self.chosen is None or number in self.chosen:
                yield number, tokens


class BuiltInSource(TextSource):
    """The text that comes with the package, which no model is known to have been trained on."""

    def __init__(self, reader: Reader, asked: GuaranteeProbe) -> None:
        if reader.cut is None:
            raise UsageError(
                "there is no tokenizer with the model to cut the built-in text into tokens; give a file of lines "
                '{"tokens": [3, 1, 2]} as data'
            )
        for name in ("sample", "documents"):
            if getattr(asked, name) is not None:
                raise UsageError(f"`{name}` is about the documents of a file, and there is none; give one as data")
        super().__init__(reader, asked)
        self.described = f"the built-in text ({TITLE}) in {PARTS} parts{self.how}"
        self.parts = [reader.cut(part) for part in built_in_parts(PARTS)]
        if max(max(tokens, default=0) for tokens in self.parts) >= reader.vocabulary:
            raise UsageError("the tokenizer with the model has more tokens than the model; they do not belong together")
        self.documents = PARTS
        self.expected = sum(max(0, len(tokens) - 1) for tokens in self.parts)
        self.settings = {"data": TITLE, "parts": PARTS, "context": self.context}
        stands_in = Assumption("guarantee.stands_in", "violated")
        self.standing = DataStanding("heuristic", (stands_in,), (), asked.tokens, tokens_alone=True)

    def numbered(self) -> Iterator[tuple[int, list[int]]]:
        return enumerate(self.parts)


def _standing(asked: GuaranteeProbe, found: Survey, path: str, sampled: bool) -> DataStanding:
    """A file is the training set itself, or a sample of a larger one of which the user says the size. A sample that was
    drawn here is one of the file."""
    values = {"path": path, "tokens": asked.tokens, "documents": asked.documents}
    independent = Assumption("guarantee.independent")
    if found.repeated:
        seen = {"repeated": found.repeated, "documents": found.documents, "share": found.repeated / found.documents}
        independent = Assumption("guarantee.repeated", "violated", seen)
    if asked.tokens is not None or asked.documents is not None:
        if sampled:
            raise UsageError(
                "a sample is drawn from the file, which is then the whole training set; leave out the numbers of "
                "tokens and documents"
            )
        of = "both" if None not in values.values() else "tokens" if asked.documents is None else "documents"
        word = Assumption(f"guarantee.sample_of_{of}", values=values)
        return DataStanding("predicted", (word,), (independent,), asked.tokens, asked.documents)
    if not sampled:
        return DataStanding("certified", (Assumption("guarantee.trained_on_file", values=values),), (independent,))
    word = Assumption("guarantee.trained_on_file", values={"path": path})
    drawn = Assumption("guarantee.sampled_documents", "checked")
    return DataStanding("certified", (word, drawn), (independent,), found.tokens, found.documents, drawn=True)


# --- documents of a file --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Survey:
    """What the first reading of a file found.

    documents     how many are not empty; `empty` lines and documents are left out
    repeated      how many are the same as an earlier one
    tokens        how many tokens there are to predict; None where they were not counted
    whole         whether the file was read to its end; all numbers are of what was read
    """

    digest: str
    documents: int
    empty: int
    repeated: int
    tokens: int | None
    whole: bool = True


class DocumentFile:
    """The documents of a file, for a model that reads them in its own way."""

    def __init__(self, path: Path, reader: Reader) -> None:
        self.path, self.cut, self.vocabulary = path, reader.cut, reader.vocabulary
        self.plain = path.suffix.lower() not in (".jsonl", ".json", ".ndjson")

    def survey(self, count_tokens: bool = False, enough: int | None = None) -> Survey:
        """Read all lines once, or up to the document with which there are `enough` tokens to predict. O(file) time, 8
        bytes a document and more; texts are cut only to be counted."""
        content, seen = hashlib.sha256(), set()
        documents = empty = repeated = tokens = 0
        counted, texts, whole = count_tokens or enough is not None, False, True
        for where, document in self._lines(content):
            if document is None:
                empty += 1
                continue
            texts = texts or isinstance(document, str)
            documents += 1
            spoken = document if isinstance(document, str) else json.dumps(document)
            mark = hashlib.blake2b(spoken.encode("utf-8", "surrogatepass"), digest_size=8).digest()
            repeated += mark in seen
            seen.add(mark)
            if counted:
                tokens += max(0, len(self._tokens(where, document)) - 1)
            if enough is not None and tokens >= enough:
                whole = False
                break
        if not documents:
            raise UsageError(
                f'{self.path} contains no document; a line is {{"text": "…"}}, {{"tokens": [3, 1]}} or text'
            )
        if texts and self.cut is None:
            raise UsageError(
                f"there is no tokenizer with the model to cut the texts of {self.path} into tokens; lines "
                '{"tokens": [3, 1, 2]} need none'
            )
        return Survey(content.hexdigest(), documents, empty, repeated, tokens if counted else None, whole)

    def documents(self) -> Iterator[list[int]]:
        """The tokens of every document that is not empty."""
        for where, document in self._lines():
            if document is not None:
                yield self._tokens(where, document)

    def _lines(self, content: hashlib._Hash | None = None) -> Iterator[tuple[str, str | list[int] | None]]:
        """The place of each line and its text or its tokens; None where it is empty."""
        for where, line in lines_of(self.path, content):
            found = line
            if not self.plain and line.strip():
                known = object_in(line, where)
                if "tokens" in known:
                    found = self._checked(where, known["tokens"])
                elif not isinstance(found := known.get("text"), str):
                    raise UsageError(f'{where}: a line is {{"text": "…"}} or {{"tokens": [3, 1, 2]}}')
            yield where, None if not found or (isinstance(found, str) and not found.strip()) else found

    def _tokens(self, where: str, document: str | list[int]) -> list[int]:
        if isinstance(document, str):
            return self._checked(where, self.cut(document) if self.cut else [])
        return document

    def _checked(self, where: str, found: object) -> list[int]:
        tokens = whole_numbers(found, where)
        wrong = next((token for token in tokens if not 0 <= token < self.vocabulary), None)
        if wrong is not None:
            raise UsageError(
                f"{where}: the model knows the tokens 0 to {self.vocabulary - 1}, and {wrong} is not one of them"
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
