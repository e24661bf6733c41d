"""The section `geometry`: do tokens draw together from block to block, and does it get worse with length?

The measures of the trained weights stand beside those of random weights of the same shape and beside γ(t), the particle
system's own curve. docs/geometry.md has the rule for verdicts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters import energy_course, rank_cap
from lengthwise.geometry.particles.equal_angles import distance
from lengthwise.inspection.content import Picture, Section, Table
from lengthwise.inspection.layerwise import Change, in_single_precision, random_blocks, random_outside
from lengthwise.inspection.sections import LARGE, Look, section
from lengthwise.inspection.token_measures import (
    KAPPA,
    Floats,
    TokenMeasures,
    doubling_lengths,
    measure_tokens,
)
from lengthwise.inspection.verdicts import SEQUENCES, contraction, interval_of_mean, length_trend, verdict
from lengthwise.records import Assumption, Claim

LONGEST = 1024
SEQUENCES_OF_A_LARGE_MODEL, SEQUENCES_OF_A_SMALL_ONE = 4, 8
FEWEST_TOKENS = 4  # without the first there must be pairs
BETA = 1.0  # of the reference
WHOSE = "the model"
RANDOM = "random weights"


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
        tuple(_claims(found)),
        (_by_length(found), _by_block(found)),
        _details(found),
        _pictures(found),
    )


def compare(look: Look, tokens: Tensor, single: bool) -> Compared:
    """All measures; with `single`, blocks compute in float32, which moves inner products by about 1e-6."""
    lengths = doubling_lengths(tokens.shape[1])
    as_they_are: Change | None = in_single_precision if single else None
    trained = measure_tokens(look.anatomy, tokens, lengths, as_they_are, ranks=True)
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


# --- claims ---------------------------------------------------------------------------------------------------------


def _claims(found: Compared) -> list[Claim]:
    trained, random = found.trained, found.random
    verdicts = [verdict(trained, length, WHOSE) for length in trained.lengths]
    return [
        *verdicts,
        verdict(random, found.longest, RANDOM),
        length_trend(trained, WHOSE),
        length_trend(random, RANDOM),
        _beside_random(found),
        _narrowest(trained),
        _first_token(trained),
        _energy(trained),
    ]


def _beside_random(found: Compared) -> Claim:
    """How much more trained weights contract than random ones, on the same sequences."""
    difference = (contraction(found.trained) - contraction(found.random))[:, -1]
    assumptions = (SEQUENCES, Assumption("one draw of the random weights stands for all"))
    evidence = {"tokens": found.longest - 1, "differences": difference.tolist()}
    name = f"contraction of {WHOSE} minus that of {RANDOM} at length {found.longest}"
    interval = interval_of_mean(difference)
    value, unit = float(difference.mean()), "doublings of spread"
    return Claim(name, value, unit, "measured", "holds", interval, assumptions, None, evidence)


def _narrowest(trained: TokenMeasures) -> Claim:
    """Where tokens are closest together."""
    spread = trained.spread[:, :, -1]
    at = int(spread.mean(axis=0).argmin())
    evidence = {"sequences": len(spread), "embedding": float(spread[:, 0].mean()), "end": float(spread[:, -1].mean())}
    evidence["place"] = trained.places[at]
    chosen = Assumption("the place was chosen as the least of all, so its interval is a little too low")
    interval = interval_of_mean(spread[:, at])
    name = f"least spread, {_after(trained.places[at])}"
    return Claim(
        name, float(spread[:, at].mean()), "", "measured", "holds", interval, (SEQUENCES, chosen), None, evidence
    )


def _first_token(trained: TokenMeasures) -> Claim:
    """How much one token changes the picture, at the place where it changes it most."""
    change = np.abs(np.log2(trained.spread_with_first / trained.spread)).mean(axis=0)[:, 0]
    at = int(change.argmax())
    length = trained.lengths[0]
    both = trained.spread[:, at, 0].mean(), trained.spread_with_first[:, at, 0].mean()
    evidence = {"without": float(both[0]), "with": float(both[1]), "tokens": length, "place": trained.places[at]}
    interval = interval_of_mean(np.log2(trained.spread_with_first / trained.spread)[:, at, 0])
    value = float(np.log2(trained.spread_with_first / trained.spread)[:, at, 0].mean())
    name = f"change of spread by the first token at length {length}, {_after(trained.places[at])}"
    return Claim(name, value, "doublings", "measured", "holds", interval, (SEQUENCES,), None, evidence)


def _energy(trained: TokenMeasures) -> Claim:
    """Whether the energy of the particle systems climbs from block to block, as it does along them."""
    # N_κ = e^κ / (2 κ E_κ), so 1 / N is the energy up to a constant factor.
    courses = [energy_course(1 / number) for number in trained.number[:, :, -1]]
    blocks = len(trained.places) - 1
    falls = float(np.mean([course.falls for course in courses]))
    evidence = {"falls": [course.falls for course in courses], "blocks": blocks, "tokens": trained.lengths[-1] - 1}
    evidence["never falls"] = all(course.monotone for course in courses)
    name = f"blocks that lower the energy at beta {KAPPA:g}, of {blocks}"
    return Claim(name, falls, "blocks", "measured", "holds", None, (SEQUENCES,), None, evidence)


def _after(place: str) -> str:
    return "at the embedding" if place == "embedding" else f"after {place}"


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
    assert trained.rank is not None and trained.centred_rank is not None
    parts = [_mean(trained.spread)[:, -1], _mean(random.spread)[:, -1], found.reference]
    parts += [_mean(trained.number)[:, -1], _mean(random.number)[:, -1], _mean(trained.groups)[:, -1]]
    parts += [_mean(trained.rank), _mean(trained.centred_rank)]
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
