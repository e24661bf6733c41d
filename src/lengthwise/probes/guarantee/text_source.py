"""Texts as data: a file of documents, or the text that comes with the package."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.documents import Cut, DocumentFile, stretches_of, windows_of
from lengthwise.probes.guarantee.losses import Stretch
from lengthwise.probes.guarantee.source import DataStanding, TokenSource
from lengthwise.records import Assumption
from lengthwise.seeds import Ints, Seeds
from lengthwise.text import TITLE, built_in_parts

USUAL_CONTEXT = 1024  # a window is as long as the model can read, but no longer than this unless asked for
PARTS = 16  # documents that the built-in text is taken as

explain(
    {
        "guarantee.stands_in": "the tokens used are the training data of the model, or a uniform sample of them: they "
        "are not; its loss on its own training data is unknown, and that on the built-in text stands in for it",
        "guarantee.repeated": "documents are independent of each other: {repeated:,} of {documents:,} ({share:.1%}) "
        "are the same as an earlier one",
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

    cut: Cut | None
    vocabulary: int
    longest: int | None


class FileSource(TokenSource):
    """The documents of a file, or a uniform sample of them."""

    def __init__(self, path: Path, reader: Reader, asked: GuaranteeProbe, seed: int) -> None:
        self.file = DocumentFile(path, reader.cut, reader.vocabulary)
        self.context = context_of(reader.longest, asked.window)
        sampled = asked.sample is not None
        found = self.file.survey(count_tokens=sampled, enough=asked.limit)
        self.chosen = _chosen(found.documents, asked.sample, seed) if sampled else None
        if found.documents and self.chosen is not None and len(self.chosen) == found.documents:
            self.chosen = None  # all of them
        count = found.documents if self.chosen is None else len(self.chosen)
        left_out = f", {found.empty} empty ones left out" if found.empty else ""
        of = "" if self.chosen is None else f" drawn evenly from {found.documents:,}"
        first = "" if found.whole else "the first "
        cut_after = f", of which the first {asked.limit:,} predicted tokens" if asked.limit else ""
        self.described = f"{first}{count:,} documents{of} of {path}{left_out}{cut_after}; {in_words(self.context)}"
        self.settings = {"data": found.digest, "context": self.context, "sample": asked.sample, "seed": seed}
        self.documents, self.surveyed = count, found.documents
        self.expected = found.tokens if self.chosen is None else None
        independent = _independence(found.documents, found.repeated)
        if self.chosen is None:
            self.standing = _standing(asked, independent, str(path))
        else:
            self.standing = _of_sample(asked, independent, found.documents, found.tokens, str(path))

    def stretches(self, tokens: int) -> Iterator[Stretch]:
        return stretches_of(windows_of(self._documents(), self.context), tokens)

    def _documents(self) -> Iterator[tuple[int, list[int]]]:
        wanted = None if self.chosen is None else set(self.chosen.tolist())
        for number, tokens in enumerate(islice(self.file.documents(), self.surveyed)):
            if wanted is None or number in wanted:
                yield number, tokens


class BuiltInSource(TokenSource):
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
        self.context = context_of(reader.longest, asked.window)
        self.parts = [reader.cut(part) for part in built_in_parts(PARTS)]
        if max(max(tokens, default=0) for tokens in self.parts) >= reader.vocabulary:
            raise UsageError("the tokenizer with the model has more tokens than the model; they do not belong together")
        self.documents = PARTS
        self.expected = sum(max(0, len(tokens) - 1) for tokens in self.parts)
        cut_after = f", of which the first {asked.limit:,} predicted tokens" if asked.limit else ""
        text = f"the built-in text ({TITLE}) in {PARTS} parts"
        self.described = f"{text}{cut_after}; {in_words(self.context)}"
        self.settings = {"data": TITLE, "parts": PARTS, "context": self.context}
        stands_in = Assumption("guarantee.stands_in", "violated")
        self.standing = DataStanding("heuristic", (stands_in,), (), asked.tokens, tokens_alone=True)

    def stretches(self, tokens: int) -> Iterator[Stretch]:
        return stretches_of(windows_of(enumerate(self.parts), self.context), tokens)


def context_of(longest: int | None, asked: int | None) -> int:
    """How many tokens a window has."""
    most = longest or USUAL_CONTEXT
    if asked is not None and not 1 <= asked <= most:
        raise UsageError(f"a context has 1 to {most} tokens, as many as the model reads at once, not {asked}")
    return asked or min(most, USUAL_CONTEXT)


def in_words(context: int) -> str:
    return (
        f"every token but a document's first is predicted once, from what came before it in its window of {context:,} "
        "tokens"
    )


def _chosen(documents: int, sample: int | None, seed: int) -> Ints:
    count = min(documents, sample or documents)
    generator = np.random.default_rng(Seeds(seed).key("sample of documents"))
    return np.sort(generator.choice(documents, count, replace=False))


def _independence(documents: int, repeated: int) -> Assumption:
    if repeated:
        values = {"repeated": repeated, "documents": documents, "share": repeated / documents}
        return Assumption("guarantee.repeated", "violated", values)
    return Assumption("guarantee.independent")


def _standing(asked: GuaranteeProbe, independent: Assumption, path: str) -> DataStanding:
    """All of a file: the training set itself, or a sample of a larger one of which the user says the size."""
    values = {"path": path, "tokens": asked.tokens, "documents": asked.documents}
    if asked.tokens is None and asked.documents is None:
        return DataStanding("certified", (Assumption("guarantee.trained_on_file", values=values),), (independent,))
    of = "both" if None not in values.values() else "tokens" if asked.documents is None else "documents"
    word = Assumption(f"guarantee.sample_of_{of}", values=values)
    return DataStanding("predicted", (word,), (independent,), asked.tokens, asked.documents)


def _of_sample(
    asked: GuaranteeProbe, independent: Assumption, documents: int, tokens: int | None, path: str
) -> DataStanding:
    """A sample that was drawn here."""
    if asked.tokens is not None or asked.documents is not None:
        raise UsageError(
            "a sample is drawn from the file, which is then the whole training set; leave out the numbers of tokens "
            "and documents"
        )
    drawn = Assumption("guarantee.sampled_documents", "checked")
    word = Assumption("guarantee.trained_on_file", values={"path": path})
    return DataStanding("certified", (word, drawn), (independent,), tokens, documents, drawn=True)
