"""Bounds of given losses, with what is known of the data in place of what the formulas must assume."""

from __future__ import annotations

import dataclasses

import numpy as np
import torch

from lengthwise.bounds.tokens import problem as words
from lengthwise.bounds.tokens.formulas import count_bits
from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.bounds.tokens.make import bounds_for
from lengthwise.bounds.tokens.problem import TokenBound
from lengthwise.messages import explain
from lengthwise.probes.guarantee.losses import Stretch
from lengthwise.probes.guarantee.source import DataStanding
from lengthwise.records import Assumption
from lengthwise.subjects.predictor import Predictor

TOLERANCE = 1e-3  # of logits in single precision, which change a little with the other rows of a batch
NUMBER = "number of tokens"
explain(
    {
        "guarantee.count_paid": "any number of documents and tokens is allowed: log2 n(n + 1) bits are paid for it",
        "guarantee.unequal_documents": "the documents of the sample differ in length, so a uniform sample of them "
        "says nothing certain about tokens: only bounds of documents are made",
        "guarantee.limited": "bounds of tokens are about the contexts of the first {tokens:,} tokens, to which they "
        "were limited",
        "guarantee.last_document_cut": "every document is whole: the last one was cut",
    }
)
_PAID = Assumption("guarantee.count_paid", "checked")


def bits_for_count(losses: TokenLosses, standing: DataStanding) -> int:
    """What is charged so that the bounds hold for every number of tokens, and so of documents, at once."""
    return int(np.ceil(count_bits(standing.tokens or len(losses))))


def judged_bounds(
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
