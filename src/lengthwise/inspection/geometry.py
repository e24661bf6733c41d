"""The section `geometry`: do tokens draw together from block to block, and does it get worse with length?

The measures of the trained weights stand beside those of random weights of the same shape and beside γ(t), the particle
system's own curve. docs/geometry.md has the rule for verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters import rank_cap
from lengthwise.geometry.particles.equal_angles import distance
from lengthwise.inspection.content import Picture, Section, Table
from lengthwise.inspection.geometry_claims import WHOSE, geometry_claims
from lengthwise.inspection.layerwise import Change, in_single_precision, random_blocks, random_outside
from lengthwise.inspection.sections import LARGE, Look, section
from lengthwise.inspection.token_measures import BETA, KAPPA, Floats, TokenMeasures, doubling_lengths, measure_tokens
from lengthwise.inspection.verdicts import contraction, interval_of_mean, verdict

LONGEST = 1024
SEQUENCES_OF_A_LARGE_MODEL, SEQUENCES_OF_A_SMALL_ONE = 4, 8
FEWEST_TOKENS = 4  # without the first there must be pairs


@dataclass(frozen=True, eq=False)
class Compared:
    """The measures of trained and of random weights on the same sequences, and 1 − γ(t) for each place."""

    trained: TokenMeasures
    random: TokenMeasures
    reference: Floats  # [places]

    @property
    def longest(self) -> int:
        return self.trained.lengths[-1]


@section("geometry")
def geometry(look: Look) -> Section:
    """Spread, clusters and ranks of the tokens by block and by length."""
    large = look.anatomy.parameters > LARGE
    items = SEQUENCES_OF_A_LARGE_MODEL if large else SEQUENCES_OF_A_SMALL_ONE
    inputs = look.inputs if look.longer is None else look.longer(items, LONGEST)
    if inputs.tokens.shape[1] < FEWEST_TOKENS:
        raise UsageError(f"the inputs have {inputs.tokens.shape[1]} tokens each, and {FEWEST_TOKENS} are needed")
    found = compare(look, inputs.tokens, single=large)
    return Section(
        "geometry",
        "Geometry of tokens",
        _text(found, inputs.described, large),
        tuple(geometry_claims(found.trained, found.random)),
        (_by_length(found), _by_block(found)),
        (*_details(found), _angles(found)),
        _pictures(found),
    )


def compare(look: Look, tokens: Tensor, single: bool) -> Compared:
    """All measures; with `single`, blocks compute in float32, which moves inner products by about 1e-6."""
    lengths = doubling_lengths(tokens.shape[1])
    as_they_are: Change | None = in_single_precision if single else None
    trained = measure_tokens(look.anatomy, tokens, lengths, as_they_are, longest=True)
    draw = random_blocks(look.seed)
    drawn: Change = (lambda n, block: draw(n, in_single_precision(n, block))) if single else draw
    random = measure_tokens(random_outside(look.anatomy, look.seed), tokens, lengths, drawn)
    start = 1 - float(trained.spread[:, 0, -1].mean())
    n = lengths[-1] - 1
    start = min(max(start, -1 / (n - 1)), 1 - 1e-9)  # where n points can have one inner product for all pairs
    return Compared(trained, random, distance("SA", n, BETA, np.arange(len(trained.places)), start))


def _text(found: Compared, described: str, single: bool) -> tuple[str, ...]:
    kinds = [found.trained.lengths[0], found.longest]
    return (
        f"Shown: {described}. Prefixes of {kinds[0]} to {kinds[1]} tokens of them. Points are the directions of the "
        "hidden states; the first token is left out unless said otherwise.",
        "Spread: 1 − the mean inner product of two tokens; 0 is one point, 1 unrelated. N: how many groups of like "
        f"tokens, N_{KAPPA:g}. Random: weights of the same shape and size that were never trained. 1 − γ(t): tokens "
        "that attract each other, a block being one unit of time; a reference, not a prediction.",
        *(("As the model is large, blocks computed in float32.",) if single else ()),
    )


# --- tables and pictures --------------------------------------------------------------------------------------------


def _mean(values: Floats) -> Floats:
    return values.mean(axis=0)


def _by_length(found: Compared) -> Table:
    trained, rows = found.trained, []
    for at, length in enumerate(trained.lengths):
        said = verdict(trained, length, WHOSE).value or "undecided"
        change = interval_of_mean(contraction(trained)[:, at])
        spread, number = _mean(trained.spread)[:, at], _mean(trained.number)[:, at]
        ends = (None, None) if change is None else (change.low, change.high)
        random = float(_mean(contraction(found.random))[at])
        values = (spread[0], spread[-1], contraction(trained)[:, at].mean(), *ends, random, number[0], number[-1])
        rows.append((length, str(said), *(None if v is None else float(v) for v in values)))
    columns = ("length", "verdict", "spread first", "last", "doublings", "low", "high", "random", "N first", "last")
    note = "doublings: log2 of last / first spread, mean over sequences with its 95 % interval; random: the same there"
    return Table("By length", columns, tuple(rows), note)


def _by_block(found: Compared) -> Table:
    trained, random = found.trained, found.random
    columns = ("after", "spread", "random", "1 − γ(t)", "N", "random", "groups", "rank", "centred")
    assert trained.longest is not None
    parts = [_mean(trained.spread)[:, -1], _mean(random.spread)[:, -1], found.reference]
    parts += [_mean(trained.number)[:, -1], _mean(random.number)[:, -1], _mean(trained.groups)[:, -1]]
    parts += [_mean(trained.longest.rank), _mean(trained.longest.centred_rank)]
    rows = tuple((place, *(float(part[at]) for part in parts)) for at, place in enumerate(trained.places))
    cap = rank_cap(found.longest - 1, trained.width)
    note = "means over sequences; groups: components above 0.95; rank: effective rank, raw and centred, at most "
    return Table(f"By block at length {found.longest}", columns, rows, f"{note}{cap}")


def _details(found: Compared) -> tuple[Table, ...]:
    columns = ("after", "length", "spread", "with first", "N", "with first", "groups", "participation ratio")
    tables = []
    for name, measures in (("trained", found.trained), ("random", found.random)):
        parts = [measures.spread, measures.spread_with_first, measures.number, measures.number_with_first]
        parts = [_mean(part) for part in (*parts, measures.groups, measures.ratio)]
        rows = tuple(
            (place, length, *(float(part[p, at]) for part in parts))
            for p, place in enumerate(measures.places)
            for at, length in enumerate(measures.lengths)
        )
        note = "without the first token, except where it says with first; means over sequences"
        tables.append(Table(f"All measures, {name} weights", columns, rows, note))
    return tuple(tables)


def _angles(found: Compared) -> Table:
    longest = found.trained.longest
    assert longest is not None
    quantiles = _mean(longest.quantiles)
    rows = []
    for at, place in enumerate(found.trained.places):
        numbers = (*quantiles[at], *longest.margin[at], longest.energy[:, at].mean())
        rows.append((place, *(float(number) for number in numbers)))
    columns = ("after", "5 %", "50 %", "95 %", "margin from", "to", f"energy at {BETA:g}")
    note = (
        "trained weights, without the first token. 5 %, 50 %, 95 %: quantiles of the inner products of tokens, means "
        "over sequences. Margin: bounds for the first sequence; above 0, an open hemisphere holds all of it, where "
        "the upper one is 0 none does and the lower one says nothing"
    )
    return Table(f"Angles, margin and energy at length {found.longest}", columns, tuple(rows), note)


def _pictures(found: Compared) -> tuple[Picture, ...]:
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
    return (
        _lines(f"Spread by block, {found.longest} tokens", words, "spread", series),
        _lines("Spread by block for each length", "One line a length.", "spread", lengths),
        _lines(f"N by block, {found.longest} tokens", "How many groups of like tokens.", f"N_{KAPPA:g}", numbers),
    )


def _lines(title: str, words: str, y: str, series: dict[str, Floats]) -> Picture:
    rows = tuple(
        {"x": place, "y": float(value), "series": name}
        for name, values in series.items()
        for place, value in enumerate(values)
    )
    return Picture("lines", title, words, "blocks passed", y, rows)
