"""The one entry: a model, its data, and what is guaranteed."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from pathlib import Path
from typing import get_args

import numpy as np

from lengthwise.bounds.compression.message import decode
from lengthwise.bounds.compression.quantisers import quantisers
from lengthwise.bounds.tokens.losses import KS, TokenLosses
from lengthwise.bounds.tokens.problem import Level
from lengthwise.errors import UsageError
from lengthwise.guarantees.description import Aim, Description, describe
from lengthwise.guarantees.gguf_message import describe_gguf
from lengthwise.guarantees.guarantee import Guarantee, Losses
from lengthwise.guarantees.held_out import Check, held_out_check
from lengthwise.guarantees.item_source import ItemSource
from lengthwise.guarantees.judged import NUMBER, bits_for_count, judged_bounds
from lengthwise.guarantees.listener import Listener
from lengthwise.guarantees.past import only_the_past
from lengthwise.guarantees.reading import expected_tokens, read_losses, small_part, stretch_tokens
from lengthwise.guarantees.source import Source
from lengthwise.guarantees.store import Store, digest_of
from lengthwise.guarantees.stretch import Stretch
from lengthwise.guarantees.subject import Subject, open_subject
from lengthwise.guarantees.text_source import Asked, BuiltInSource, FileSource
from lengthwise.runs.environment import threads
from lengthwise.version import __version__

CERTAIN = (
    "the answers of this task follow from their prompts, so the average conditional risk on the contexts seen is the "
    "loss itself: the bounds of tokens say nothing new here, those of documents do"
)

TUNED = (
    "its name says that the model was tuned after pre-training: the bound takes the tuned weights for ones trained on "
    "--tokens alone, and the data of tuning are not among them"
)
_TUNED_NAMES = ("instruct", "chat", "-it", "sft", "dpo")


def bound(
    model: str | Path,
    *,
    data: str | Path | None = None,
    tokens: int | None = None,
    documents: int | None = None,
    quantiser: str | None = None,
    aim: Level = "tokens",
    delta: float = 0.05,
    sample: int | None = None,
    limit: int | None = None,
    context: int | None = None,
    held_out: int | None = None,
    folder: str | Path | None = None,
    seed: int = 0,
    listener: Listener | None = None,
) -> Guarantee:
    """What a model's own training data guarantee of it: its description in bits, its losses on the data, the bounds.

    `model` is a run of ours, a folder of the Hugging Face Hub or a GGUF file. `data` is a JSONL file ({"text": …} or
    {"tokens": […]} a line) or a plain text with a document a line; a run has its own training items, and another model
    without data is shown the built-in text. `tokens` and `documents` are the size of the training set of which the
    data are a sample. `sample` documents (items) are drawn by `seed`; `limit` predicted tokens are read; `context` is
    the length of a window; `aim` says for which bounds the quantiser is chosen; `held_out` fresh items are measured
    beside the bounds of a run. What is finished is kept in `folder`, and the same call goes on from there.

    >>> lw.bound("runs/prose-rope-s0-1234abcd").best("loss", "documents")        # doctest: +SKIP
    """
    listener = listener or Listener()
    asked = Asked(tokens, documents, sample, limit, context, seed)
    _check(asked, delta, held_out, quantiser)
    if aim not in get_args(Level):
        raise UsageError(f"the quantiser is chosen for the bounds of tokens or of documents, not of {aim!r}")
    listener.said("reading the model")
    subject = open_subject(model)
    _check_for(subject, data, held_out)
    with threads(1) if subject.run is not None else contextlib.nullcontext():
        listener.said("reading the data")
        source = _source(subject, data, asked)
        part = small_part(source, subject.predictor, limit)
        _check_sizes(source, part.tokens, 1)
        store = _store(subject, source, part, quantiser, aim, asked, folder)
        total = expected_tokens(source, part, limit)
        known = source.standing
        count = known.tokens or total if aim == "tokens" else known.documents or source.documents
        described = _described(subject, quantiser, part, Aim(aim, count, delta), store, listener)
        listener.said(f"predicting about {total:,} tokens")
        losses = read_losses(subject.predictor, source, limit, store, total, listener)
        _check_sizes(source, len(losses), len(losses.starts))
        charged = _charged(described, bits_for_count(losses, source.standing))
        listener.said("making the bounds")
        past = only_the_past(subject.predictor, part)
        cut_short = limit is not None and len(losses) == limit
        bounds, notes = judged_bounds(losses, charged.bits, source.standing, delta, past, cut_short)
        check = Check((), ())
        if held_out is not None and subject.run is not None:
            listener.said(f"measuring {held_out:,} fresh items")
            check = held_out_check(subject.run, subject.predictor, bounds, held_out, seed)
    if subject.run is not None and getattr(subject.run.plan.task, "certain", True):
        notes = (*notes, CERTAIN)
    if tokens is not None and any(word in subject.name.lower() for word in _TUNED_NAMES):
        notes = (*notes, TUNED)
    found = Guarantee(
        model=subject.name,
        described=subject.described,
        vocabulary=losses.vocabulary,
        data=source.described,
        description=charged,
        losses=_means(losses),
        bounds=bounds,
        delta=delta,
        folder=store.folder,
        notes=(*charged.notes, *notes),
        measured=check.claims,
        plain_loss=check.plain,
        broken=check.broken,
    )
    store.write_bound(found.plain())
    return found


def _check(asked: Asked, delta: float, held_out: int | None, quantiser: str | None) -> None:
    if quantiser is not None:
        quantisers.make(quantiser)
    if not 0 < delta < 1:
        raise UsageError(f"delta is a probability between 0 and 1, as 0.05, not {delta}")
    for name in ("tokens", "documents", "sample", "limit", "context"):
        value = getattr(asked, name)
        if value is not None and value < 1:
            raise UsageError(f"--{name} is at least 1, not {value}")
    if held_out is not None and held_out < 2:
        raise UsageError(f"--held-out is at least 2 items, as their spread is measured, not {held_out}")
    if asked.sample is not None and asked.limit is not None:
        raise UsageError("--limit would cut the --sample short; give one of them")


def _check_for(subject: Subject, data: str | Path | None, held_out: int | None) -> None:
    if subject.run is not None and data is not None:
        raise UsageError("the data of a run are its own training items; leave out --data")
    if subject.run is None and held_out is not None:
        raise UsageError("--held-out draws fresh items of a run's own task, and this model has none; leave it out")


def _source(subject: Subject, data: str | Path | None, asked: Asked) -> Source:
    if subject.run is not None:
        return ItemSource(subject.run, asked)
    predictor = subject.predictor
    if data is None:
        return BuiltInSource(subject.cutter(), predictor.vocabulary, predictor.longest, asked)
    path = Path(data)
    if not path.is_file():
        raise UsageError(f"there is no file {path}; --data takes a JSONL file or a plain text, a document a line")
    return FileSource(path, subject.cutter(), predictor.vocabulary, predictor.longest, asked)


def _store(
    subject: Subject,
    source: Source,
    part: Stretch,
    quantiser: str | None,
    aim: Level,
    asked: Asked,
    folder: str | Path | None,
) -> Store:
    request = {
        "lengthwise": __version__,
        "model": subject.digest,
        **source.settings,
        "first tokens": part.digest(),  # what a tokenizer, or the code of a task, made of the data
        "quantiser": quantiser,
        **({"aim": aim} if quantiser is None and aim != "tokens" else {}),
        "limit": asked.limit,
        "stretch": stretch_tokens(subject.predictor),
    }
    slug = re.sub(r"[^A-Za-z0-9_.=+-]+", "-", subject.name).strip("-")[:60] or "model"
    return Store(Path(folder) if folder else Path("bounds") / f"{slug}-{digest_of(request)}", request)


def _described(
    subject: Subject,
    quantiser: str | None,
    part: Stretch,
    aim: Aim,
    store: Store,
    listener: Listener,
) -> Description:
    """The description, and the model left with the weights that its message decodes to."""
    predictor = subject.predictor
    if subject.gguf is not None and quantiser is None:
        listener.said("coding the file")
        made = describe_gguf(subject.gguf, predictor, part)
        store.write_description(made, None)
        return made
    if (stored := store.description()) is not None:
        described, message = stored
        predictor.fill(decode(message)[1])
        return described
    listener.said("writing the model down")
    message, made = describe(predictor, quantiser, part, aim, listener)
    store.write_description(made, message.data)
    return made


def _charged(described: Description, count: int) -> Description:
    """With the bits that let the bounds hold for every number of tokens."""
    parts = {**described.parts, NUMBER: count}
    return dataclasses.replace(described, bits=described.bits + count, parts=parts)


def _check_sizes(source: Source, tokens: int, documents: int) -> None:
    """A sample is no larger than what it is a sample of."""
    standing = source.standing
    for name, said, here in (
        ("tokens", standing.tokens, tokens),
        ("documents", standing.documents, documents),
    ):
        if said is not None and said < here:
            raise UsageError(f"--{name} {said:,} is smaller than the data, which hold {here:,} {name} or more")


def _means(losses: TokenLosses) -> Losses:
    errors = tuple((k, float(losses.errors(k).mean())) for k in KS if k < losses.vocabulary)
    mean = float(np.mean(losses.surprise)), float(np.mean(losses.entropy))
    return Losses(len(losses), len(losses.starts), *mean, errors)
