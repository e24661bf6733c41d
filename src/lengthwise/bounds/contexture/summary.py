"""All claims about a table or pairs, and about a representation compared with random ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.bounds.contexture.alignment import alignment
from lengthwise.bounds.contexture.drawn_spectrum import DrawnSpectrum, spectrum_of_pairs
from lengthwise.bounds.contexture.encoder_error import error_claim
from lengthwise.bounds.contexture.estimates import drawn_pairs, independent, ratio_trace_claim
from lengthwise.bounds.contexture.spectrum import spectrum_by_svd
from lengthwise.bounds.contexture.table import JointTable
from lengthwise.bounds.contexture.usefulness import BETA, MOST_DIMENSIONS, decay_claim, usefulness
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Interval, Reference
from lengthwise.seeds import Floats, Ints, Seeds

RANDOM = 20  # random representations that a given one is compared with

explain(
    {
        "contexture.first": "strongest association s_1²",
        "contexture.total": "sum of all s_i²",
        "contexture.spectrum": "spectrum",
        "contexture.random_trace": "ratio trace of random representations of rank {rank}",
        "contexture.of_distribution": "the spectrum is that of the distribution",
        "contexture.too_many_alone": (
            "at most half of the pairs may have an x or an a that occurs once, and {alone:.0%} of them have"
        ),
    }
)


@dataclass(frozen=True, eq=False)
class Contexture:
    """What contexts hold. `squares` are s_1², s_2², …; `claims` are about them, `representation` about what was given
    to be compared, and `random` about what a representation that was not trained has."""

    what: str
    how: str
    squares: Floats
    exact: bool
    claims: tuple[Claim, ...]
    representation: tuple[Claim, ...] = ()
    random: tuple[Claim, ...] = ()

    def plain(self) -> dict[str, Any]:
        """JSON-ready data."""
        return {
            "what": self.what,
            "how": self.how,
            "exact": self.exact,
            "squares": self.squares.tolist(),
            **{
                name: [claim.plain() for claim in getattr(self, name)]
                for name in ("claims", "representation", "random")
            },
        }


def contexture_of_table(
    table: JointTable,
    features: Floats | None = None,
    *,
    epsilon: float | None = None,
    beta: float = BETA,
    most_dimensions: int = MOST_DIMENSIONS,
    seed: int = 0,
) -> Contexture:
    """Spectrum, decay and τ of a table; with features [X, d] their alignment and that of random ones, and the error
    bound for tasks of compatibility 1 - ε (0.9 s_1 unless an ε is given)."""
    spectrum, exact = spectrum_by_svd(table), table.pairs is None
    what = f"a table of {len(table.of_x)} x and {len(table.of_a)} a"
    claims = spectrum_claims(spectrum.squares, exact, beta, most_dimensions)
    if features is None:
        return Contexture(what, spectrum.how, spectrum.squares, exact, claims)
    found = alignment(table, features, spectrum)
    if not found.rank:
        raise UsageError("the representation is the same for every x; give vectors that differ")
    epsilon = 1 - 0.9 * float(spectrum.values[0]) if epsilon is None else epsilon
    bound = error_claim(spectrum.square(1), found.trace_gap, epsilon, exact)
    generator = np.random.default_rng(Seeds(seed).key("random features"))
    drawn = [generator.standard_normal((len(table.of_x), found.rank)) for _ in range(RANDOM)]
    others = [alignment(table, other, spectrum).ratio_trace for other in drawn]
    own = (*found.claims(), bound)
    return Contexture(what, spectrum.how, spectrum.squares, exact, claims, own, (random_claim(others, found.rank),))


def contexture_of_pairs(
    x: Ints,
    a: Ints,
    features: Floats | None = None,
    *,
    beta: float = BETA,
    most_dimensions: int = MOST_DIMENSIONS,
    seed: int = 0,
) -> Contexture:
    """The same estimated from pairs of codes; features [n, d] have one row per pair."""
    found = spectrum_of_pairs(x, a)
    what = f"{len(x)} pairs with {int(x.max()) + 1} different x and {int(a.max()) + 1} different a"
    claims = spectrum_claims(found.squares, False, beta, most_dimensions) if found.known else (unknown_spectrum(found),)
    squares = found.squares if found.known else found.squares[:0]
    if features is None:
        return Contexture(what, found.how, squares, False, claims)
    drawn = drawn_pairs(features, a)
    rank = independent(drawn).features.shape[1]
    most = float(found.squares[:rank].sum()) if found.known else None
    own = ratio_trace_claim(drawn, "the representation", most, seed=seed)
    noise = np.random.default_rng(Seeds(seed).key("random features")).standard_normal((int(x.max()) + 1, rank))
    other = ratio_trace_claim(drawn_pairs(noise[x], a), "a random representation of the same rank", most, seed=seed)
    return Contexture(what, found.how, squares, False, claims, (own,), (other,))


def spectrum_claims(squares: Floats, exact: bool, beta: float, most_dimensions: int) -> tuple[Claim, ...]:
    """The strongest association, the sum of all, their decay, and τ."""
    reference = Reference("zhai2025", "spectrum of the expectation operator")
    given = (Assumption("contexture.of_distribution", "checked" if exact else "assumed"),)
    first = Claim("contexture.first", float(squares[0]), "", "measured", assumptions=given, reference=reference)
    all_of_them = f"over {len(squares)} values"
    total = Claim(
        "contexture.total", float(squares.sum()), all_of_them, "measured", assumptions=given, reference=reference
    )
    told = usefulness(squares, beta, most_dimensions).claim(measured=not exact)
    return first, total, decay_claim(squares, exact), told


def unknown_spectrum(found: DrawnSpectrum) -> Claim:
    """The claim in place of a spectrum that pairs do not show."""
    return Claim(
        "contexture.spectrum",
        None,
        "",
        "measured",
        "unknown",
        assumptions=(Assumption("contexture.too_many_alone", "violated", {"alone": found.alone}),),
        reference=Reference("docs/contexture.md", "proposition 5"),
        evidence={"alone": found.alone, "plug_in": found.plug_in.tolist()},
    )


def random_claim(traces: list[float], rank: int) -> Claim:
    """The mean ratio trace of random representations, with the range of all of them."""
    interval = Interval(min(traces), max(traces), 1.0, f"the range of {len(traces)} random representations")
    value, evidence = float(np.mean(traces)), {"traces": traces, "rank": rank}
    return Claim("contexture.random_trace", value, "", "measured", interval=interval, evidence=evidence)
