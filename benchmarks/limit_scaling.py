"""The scalings of the simulation argument: how long short words must be, and how fast thinning by runs errs less.

Simulation length. For sin(omega (zeros - ones) / length) the answer depends on the share r of ones alone, so a word of
length n offers the shares k/n. N(omega, eps) is the smallest N such that every longer word has a stand-in of length at
most N whose answer is within eps and whose angle omega (1 - 2r) lies on the same rising or falling branch of the sine
(the same answer on another branch would be a coincidence). It is decided exactly between neighbouring fractions of the
Farey sequence of order N, and N eps / omega tends to `limit_factor` (docs/explanation/limit.md).

Thinning. Runs of a long word are kept, switched on and off by a chain of two states. With n kept positions and runs of
mean length n^(1/3), the law of windows is off by about n^(-1/3) (docs/explanation/limit.md).
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from rows import Row, standalone

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints, Seeds

OMEGAS = (1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 16.0)
ERRORS = (0.1, 0.03, 0.01)
TARGETS = (125, 250, 500, 1000, 2000, 4000, 8000)


@dataclass(frozen=True)
class PowerLaw:
    """value = factor · product of cause^exponent. `spread` is the standard deviation of the logarithms left over."""

    exponents: Mapping[str, float]
    errors: Mapping[str, float]
    factor: float
    spread: float

    def __str__(self) -> str:
        causes = " · ".join(f"{name}^{power:.3f} (± {self.errors[name]:.3f})" for name, power in self.exponents.items())
        return f"{self.factor:.3g} · {causes}, spread {self.spread:.3f} of the logarithm"


def fit_power_law(causes: Mapping[str, Sequence[float]], values: Sequence[float]) -> PowerLaw:
    """Least squares of log value on the logs of the causes."""
    target = np.log(np.asarray(values, dtype=np.float64))
    design = np.stack([np.ones(len(target)), *(np.log(np.asarray(column)) for column in causes.values())], axis=1)
    solution, *_ = np.linalg.lstsq(design, target, rcond=None)
    left = target - design @ solution
    variance = float(left @ left) / (len(target) - design.shape[1])
    errors = np.sqrt(variance * np.diag(np.linalg.inv(design.T @ design)))
    named = [dict(zip(causes, map(float, numbers[1:]), strict=True)) for numbers in (solution, errors)]
    return PowerLaw(*named, float(np.exp(solution[0])), variance**0.5)


@dataclass(frozen=True)
class WaveLengths:
    """N for each omega (rows) and error (columns), and its fit; `levelled` is the fit of N / limit_factor(omega), which
    removes where the waves of the sine happen to lie."""

    lengths: tuple[tuple[int, ...], ...]
    fit: PowerLaw
    levelled: PowerLaw


def wave_lengths(omegas: Sequence[float] = OMEGAS, errors: Sequence[float] = ERRORS) -> WaveLengths:
    """N over a grid, and the exponents of omega and 1/eps."""
    rows = tuple(tuple(wave_length(omega, error) for error in errors) for omega in omegas)
    grid = list(itertools.product(omegas, errors))
    causes = {"omega": [omega for omega, _ in grid], "1/eps": [1 / error for _, error in grid]}
    lengths = [length for row in rows for length in row]
    level = [length / limit_factor(omega) for length, (omega, _) in zip(lengths, grid, strict=True)]
    return WaveLengths(rows, fit_power_law(causes, lengths), fit_power_law(causes, level))


def wave_length(omega: float, error: float, long: int | None = None) -> int:
    """N(omega, error), at least 2, for words of `long` bits or of every length. O(N² log N), or O(long · N)."""
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


@dataclass(frozen=True)
class RunErrors:
    """Mean errors over seeds for each number of kept positions: of windows with runs of mean length n^(1/3), of prefix
    histograms, of windows with positions kept one by one; and the proved bound on the first."""

    windows: tuple[float, ...]
    prefixes: tuple[float, ...]
    single: tuple[float, ...]
    bounds: tuple[float, ...]
    fit: PowerLaw

    @property
    def exponent(self) -> float:
        return self.fit.exponents["n"]


def run_errors(targets: Sequence[int] = TARGETS, *, length: int = 20_000, seeds: int = 16) -> RunErrors:
    """Thin words of a noisy cyclic source of three letters to each target, with windows of three symbols."""
    letters, locality = 3, 2
    rows = []
    for target in targets:
        found = []
        for seed in range(seeds):
            x = noisy_cycle(length, letters, 0.1, seed)
            z = x[kept_places(length, target, best_run(target), seed)]
            alone = x[kept_places(length, target, 1.0, seed)]
            errors = [window_error(x, thinned, locality + 1, letters) for thinned in (z, alone)]
            found.append((errors[0], prefix_error(x, z, letters), errors[1]))
        rows.append(tuple(float(mean) for mean in np.mean(found, axis=0)))
    windows, prefixes, single = zip(*rows, strict=True)
    bounds = tuple(mean_error_bound(n, best_run(n), locality, letters ** (locality + 1)) for n in targets)
    return RunErrors(windows, prefixes, single, bounds, fit_power_law({"n": targets}, windows))


def best_run(target: int) -> float:
    """The mean length of runs that balances torn windows against chance."""
    return max(1.0, target ** (1 / 3))


def kept_places(length: int, target: int, run: float, seed: int = 0) -> Ints:
    """The places kept, in order: about `target` of `length`, in runs of mean length `run`. O(length)."""
    share = target / length
    if not 0 < target < length:
        raise UsageError(f"a word of {length} symbols is thinned to 1 to {length - 1} of them, not to {target}")
    if run < 1 or share / (1 - share) > run:
        raise UsageError(f"to keep {target} of {length}, runs have a mean length of at least {share / (1 - share):.3g}")
    random = np.random.default_rng(Seeds(seed).key("runs", length, target))
    enter = share / (1 - share) / run
    rounds = int(4 * target / run + 64)
    on, off = random.geometric(1 / run, rounds), random.geometric(enter, rounds)
    while on.sum() + off.sum() < 2 * length:  # rarely: the first rounds were short
        on, off = (np.concatenate([part, random.geometric(p, rounds)]) for part, p in ((on, 1 / run), (off, enter)))
    first = random.random() < share  # runs are memoryless, so a whole run may stand for a begun one
    lengths = np.stack([on, off] if first else [off, on], axis=1).ravel()
    state = np.repeat(np.arange(len(lengths)) % 2 == (0 if first else 1), lengths)[:length]
    return np.flatnonzero(state)


def noisy_cycle(length: int, letters: int, noise: float, seed: int) -> Ints:
    """Each symbol is the next of the cycle, or, with probability `noise`, any at random."""
    random = np.random.default_rng(Seeds(seed).key("noisy cycle", length))
    step = np.where(random.random(length) < noise, random.integers(0, letters, length), 1)
    return step.cumsum() % letters


def window_error(x: Ints, z: Ints, window: int, symbols: int) -> float:
    """The sum over windows of the difference in frequency: 0 to 2. It bounds any |mean over x - mean over z| of a
    function of the window with values in [-1, 1]."""
    return float(np.abs(_window_law(x, window, symbols) - _window_law(z, window, symbols)).sum())


def prefix_error(x: Ints, z: Ints, symbols: int, moments: int = 50) -> float:
    """The histograms of prefixes at the same share of both words, compared at equally spaced moments: mean L1."""
    moment = np.arange(1, moments + 1) / moments
    return float(np.abs(_histograms(x, symbols, moment) - _histograms(z, symbols, moment)).sum(axis=1).mean())


def mean_error_bound(target: int, run: float, locality: int, windows: int) -> float:
    """The proved bound on the mean of `window_error` over the draws of the chain, up to terms of order locality/target;
    2 or more says nothing."""
    return 2 * locality / run + math.sqrt(2 * run * windows / target) + math.sqrt(2 * run / target)


def _window_law(x: Ints, window: int, symbols: int) -> np.ndarray:
    places = len(x) - window + 1
    codes = sum(x[shift : shift + places] * symbols**shift for shift in range(window))
    return np.bincount(np.asarray(codes), minlength=symbols**window) / places


def _histograms(x: Ints, symbols: int, moment: np.ndarray) -> np.ndarray:
    counts = (x[:, None] == np.arange(symbols)).cumsum(axis=0)
    ends = np.maximum(np.rint(moment * len(x)).astype(np.int64), 1)
    return counts[ends - 1] / ends[:, None]


def rows(quick: bool = False) -> list[Row]:
    omegas, targets = (OMEGAS[:4], TARGETS[:4]) if quick else (OMEGAS, TARGETS)
    waves, runs = wave_lengths(omegas), run_errors(targets, seeds=4 if quick else 64)
    for omega, lengths in zip(omegas, waves.lengths, strict=True):
        print(f"omega {omega:g}: " + ", ".join(f"{n} at {eps:g}" for n, eps in zip(lengths, ERRORS, strict=True)))
    for n, error, bound, alone in zip(targets, runs.windows, runs.bounds, runs.single, strict=True):
        print(f"n = {n}: {error:.3f} with runs (proved: at most {bound:.2f} on average), {alone:.2f} without")
    print(f"N: {waves.fit}\nN / limit factor: {waves.levelled}\nthinning: {runs.fit}")
    result = []
    for cause in ("omega", "1/eps"):
        for what, fit in (("N of simple_task", waves.fit), ("N over its limit factor", waves.levelled)):
            result.append(Row(f"exponent of {cause}, {what}", fit.exponents[cause], ""))
    off = abs(runs.exponent + 1 / 3)
    return [
        *result,
        Row("exponent of the error of thinning by runs", runs.exponent, ""),
        Row("its distance from -1/3", off, "", most=None if quick else 0.08),
        Row("smallest error with positions kept one by one, of 2", min(runs.single), "", least=1.0),
    ]


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
