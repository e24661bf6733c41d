"""A short stand-in of a long word for two layers: keep runs of it, switched on and off by a chain of two states.

What two layers see of a word is the joint law of (the last symbols, the histogram of the prefix) over its places.
Single places drawn at random would tear all windows apart; runs of mean length b tear one in b. The chain leaves a run
with probability 1/b a step and enters one so often that about n places are kept. With n kept places, windows of tau + 1
symbols and W different windows, the law of windows is off in total by at most

    2 tau / b  +  sqrt(2 b W / n)  +  sqrt(2 b / n)     in the mean, up to order tau / n (proved in docs/limit.md),

which b = n^(1/3) balances: n^(-1/3).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.simulation import Simulation
from lengthwise.oracle.limit.transformer import LimitTransformer
from lengthwise.seeds import Ints, Seeds


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


def subsample(
    model: LimitTransformer, word: Sequence[str], target: int, run: float | None = None, seed: int = 0
) -> Simulation:
    """About `target` symbols of the word kept in runs, and always its last locality + 1; both answers and their
    difference. One draw: another seed gives another word."""
    run = best_run(target) if run is None else run
    x = model.read(word)[0]
    end = np.arange(max(len(x) - model.locality - 1, 0), len(x))
    z = x[np.union1d(kept_places(len(x), target, run, seed), end)]
    wanted, reply = model.answers(x[None])[0], model.answers(z[None])[0]
    long, short = (tuple(model.symbols[symbol] for symbol in row) for row in (x, z))
    answer, short_answer = (tuple(map(float, row)) for row in (wanted, reply))
    difference = max(abs(one - other) for one, other in zip(answer, short_answer, strict=True))
    return Simulation(long, short, answer, short_answer, difference, f"runs of mean length {run:.3g}", listed=False)


def _window_law(x: Ints, window: int, symbols: int) -> np.ndarray:
    places = len(x) - window + 1
    if places < 1:
        raise UsageError(f"a word of {len(x)} symbols has no window of {window}")
    codes = sum(x[shift : shift + places] * symbols**shift for shift in range(window))
    return np.bincount(np.asarray(codes), minlength=symbols**window) / places


def _histograms(x: Ints, symbols: int, moment: np.ndarray) -> np.ndarray:
    counts = (x[:, None] == np.arange(symbols)).cumsum(axis=0)
    ends = np.maximum(np.rint(moment * len(x)).astype(np.int64), 1)
    return counts[ends - 1] / ends[:, None]
