"""Texts as data: a file of documents, or the text that comes with the package."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.guarantees.documents import Cut, DocumentFile
from lengthwise.guarantees.source import Source, Standing
from lengthwise.guarantees.stretch import Stretch
from lengthwise.guarantees.windows import stretches_of, windows_of
from lengthwise.inspection.texts import TITLE, built_in_parts
from lengthwise.records import Assumption, Kind
from lengthwise.seeds import Ints, Seeds

USUAL_CONTEXT = 1024  # a window is as long as the model can read, but no longer than this unless asked for
PARTS = 16  # documents that the built-in text is taken as
_STANDS_IN = (
    "the tokens looked at are the training data of the model, or a uniform sample of them: they are not; its loss on "
    "its own training data is unknown, and that on the built-in text stands in for it"
)


@dataclass(frozen=True)
class Asked:
    """What the user says of the data: the size of the training set, a sample of the documents, the window's length."""

    tokens: int | None = None
    documents: int | None = None
    sample: int | None = None
    limit: int | None = None
    context: int | None = None
    seed: int = 0


class FileSource(Source):
    """The documents of a file, or a uniform sample of them."""

    def __init__(self, path: Path, cut: Cut | None, vocabulary: int, longest: int | None, asked: Asked) -> None:
        self.file = DocumentFile(path, cut, vocabulary)
        self.context = context_of(longest, asked.context)
        sampled = asked.sample is not None
        found = self.file.survey(count_tokens=sampled, enough=asked.limit)
        self.chosen = _chosen(found.documents, asked.sample, asked.seed) if sampled else None
        if found.documents and self.chosen is not None and len(self.chosen) == found.documents:
            self.chosen = None  # all of them
        count = found.documents if self.chosen is None else len(self.chosen)
        left_out = f", {found.empty} empty ones left out" if found.empty else ""
        of = "" if self.chosen is None else f" drawn evenly from {found.documents:,}"
        first = "" if found.whole else "the first "
        cut_after = f", of which the first {asked.limit:,} predicted tokens" if asked.limit else ""
        self.described = f"{first}{count:,} documents{of} of {path}{left_out}{cut_after}; {in_words(self.context)}"
        self.settings = {"data": found.digest, "context": self.context, "sample": asked.sample, "seed": asked.seed}
        self.documents, self.surveyed = count, found.documents
        self.expected = found.tokens if self.chosen is None else None
        independent = _independence(found.documents, found.repeated)
        if self.chosen is None:
            self.standing = _standing(asked, independent, str(path))
        else:
            self.standing = _of_sample(asked, independent, found.documents, found.tokens)

    def stretches(self, tokens: int) -> Iterator[Stretch]:
        return stretches_of(windows_of(self._documents(), self.context), tokens)

    def _documents(self) -> Iterator[tuple[int, list[int]]]:
        wanted = None if self.chosen is None else set(self.chosen.tolist())
        for number, tokens in enumerate(islice(self.file.documents(), self.surveyed)):
            if wanted is None or number in wanted:
                yield number, tokens


class BuiltInSource(Source):
    """The text that comes with the package, which no model is known to have been trained on."""

    def __init__(self, cut: Cut | None, vocabulary: int, longest: int | None, asked: Asked) -> None:
        if cut is None:
            raise UsageError(
                "there is no tokenizer beside the model to cut the built-in text into tokens; give --data a file of "
                'lines {"tokens": [3, 1, 2]}'
            )
        for name in ("sample", "documents"):
            if getattr(asked, name) is not None:
                raise UsageError(f"--{name} speaks of the documents of a file, and there is none; give one with --data")
        self.context = context_of(longest, asked.context)
        self.parts = [cut(part) for part in built_in_parts(PARTS)]
        if max(max(tokens, default=0) for tokens in self.parts) >= vocabulary:
            raise UsageError(
                "the tokenizer beside the model has more tokens than the model; they do not belong together"
            )
        self.documents = PARTS
        self.expected = sum(max(0, len(tokens) - 1) for tokens in self.parts)
        cut_after = f", of which the first {asked.limit:,} predicted tokens" if asked.limit else ""
        text = f"the built-in text ({TITLE}) in {PARTS} parts"
        self.described = f"{text}{cut_after}; {in_words(self.context)}"
        self.settings = {"data": TITLE, "parts": PARTS, "context": self.context}
        stands_in = Assumption(_STANDS_IN, "violated")
        self.standing = Standing("heuristic", (stands_in,), (), asked.tokens, tokens_alone=True)

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
        share = repeated / documents
        return Assumption(
            f"documents are independent of each other: {repeated:,} of {documents:,} ({share:.1%}) are the same as an "
            "earlier one",
            "violated",
        )
    return Assumption("documents are independent of each other (no two are the same)")


def _standing(asked: Asked, independent: Assumption, path: str) -> Standing:
    """All of a file: the training set itself, or a sample of a larger one of which the user says the size."""
    if asked.tokens is None and asked.documents is None:
        word = Assumption(f"the model was trained on the data in {path}, and on nothing else")
        return Standing("certified", (word,), (independent,))
    sizes = [f"{asked.tokens:,} tokens"] if asked.tokens is not None else []
    sizes += [f"{asked.documents:,} documents"] if asked.documents is not None else []
    word = Assumption(
        f"the data in {path} are a uniform random sample, drawn after training, of the {' in '.join(sizes)} that the "
        "model was trained on"
    )
    kind: Kind = "predicted"
    return Standing(kind, (word,), (independent,), asked.tokens, asked.documents)


def _of_sample(asked: Asked, independent: Assumption, documents: int, tokens: int | None) -> Standing:
    """A sample that was drawn here."""
    if asked.tokens is not None or asked.documents is not None:
        raise UsageError(
            "--sample draws from the file, which is then the whole training set; leave out --tokens and --documents"
        )
    drawn = Assumption(
        "the documents looked at are a uniform random sample of the file, drawn after training", "checked"
    )
    word = Assumption("the model was trained on the data of the file, and on nothing else")
    return Standing("certified", (word, drawn), (independent,), tokens, documents, drawn=True)
