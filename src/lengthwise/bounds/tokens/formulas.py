"""The formulas of bounds for tokens by themselves: plain numbers in, plain numbers out. Proofs:
docs/explanation/generalisation.md.

Losses are in nats unless a name says bits. `complexity` is the C of every bound: nats of description per unit of data.
"""

from __future__ import annotations

import math

from lengthwise.errors import UsageError

LN2 = math.log(2)


def complexity(message_bits: float, count: int | float, delta: float, settings: int = 1) -> float:
    """C = (bits ln 2 + ln(settings / δ)) / n: a prior of 2^-bits, `settings` that were all paid for, n units."""
    if not 0 <= message_bits < math.inf:
        raise UsageError(f"a message must have a finite number of bits, 0 or more, not {message_bits}")
    if not 0 < delta < 1 or count < 1 or settings < 1:
        raise UsageError(
            "delta must lie between 0 and 1, with at least 1 unit of data and 1 setting, "
            f"not {delta}, {count} and {settings}"
        )
    return (message_bits * LN2 + math.log(settings / delta)) / count


def loss_floor(alpha: float, vocabulary: int) -> float:
    """The least a smoothed loss can be: -ln((1 - α) + α / V), for a token that was certain."""
    return -math.log1p(-_share(alpha) * (1 - 1 / vocabulary))


def loss_ceiling(alpha: float, vocabulary: int) -> float:
    """The most a smoothed loss can be: ln(V / α), for a token that was impossible."""
    return math.log(vocabulary) - math.log(_share(alpha))  # the quotient of a small α is no float


def loss_range(alpha: float, vocabulary: int) -> float:
    """Δ = ln(1 + (1 - α) V / α), the ceiling less the floor (statement G1)."""
    odds = (1 - _share(alpha)) * vocabulary / alpha
    return math.log1p(odds) if odds < math.inf else math.log1p(-alpha) + loss_ceiling(alpha, vocabulary)


def hoeffding_gap(spread: float, complexity: float) -> float:
    """Δ √(C / 2): independent documents (statement G2), and tokens in any order (Azuma, statement G4)."""
    return spread * math.sqrt(complexity / 2)


def best_alpha(complexity: float) -> float:
    """α = C / (1 + C): the smoothing that makes `smoothing_cost` least; it needs no data (statement G8)."""
    return complexity / (1 + complexity)


def smoothing_cost(complexity: float) -> float:
    """ln(1 + C) + C ln((1 + C) / C): what smoothing adds to an unsmoothed loss and to C ln V at the best α.

    It is the least of ln(1 / (1 - α)) + C ln(1 / α), and below √(2C) (statement G8; finzi2025 use √(2C)).
    """
    if not 0 <= complexity < math.inf:
        raise UsageError(f"a complexity must be a finite number of 0 or more, not {complexity}")
    if complexity == 0:
        return 0.0
    return math.log1p(complexity) + complexity * math.log1p(1 / complexity)


def count_bits(count: int) -> float:
    """log2(n (n + 1)) bits, to be added to a message's where the number of tokens was not fixed before they were
    drawn: the bound then holds for every number of tokens at once (statement G4)."""
    return math.log2(count) + math.log2(count + 1)


def split_delta(delta: float, sample: int, population: int | float) -> tuple[float, float]:
    """(r δ, (1 - r) δ), r = m / (m + n): what is paid for the population's bound and for the sample's.

    The price of a small r is ln(1 / r) / n, next to nothing.
    """
    share = sample / (sample + population)
    return share * delta, (1 - share) * delta


def token_bound_bits(
    message_bytes: float,
    tokens: float,
    vocabulary: int,
    loss_bits: float,
    *,
    alpha: float,
    sample: int | None = None,
    delta: float = 0.05,
) -> float:
    """The published bound of lotfi2024tokens in bits per token, as its code computes it: Hoeffding terms for the
    population and for a sample of independent tokens, and one α that was fixed before the data were seen."""
    spread = loss_range(alpha, vocabulary) / LN2
    if sample is None:
        return loss_bits + hoeffding_gap(spread, complexity(8 * message_bytes, tokens, delta))
    whole, part = split_delta(delta, sample, tokens)
    gap = hoeffding_gap(spread, complexity(8 * message_bytes, tokens, whole))
    return loss_bits + gap + hoeffding_gap(spread, complexity(0, sample, part))


def _share(alpha: float) -> float:
    if not 0 < alpha <= 1:
        raise UsageError(f"the smoothing α must be above 0 and at most 1, not {alpha}")
    return alpha
