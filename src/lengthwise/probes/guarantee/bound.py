"""The one entry: a model, its data, and what is guaranteed."""

from __future__ import annotations

import contextlib
import dataclasses
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lengthwise.bounds.compression.message import decode
from lengthwise.bounds.tokens.losses import KS, TokenLosses
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.held_out import HeldOutCheck, held_out_check
from lengthwise.probes.guarantee.item_source import ItemSource
from lengthwise.probes.guarantee.judged import NUMBER, bits_for_count, judged_bounds, only_the_past
from lengthwise.probes.guarantee.losses import Stretch
from lengthwise.probes.guarantee.message import BoundAim, ChargedMessage, describe, describe_gguf
from lengthwise.probes.guarantee.reading import expected_tokens, read_losses, small_part, stretch_tokens
from lengthwise.probes.guarantee.result import Guarantee, MeanLosses
from lengthwise.probes.guarantee.source import TokenSource
from lengthwise.probes.guarantee.store import BoundFolder, digest_of
from lengthwise.probes.guarantee.text_source import BuiltInSource, FileSource, Reader
from lengthwise.probes.probe import probes
from lengthwise.progress import Progress, silent
from lengthwise.records import Assumption
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.predictor import Predictor
from lengthwise.subjects.run import StoredRun
from lengthwise.subjects.subject import Subject
from lengthwise.version import __version__

_TUNED_NAMES = ("instruct", "chat", "-it", "sft", "dpo")

explain(
    {
        "guarantee.certain_answers": "the answers of this task follow from their prompts, so the average conditional "
        "risk on the contexts seen is the loss itself: the bounds of tokens say nothing new here, those of documents "
        "do",
        "guarantee.tuned": "its name says that the model was tuned after pre-training: the bound treats the tuned "
        "weights as if they were trained on the given number of tokens alone, and the data of tuning are not among "
        "them",
    }
)


