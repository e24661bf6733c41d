"""The one entry: a model, its data, and what is guaranteed."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch

from lengthwise.bounds.compression.message import decode
from lengthwise.bounds.tokens import problem as words
from lengthwise.bounds.tokens.formulas import count_bits
from lengthwise.bounds.tokens.losses import KS, TokenLosses
from lengthwise.bounds.tokens.make import bounds_for
from lengthwise.bounds.tokens.problem import TokenBound
from lengthwise.errors import Interrupted, UsageError
from lengthwise.interrupts import Stop
from lengthwise.messages import explain
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.held_out import HeldOutCheck, held_out_check
from lengthwise.probes.guarantee.losses import Stretch, losses_on, token_losses
from lengthwise.probes.guarantee.message import ChargedMessage, describe, describe_gguf
from lengthwise.probes.guarantee.result import Guarantee, MeanLosses
from lengthwise.probes.guarantee.source import (
    DataStanding,
    ItemSource,
    TokenSource,
    expected_tokens,
    limited,
    small_part,
    stretch_tokens,
)
from lengthwise.probes.guarantee.store import BoundFolder, digest_of
from lengthwise.probes.guarantee.texts import BuiltInSource, FileSource, Reader
from lengthwise.probes.probe import probes
from lengthwise.progress import Progress, silent
from lengthwise.records import Assumption
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.predictor import Predictor
from lengthwise.subjects.run import StoredRun
from lengthwise.subjects.subject import Subject
from lengthwise.version import __version__

TOLERANCE = 1e-3  # of logits in single precision, which change a little with the other rows of a batch
_TUNED_NAMES = ("instruct", "chat", "-it", "sft", "dpo")

explain(
    {
        "guarantee.certain_answers": (
            "the answers of this task follow from their prompts, so the average conditional risk on the "
            "contexts seen is the loss itself: token bounds say nothing new here, document bounds do"
        ),
        "guarantee.tuned": (
            "its name suggests that the model was tuned after pre-training: the bound treats the tuned "
            "weights as if they had been trained on the given number of tokens alone, and the tuning data are "
            "not among them"
        ),
        "guarantee.count_paid": "any number of documents and tokens is allowed: log2 n(n + 1) bits are paid for it",
        "guarantee.unequal_documents": (
            "the documents of the sample differ in length, so a uniform sample of them says nothing certain "
            "about tokens: only document bounds are computed"
        ),
        "guarantee.limited": "token bounds cover only the contexts of the first {tokens:,} tokens",
        "guarantee.last_document_cut": "every document is whole (but the last one was cut)",
    }
)
_PAID = Assumption("guarantee.count_paid", "checked")


def bound(
    model: str | Path | Any,
    settings: GuaranteeProbe | str = "guarantee",
    *,
    data: str | Path | None = None,
    folder: str | Path | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Guarantee:
    """What a model's own training data guarantee about it: its description in bits, its losses on the data, the bounds.

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
        losses = _read_losses(decoded, source, asked.limit, store, total, progress)
        _check_sizes(source, len(losses), len(losses.starts))
        # What is charged so that the bounds hold for every number of tokens, and so of documents, at once.
        count_price = int(np.ceil(count_bits(known.tokens or len(losses))))
        parts = {**described.parts, "number of tokens": count_price}
        charged = dataclasses.replace(described, bits=described.bits + count_price, parts=parts)
        progress("making the bounds", 0, 1)
        past = only_the_past(decoded, part)
        cut_short = asked.limit is not None and len(losses) == asked.limit
        bounds, notes = _judged_bounds(losses, charged.bits, source.standing, asked.delta, past, cut_short)
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
        raise UsageError(
            "held-out items are fresh ones from the run's own task, and this model has none; leave them out"
        )
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
    message, made, decoded = describe(predictor, asked, part, count, progress)
    store.write_description(made, message.data)
    return made, decoded


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


