"""The tokens of trained weights compared with those of random weights of the same shape, and with γ(t), the curve of
the particle system itself. docs/explanation/geometry.md has the rule for verdicts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from lengthwise.figures.plots import line_figure
from lengthwise.geometry.clusters import rank_cap
from lengthwise.geometry.particles.equal_angles import distance
from lengthwise.models.parts import Anatomy
from lengthwise.probes.geometry.layerwise import Change, in_single_precision, random_blocks, random_outside
from lengthwise.probes.geometry.token_measures import (
    BETA,
    KAPPA,
    Floats,
    TokenMeasures,
    doubling_lengths,
    measure_tokens,
)
from lengthwise.probes.geometry.verdicts import (
    RANDOM,
    TRAINED,
    contraction,
    geometry_claims,
    interval_of_mean,
    verdict,
)
from lengthwise.records import Cell, Column, Figure, Table

_AFTER, _LENGTH = Column("after", "text"), Column("length", "whole")


@dataclass(frozen=True, eq=False)
class ComparedTokens:
    """The measures of trained and of random weights on the same sequences, and 1 − γ(t) for each place."""

    trained: TokenMeasures
    random: TokenMeasures
    reference: Floats  # [places]

    @property
    def longest(self) -> int:
        return self.trained.lengths[-1]


def compare(anatomy: Anatomy, tokens: Tensor, seed: int = 0, single: bool = False) -> ComparedTokens:
    """All measures; with `single`, blocks compute in float32, which moves inner products by about 1e-6."""
    lengths = doubling_lengths(tokens.shape[1])
    as_they_are: Change | None = in_single_precision if single else None
    trained = measure_tokens(anatomy, tokens, lengths, as_they_are, longest=True)
    draw = random_blocks(seed)
    drawn: Change = (lambda n, block: draw(n, in_single_precision(n, block))) if single else draw
    random = measure_tokens(random_outside(anatomy, seed), tokens, lengths, drawn)
    start = 1 - float(trained.spread[:, 0, -1].mean())
    n = lengths[-1] - 1
    start = min(max(start, -1 / (n - 1)), 1 - 1e-9)  # where n points can have one inner product for all pairs
    return ComparedTokens(trained, random, distance("SA", n, BETA, np.arange(len(trained.places)), start))


def geometry_content(found: ComparedTokens, described: str, single: bool) -> dict[str, Any]:
    """Text, claims, tables and figures of the record."""
    text = (
        f"Shown: {described}, as prefixes of {found.trained.lengths[0]} to {found.longest} tokens. Points are the "
        "directions of the hidden states; the first token is left out unless said otherwise.",
        "Spread: 1 − the mean inner product of two tokens; 0 is one point, 1 unrelated. N: the number of groups of "
        f"similar tokens, N_{KAPPA:g}. Random: weights of the same shape and size that were never trained. 1 − γ(t): "
        "tokens that attract each other, a block being one unit of time; a reference, not a prediction.",
        *(("Because the model is large, blocks were computed in float32.",) if single else ()),
    )
    return {
        "text": text,
        "claims": tuple(geometry_claims(found.trained, found.random)),
        "tables": (
            _by_length(found),
            _by_block(found),
            _all_measures("trained", TRAINED, found.trained),
            _all_measures("random", RANDOM, found.random),
            _angles(found),
        ),
        "figures": _figures(found),
    }


# --- tables and figures ---------------------------------------------------------------------------------------------


def _table(
    key: str, title: str, note: str, columns: Mapping[Column, Sequence[Cell] | Floats], detail: bool = False
) -> Table:
    """A table from its columns, each with its values from top to bottom."""
    values = [one.tolist() if isinstance(one, np.ndarray) else one for one in columns.values()]
    return Table(f"geometry.{key}", tuple(columns), tuple(zip(*values, strict=True)), title, note, detail)


def _mean(values: Floats) -> Floats:
    return values.mean(axis=0)


def _by_length(found: ComparedTokens) -> Table:
    trained, changes = found.trained, contraction(found.trained)
    spread, number = _mean(trained.spread), _mean(trained.number)
    intervals = [interval_of_mean(change) for change in changes.T]
    note = "doublings: log2 of last / first spread, mean over sequences with its 95 % interval; random: the same there"
    columns = {
        _LENGTH: trained.lengths,
        Column("verdict", "text"): [
            str(verdict(trained, length, TRAINED).value or "undecided") for length in trained.lengths
        ],
        Column("spread_first"): spread[0],
        Column("spread_last", title="last"): spread[-1],
        Column("doublings"): _mean(changes),
        Column("low"): [None if one is None else one.low for one in intervals],
        Column("high"): [None if one is None else one.high for one in intervals],
        Column("random"): _mean(contraction(found.random)),
        Column("number_first", title="N first"): number[0],
        Column("number_last", title="last"): number[-1],
    }
    return _table("by_length", "By length", note, columns)


def _by_block(found: ComparedTokens) -> Table:
    trained, random = found.trained, found.random
    assert trained.longest is not None
    columns = {
        _AFTER: trained.places,
        Column("spread"): _mean(trained.spread)[:, -1],
        Column("random_spread", title="random"): _mean(random.spread)[:, -1],
        Column("reference", title="1 − γ(t)"): found.reference,
        Column("number", title="N"): _mean(trained.number)[:, -1],
        Column("random_number", title="random"): _mean(random.number)[:, -1],
        Column("groups"): _mean(trained.groups)[:, -1],
        Column("rank"): _mean(trained.longest.rank),
        Column("centred"): _mean(trained.longest.centred_rank),
    }
    cap = rank_cap(found.longest - 1, trained.width)
    note = f"means over sequences; groups: components above 0.95; rank: effective rank, raw and centred, at most {cap}"
    return _table("by_block", f"By block at length {found.longest}", note, columns)


def _all_measures(key: str, name: str, measures: TokenMeasures) -> Table:
    """One row per place and length."""
    places, lengths = measures.places, measures.lengths
    columns = {
        _AFTER: [place for place in places for _ in lengths],
        _LENGTH: lengths * len(places),
        Column("spread"): _mean(measures.spread).ravel(),
        Column("spread_with_first", title="with first"): _mean(measures.spread_with_first).ravel(),
        Column("number", title="N"): _mean(measures.number).ravel(),
        Column("number_with_first", title="with first"): _mean(measures.number_with_first).ravel(),
        Column("groups"): _mean(measures.groups).ravel(),
        Column("ratio", title="participation ratio"): _mean(measures.ratio).ravel(),
    }
    note = "without the first token, except where it says with first; means over sequences"
    return _table(f"all_{key}", f"All measures, {name}", note, columns, detail=True)


def _angles(found: ComparedTokens) -> Table:
    longest = found.trained.longest
    assert longest is not None
    low, middle, high = _mean(longest.quantiles).T
    columns = {
        _AFTER: found.trained.places,
        Column("low", title="5 %"): low,
        Column("middle", title="50 %"): middle,
        Column("high", title="95 %"): high,
        Column("margin_low", title="margin from"): longest.margin[:, 0],
        Column("margin_high", title="to"): longest.margin[:, 1],
        Column("energy", title=f"energy at {BETA:g}"): _mean(longest.energy),
    }
    note = (
        "trained weights, without the first token. 5 %, 50 %, 95 %: quantiles of the inner products of tokens, means "
        "over sequences. Margin: bounds for the first sequence; above 0, an open hemisphere contains all of it; where "
        "the upper bound is 0 none does, and the lower bound says nothing"
    )
    return _table("angles", f"Angles, margin and energy at length {found.longest}", note, columns, detail=True)


def _figures(found: ComparedTokens) -> tuple[Figure, ...]:
    trained, random = found.trained, found.random
    series = {
        "trained": _mean(trained.spread)[:, -1],
        "random": _mean(random.spread)[:, -1],
        "1 − γ(t), a reference": found.reference,
    }
    lengths = {f"{length} tokens": _mean(trained.spread)[:, at] for at, length in enumerate(trained.lengths)}
    numbers = {"trained": _mean(trained.number)[:, -1], "random": _mean(random.number)[:, -1]}
    ends = series["trained"]
    words = f"The spread of {found.longest} tokens is {ends[0]:.2g} at the embedding and {ends[-1]:.2g} at the end."
    of = f"{found.longest} tokens"
    return (
        _lines("spread", f"Spread by block, {of}", words, "spread", series),
        _lines("spread_by_length", "Spread by block for each length", "One line per length.", "spread", lengths),
        _lines("number", f"N by block, {of}", "The number of groups of similar tokens.", f"N_{KAPPA:g}", numbers),
    )


def _lines(key: str, title: str, words: str, y: str, series: dict[str, Floats]) -> Figure:
    points = {name: list(enumerate(map(float, values))) for name, values in series.items()}
    return line_figure(f"geometry.{key}", title, words, ("blocks passed", y), points)