def bound(
    model: str | Path | Any,
    settings: GuaranteeProbe | str = "guarantee",
    *,
    data: str | Path | None = None,
    folder: str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Guarantee:
    """What a model's own training data guarantee of it: its description in bits, its losses on the data, the bounds.

    `model` is a run of ours, a folder of the Hugging Face Hub, a GGUF file or an open subject; `settings` are those of
    the probe `guarantee`, as an object or as a spec. `data` is a JSONL file (one {"text": …} or {"tokens": […]} per
    line) or a plain text with one document per line; a run has its own training items, and another model without data
    is shown the built-in text. Finished work is kept in `folder`: make the same call again to resume.

    >>> lw.bound("runs/prose-rope-s0-1234abcd", "guarantee:sample=1000").best("loss", "documents")    # doctest: +SKIP
    """
    asked = settings if isinstance(settings, GuaranteeProbe) else probes.make(settings)
    if not isinstance(asked, GuaranteeProbe):
        raise UsageError(f"a bound is made with the settings of the probe guarantee, not with {settings!r}")
    progress("reading the model", 0, 1)
    subject = model if isinstance(model, Subject) else open_subject(model)
    run = _run(subject, data, asked)
    predictor: Predictor = subject.capability("predictor")
    if not predictor.causal:
        raise UsageError(f"a bound needs a model that sees only what came before, and {subject.name} is an encoder")
    with _one_thread() if run is not None else contextlib.nullcontext():
        progress("reading the data", 0, 1)
        source = _source(subject, run, data, asked, seed)
        part = small_part(source, predictor, asked.limit)
        _check_sizes(source, part.tokens, 1)
        store = _store(subject, source, part, asked, folder)
        total = expected_tokens(source, part, asked.limit)
        known = source.standing
        count = known.tokens or total if asked.aim == "tokens" else known.documents or source.documents
        described, decoded = _described(subject, asked, part, count, store, progress)
        progress("predicting", 0, total)
        losses = read_losses(decoded, source, asked.limit, store, total, progress)
        _check_sizes(source, len(losses), len(losses.starts))
        charged = _charged(described, bits_for_count(losses, source.standing))
        progress("making the bounds", 0, 1)
        past = only_the_past(decoded, part)
        cut_short = asked.limit is not None and len(losses) == asked.limit
        bounds, notes = judged_bounds(losses, charged.bits, source.standing, asked.delta, past, cut_short)
        check = HeldOutCheck((), ())
        if asked.held_out is not None and run is not None:
            progress("measuring fresh items", 0, asked.held_out)
            check = held_out_check(run, decoded, bounds, asked.held_out, seed)
    if run is not None and run.task.certain:
        notes = (*notes, Assumption("guarantee.certain_answers"))
    if asked.tokens is not None and any(word in subject.name.lower() for word in _TUNED_NAMES):
        notes = (*notes, Assumption("guarantee.tuned"))
    found = Guarantee(
        model=subject.name,
        described=_what(subject, predictor),
        vocabulary=losses.vocabulary,
        data=source.described,
        message=charged,
        losses=_means(losses),
        bounds=bounds,
        delta=asked.delta,
        folder=store.folder,
        notes=(*charged.notes, *notes),
        measured=check.claims,
        plain_loss=check.plain,
        broken=check.broken,
    )
    store.write_bound(found.plain())
    return found


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Small models are faster on one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def _run(subject: Subject, data: str | Path | None, asked: GuaranteeProbe) -> StoredRun | None:
    if subject.offers("transformer") and not subject.offers("run"):
        raise UsageError(f"{subject.name} is a model of lengthwise without a record, so its training items are unknown")
    run = subject.capability("run") if subject.offers("run") else None
    if run is not None and data is not None:
        raise UsageError("the data of a run are its own training items; leave out other data")
    if run is None and asked.held_out is not None:
        raise UsageError("held-out items are fresh items of a run's own task, and this model has none; leave them out")
    return run


def _what(subject: Subject, predictor: Predictor) -> str:
    """The model in a few words."""
    count = sum(tensor.size for tensor in predictor.tensors().values())
    facts = dict(subject.facts) if subject.offers("run") else {}
    if facts:
        return f"run of {facts['trained']}, positions {facts['positions']}, {count:,} numbers"
    kind = getattr(getattr(predictor.network, "config", None), "model_type", "model")
    return f"{kind} from a {getattr(subject, 'source', 'Python object')}, {predictor.parameters:,} weights"


def _source(
    subject: Subject, run: StoredRun | None, data: str | Path | None, asked: GuaranteeProbe, seed: int
) -> TokenSource:
    if run is not None:
        return ItemSource(run, asked, seed)
    predictor: Predictor = subject.capability("predictor")
    cut = subject.capability("tokenizer").cut if subject.offers("tokenizer") else None
    reader = Reader(cut, predictor.vocabulary, predictor.longest)
    if data is None:
        return BuiltInSource(reader, asked)
    path = Path(data)
    if not path.is_file():
        raise UsageError(f"there is no file {path}; data are a JSONL file or a plain text, one document per line")
    return FileSource(path, reader, asked, seed)


def _store(
    subject: Subject, source: TokenSource, part: Stretch, asked: GuaranteeProbe, folder: str | Path | None
) -> BoundFolder:
    predictor: Predictor = subject.capability("predictor")
    file = subject.files() if subject.offers("gguf") else {}
    request = {
        "lengthwise": __version__,
        "model": " ".join([*file.values(), predictor.digest()]),
        **source.settings,
        "first tokens": part.digest(),  # what a tokenizer, or the code of a task, made of the data
        "quantiser": asked.quantiser,
        **({"aim": asked.aim} if not asked.quantiser and asked.aim != "tokens" else {}),
        "limit": asked.limit,
        "stretch": stretch_tokens(predictor),
    }
    slug = re.sub(r"[^A-Za-z0-9_.=+-]+", "-", subject.name).strip("-")[:60] or "model"
    return BoundFolder(Path(folder) if folder else Path("bounds") / f"{slug}-{digest_of(request)}", request)


def _described(
    subject: Subject, asked: GuaranteeProbe, part: Stretch, count: int, store: BoundFolder, progress: Progress
) -> tuple[ChargedMessage, Predictor]:
    """What is charged, and the model with the weights that its message decodes to."""
    predictor: Predictor = subject.capability("predictor")
    if subject.offers("gguf") and not asked.quantiser:
        progress("coding the file", 0, 1)
        made = describe_gguf(subject.capability("gguf"), predictor, part)
        store.write_description(made, None)
        return made, predictor
    if (stored := store.description()) is not None:
        described, message = stored
        return described, predictor.with_weights(decode(message)[1])
    message, made, decoded = describe(
        predictor, asked.quantiser, part, BoundAim(asked.aim, count, asked.delta), progress
    )
    store.write_description(made, message.data)
    return made, decoded


def _charged(described: ChargedMessage, count: int) -> ChargedMessage:
    """With the bits that let the bounds hold for every number of tokens."""
    parts = {**described.parts, NUMBER: count}
    return dataclasses.replace(described, bits=described.bits + count, parts=parts)


def _check_sizes(source: TokenSource, tokens: int, documents: int) -> None:
    """A sample is no larger than what it is a sample of."""
    standing = source.standing
    for name, said, here in (("tokens", standing.tokens, tokens), ("documents", standing.documents, documents)):
        if said is not None and said < here:
            raise UsageError(f"a training set of {said:,} {name} is smaller than the data, which hold {here:,} or more")


def _means(losses: TokenLosses) -> MeanLosses:
    errors = tuple((k, float(losses.errors(k).mean())) for k in KS if k < losses.vocabulary)
    mean = float(np.mean(losses.surprise)), float(np.mean(losses.entropy))
    return MeanLosses(len(losses), len(losses.starts), *mean, errors)
