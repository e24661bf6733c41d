"""How long short words must be to imitate all long ones: measured for sin(omega (zeros - ones) / length).

The answer depends on the share r of ones alone, so a word of length n offers the shares k/n. N(omega, eps) is the
smallest N such that every longer word has a stand-in of length at most N whose answer is within eps and whose angle
omega (1 - 2r) lies on the same rising or falling branch of the sine (a stand-in with the same answer by coincidence on
another branch says nothing about other functions of the share). Attention is uniform here, so no symbol has to be
kept present.

For words of any length it is decided exactly between neighbouring fractions of the Farey sequence of order N, and
N eps / omega tends to the largest |cos(omega (1 - 2p/q))| / q over fractions p/q, between 1/2 and 1 (docs/limit.md).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.margin import IZZO
from lengthwise.oracle.limit.power_law import PowerLaw, fit_power_law
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats

OMEGAS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 16.0)
ERRORS = (0.1, 0.03, 0.01)
LARGEST = 4000  # omega / eps: N is about that, and N² / 4 fractions are held at once


@dataclass(frozen=True)
class WaveLengths:
    """N for each omega (rows) and error (columns), and its fit; `levelled` is the fit of N / limit_factor(omega), which
    takes out where the waves of the sine happen to lie; `long` None: for words of every length."""

    omegas: tuple[float, ...]
    errors: tuple[float, ...]
    lengths: tuple[tuple[int, ...], ...]
    fit: PowerLaw
    levelled: PowerLaw
    long: int | None

    def claim(self) -> Claim:
        theorem = "Theorem 4.1 allows omega²/eps² (times an unknown constant)"
        what = "words of every length" if self.long is None else f"words of {self.long} bits"
        return Claim(
            "simulation length of simple_task",
            str(self.fit),
            "tokens",
            "measured",
            assumptions=(Assumption(f"stand-ins on the same branch of the sine, for {what}", "checked"),),
            reference=Reference(IZZO, "simulation argument; SimpleTask"),
            evidence={**self.plain(), "theorem": theorem},
        )

    def explain(self) -> list[str]:
        rows = [
            f"omega {omega:g}: " + ", ".join(f"{n} at {eps:g}" for n, eps in zip(row, self.errors, strict=True))
            for omega, row in zip(self.omegas, self.lengths, strict=True)
        ]
        return [*rows, f"fit: {self.fit}", f"fit of N / limit factor: {self.levelled}"]

    def plain(self) -> dict[str, Any]:
        table = {"omegas": list(self.omegas), "errors": list(self.errors), "lengths": [list(r) for r in self.lengths]}
        return {**table, "long": self.long, "fit": self.fit.plain(), "levelled": self.levelled.plain()}


def wave_lengths(
    omegas: Sequence[float] = OMEGAS, errors: Sequence[float] = ERRORS, long: int | None = None
) -> WaveLengths:
    """N over a grid, and the exponents of omega and 1/eps."""
    rows = tuple(tuple(wave_length(omega, error, long) for error in errors) for omega in omegas)
    grid = list(itertools.product(omegas, errors))
    causes = {"omega": [omega for omega, _ in grid], "1/eps": [1 / error for _, error in grid]}
    lengths = [length for row in rows for length in row]
    level = [length / limit_factor(omega) for length, (omega, _) in zip(lengths, grid, strict=True)]
    fits = fit_power_law(causes, lengths), fit_power_law(causes, level)
    return WaveLengths(tuple(omegas), tuple(errors), rows, *fits, long)


def wave_length(omega: float, error: float, long: int | None = None) -> int:
    """N(omega, error), at least 2, for words of `long` bits or of every length. O(N² log N), or O(long · N)."""
    if not (omega > 0 and 0 < error < 1 and omega / error <= LARGEST):
        raise UsageError(
            f"omega is above 0, the error in (0, 1), omega / error at most {LARGEST}; not {omega} and {error}"
        )
    if long is not None and not 1 <= long <= 100_000:
        raise UsageError(f"words are 1 to 100,000 bits long, not {long}")
    if long is not None:
        return _against_one_length(omega, error, long)
    low, high = 1, 2
    while _worst(omega, high) > error:
        low, high = high, 2 * high
    while high - low > 1:  # the fractions of one order are among those of the next: the worst error only falls
        middle = (low + high) // 2
        low, high = (low, middle) if _worst(omega, middle) <= error else (middle, high)
    return high


def limit_factor(omega: float, largest: int = 50) -> float:
    """The limit of N eps / omega: the largest |cos(omega (1 - 2p/q))| / q over fractions p/q with q up to `largest`."""
    return max(abs(math.cos(omega * (1 - 2 * p / q))) / q for q in range(1, largest + 1) for p in range(q + 1))


def _branch(angles: Floats) -> Floats:
    """Which rising or falling piece of the sine an angle lies on."""
    return np.floor(angles / math.pi + 0.5)


def _worst(omega: float, order: int) -> float:
    """The largest error at any share, when all shares k/n with n up to `order` are offered.

    Between two neighbouring offers on one branch the worst answer is half way; where the sine turns between them, the
    turning point is the worst, and each side has one offer. The sine is odd, so shares up to 1/2 are enough.
    """
    shares = np.unique(np.concatenate([np.arange(n // 2 + 1) / n for n in range(2, order + 1)]))
    angles = omega * (1 - 2 * shares)
    values, branches = np.sin(angles), _branch(angles)
    apart = np.abs(np.diff(branches))
    if np.any(apart > 1):
        return math.inf  # a whole branch without an offer
    peak = np.where(branches[1:] % 2 == 0, 1.0, -1.0)  # angles fall; an even branch rises to its upper end
    turned = np.maximum(np.abs(values[:-1] - peak), np.abs(values[1:] - peak))
    return float(np.where(apart == 1, turned, np.abs(np.diff(values)) / 2).max())


def _against_one_length(omega: float, error: float, long: int) -> int:
    shares = np.arange(long // 2 + 1) / long
    angles = omega * (1 - 2 * shares)
    best = np.full(len(shares), np.inf)
    for length in range(1, long + 1):
        for count in (np.floor(shares * length), np.ceil(shares * length)):
            offered = omega * (1 - 2 * count / length)
            same = _branch(offered) == _branch(angles)
            best = np.minimum(best, np.where(same, np.abs(np.sin(offered) - np.sin(angles)), np.inf))
        if best.max() <= error:
            return length
    return long
