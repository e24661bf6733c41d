"""The terms of a page, defined at its end: those of the glossary that its own words use."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from lengthwise.analyses.layout import PageLayout
from lengthwise.messages import explain, sentence
from lengthwise.records import Record

TERMS = (
    *("cell", "encoding", "holds", "kind", "ladder", "learned", "level", "Lipschitz constant", "reach", "risk", "seed"),
    *("window", "witness", "W1"),
)
explain(
    {
        "term.cell": "The runs of a study that differ only in their seed: one task with one encoding.",
        "term.encoding": "How a Transformer is told where a token is, such as `none`, `learned` or `rope`.",
        "term.holds": "A model holds at k times its training size when its reach is at least that.",
        "term.kind": "How a claim is known: proved by a theorem, certified by a checked computation, measured, "
        "predicted by a theory that was not checked here, or heuristic (a fitted or plausible statement).",
        "term.ladder": "A series of levels of increasing distance from training.",
        "term.learned": "A model has learned its task when exact match is at least 95 % at every size of its training "
        "range. One that has not learned says nothing about longer inputs.",
        "term.level": "A test distribution that moves one axis of a task away from training: deeper, wider, other "
        "values, or later positions.",
        "term.Lipschitz constant": "A number L such that outputs differ by at most L times the distance of the inputs.",
        "term.reach": "The largest size up to which exact match stays at or above 95 % at every size measured.",
        "term.risk": "The mean share of wrong answer tokens, given the true answer so far.",
        "term.seed": (
            "The number from which all randomness of a run follows: initial weights, training and test items."
        ),
        "term.window": "A stretch of neighbouring positions. A step is local when a window determines it; an attention "
        "rule with a window sees only tokens that are near, in a decoder the last few.",
        "term.witness": "Concrete inputs that show why something cannot work, for example two prefixes that a model "
        "cannot distinguish although different answers follow.",
        "term.W1": "The Wasserstein-1 distance of two samples: the smallest mean distance over all ways to match one "
        "with the other.",
    }
)
_USED = {term: re.compile(rf"\b{term if term == 'W1' else f'(?i:{term})'}(?:s|es)?\b") for term in TERMS}


def glossary(records: Iterable[Record], *texts: str) -> list[tuple[str, str]]:
    """Terms that records or other texts use, with their definitions, in the order of the alphabet."""
    said = "\n".join([*texts, *(text for record in records for text in _words(record))])
    return [(term, sentence(f"term.{term}")) for term in TERMS if _USED[term].search(said)]


def _words(record: Record) -> Iterator[str]:
    """What a section says in words, without the names that users gave."""
    layout = PageLayout.of(record)
    yield from (record.title, layout.link, *record.text, *layout.notes, *layout.not_learned, *layout.advice)
    yield from (text for table in record.tables for text in (table.title, table.note))
    yield from (claim.title for claim in record.claims)
