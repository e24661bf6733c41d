"""Bounds of the losses at hand, with what is known here of the data in the place of what the formulas must assume."""

from __future__ import annotations

import dataclasses

import numpy as np

from lengthwise.bounds.tokens import assumptions as words
from lengthwise.bounds.tokens.formulas import count_bits
from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.bounds.tokens.make import bounds_for
from lengthwise.bounds.tokens.problem import TokenBound
from lengthwise.guarantees.source import Standing
from lengthwise.records import Assumption

NUMBER = "number of tokens"
_PAID = Assumption("any number of documents and tokens is allowed: log2 n(n + 1) bits are paid for it", "checked")
_UNEQUAL = (
    "the documents of the sample differ in length, so a uniform sample of them says nothing sure of tokens: only "
    "bounds of documents are made"
)
_CUT_SHORT = "bounds of tokens speak of the contexts of the first {:,} tokens, which --limit left to be looked at"


def bits_for_count(losses: TokenLosses, standing: Standing) -> int:
    """What is charged so that the bounds hold for every number of tokens, and so of documents, at once."""
    return int(np.ceil(count_bits(standing.tokens or len(losses))))


def judged_bounds(
    losses: TokenLosses, bits: float, standing: Standing, delta: float, past: Assumption, cut_short: bool = False
) -> tuple[tuple[TokenBound, ...], tuple[str, ...]]:
    """The bounds, and what a reader should know of them. `past`: whether the model looks only at
    what came before; `cut_short`: the last document is not whole."""
    tokens, documents, notes = standing.tokens, standing.documents, []
    if standing.drawn and documents is not None and documents > len(losses.starts):
        lengths = np.diff(np.append(losses.starts, len(losses)))
        if lengths.min() < lengths.max():
            tokens, notes = None, [_UNEQUAL]
    if standing.tokens_alone:  # every token stands for itself: the text is no sample of documents at all
        losses = dataclasses.replace(losses, documents=np.arange(len(losses)))
        documents = None
    if cut_short and standing.tokens is None:
        notes.append(_CUT_SHORT.format(len(losses)))
    made = bounds_for(losses, bits, delta=delta, tokens=tokens, documents=documents)
    if standing.tokens_alone:
        made = tuple(one for one in made if one.level == "tokens")
    return tuple(_judged(one, standing, past, cut_short) for one in made), tuple(notes)


def _judged(one: TokenBound, standing: Standing, past: Assumption, cut_short: bool) -> TokenBound:
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
        found.append(Assumption("every document is whole: the last one was cut", "violated"))
    violated = any(assumption.check == "violated" for assumption in found)
    kind = "heuristic" if violated else standing.kind
    return dataclasses.replace(one, risk=dataclasses.replace(one.risk, kind=kind, assumptions=tuple(found)))