def _read_losses(
    predictor: Predictor, source: TokenSource, limit: int | None, store: BoundFolder, total: int, progress: Progress
) -> TokenLosses:
    """The losses of every token in reading order. Ctrl-C keeps every finished stretch. 56 bytes per token in memory."""
    found, done = [], 0
    with Stop() as stop:

        def reached(tokens: int) -> None:
            nonlocal done
            done += tokens
            progress("predicting", done, max(done, total))
            if stop.asked:
                finished = sum(len(statistics.surprise) for statistics in found)
                raise Interrupted(f"stopped after {finished:,} tokens; run the same command again to resume")

        for number, stretch in enumerate(limited(source.stretches(stretch_tokens(predictor)), limit)):
            stored = store.losses(number, stretch)
            if stored is not None:
                found.append(stored)
                reached(stretch.tokens)
                continue
            found.append(losses_on(predictor, stretch, reached))
            store.write_losses(number, stretch, found[-1])
    if stop.asked:
        signal.raise_signal(stop.asked)
    return token_losses(found, predictor.vocabulary)


# --- bounds, with what is known of the data in place of what the formulas must assume --------------------------------


def _judged_bounds(
    losses: TokenLosses, bits: float, standing: DataStanding, delta: float, past: Assumption, cut_short: bool = False
) -> tuple[tuple[TokenBound, ...], tuple[Assumption, ...]]:
    """The bounds, and what a reader should know of them. `past`: whether the model looks only at
    what came before; `cut_short`: the last document is not whole."""
    tokens, documents, notes = standing.tokens, standing.documents, []
    if standing.drawn and documents is not None and documents > len(losses.starts):
        lengths = np.diff(np.append(losses.starts, len(losses)))
        if lengths.min() < lengths.max():
            tokens, notes = None, [Assumption("guarantee.unequal_documents")]
    if standing.tokens_alone:  # every token stands for itself: the text is no sample of documents at all
        losses = dataclasses.replace(losses, documents=np.arange(len(losses)))
        documents = None
    if cut_short and standing.tokens is None:
        notes.append(Assumption("guarantee.limited", values={"tokens": len(losses)}))
    made = bounds_for(losses, bits, delta=delta, tokens=tokens, documents=documents)
    if standing.tokens_alone:
        made = tuple(one for one in made if one.level == "tokens")
    return tuple(_judged(one, standing, past, cut_short) for one in made), tuple(notes)


def _judged(one: TokenBound, standing: DataStanding, past: Assumption, cut_short: bool) -> TokenBound:
    known = {
        words.DECODED: [Assumption(words.DECODED, "checked")],
        words.PAST: [past],
        words.TRAINING: list(standing.of_data),
        words.INDEPENDENT: list(standing.of_documents),
        words.COUNT: [_PAID],
        words.FIXED_DOCUMENTS: [_PAID],
        words.AFTERWARDS: [] if standing.drawn or standing.tokens_alone else [Assumption(words.AFTERWARDS)],
    }
    found: list[Assumption] = []
    for assumption in one.risk.assumptions:
        sample = assumption.key in words.OF_SAMPLE and (standing.drawn or standing.tokens_alone)
        found += [] if sample else known.get(assumption.key, [assumption])
    if cut_short and one.level == "documents":
        found.append(Assumption("guarantee.last_document_cut", "violated"))
    violated = any(assumption.check == "violated" for assumption in found)
    kind = "heuristic" if violated else standing.kind
    return dataclasses.replace(one, risk=dataclasses.replace(one.risk, kind=kind, assumptions=tuple(found)))


@torch.no_grad()
def only_the_past(predictor: Predictor, part: Stretch, rows: int = 4) -> Assumption:
    """Whether a model looks ahead: some rows of the data are read twice, the second time with their later halves
    reversed, which must not change what it predicts before them."""
    widest = max(part.rows, key=lambda some: some.batch.inputs.shape[1]).batch
    inputs = widest.inputs[:rows]
    half = (inputs.shape[1] + 1) // 2
    if half == inputs.shape[1]:
        return Assumption(words.PAST)  # rows of one token cannot tell
    others = np.concatenate([inputs[:, :half], inputs[:, :half:-1], inputs[:, half : half + 1]], axis=1)
    others[:, half:] = np.where(others[:, half:] == inputs[:, half:], others[:, :1], others[:, half:])
    asked = torch.zeros(inputs.shape, dtype=torch.bool)
    asked[:, half - 1] = True
    first, second = (predictor.logits(predictor.states(torch.from_numpy(read), asked)) for read in (inputs, others))
    same = float((first - second).abs().max()) <= TOLERANCE * max(1.0, float(first.abs().max()))
    return Assumption(words.PAST, "checked" if same else "violated")
