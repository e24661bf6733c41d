"""How far back attention can see: theorems for biases of distance and for logits that are bounded, numbers in and out.

The `spread` of a head is the largest difference between two logits that one query gives to two keys by their content,
without the bias of the encoding. Inputs of attention are normalised, so a trained model has a finite one
(`logit_spread`). Proofs are in docs/explanation/horizons.md.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

import numpy as np
from numpy.typing import ArrayLike

from lengthwise.errors import UsageError
from lengthwise.limits import LARGEST
from lengthwise.messages import explain
from lengthwise.oracle.crasp.promise import Promise

FLOAT32 = 105.0  # exp(-105) is 0 in float32: 150 ln 2 = 103.97, and one more for the rounding of logits
LOCAL_SLOPE = math.log(2)  # from here on one head of ALiBi keeps the last symbols apart
explain({"horizon.order": "in which order a sum with zeros is added up changes no answer"})


def alibi_window(slope: float, spread: float, precision: float = FLOAT32) -> int:
    """The number of nearest tokens, the query's own included, that can have a weight other than 0 (theorem 1).

    A key at distance d has at most exp(spread - slope d) times the weight of the query's own token.
    """
    return math.floor(_distance(spread + precision, slope)) + 1


def _distance(fall: float, slope: float) -> float:
    """How far away a bias of this slope has fallen by so much, if anybody can count so far."""
    distance = fall / slope if slope > 0 else math.inf
    if not distance < LARGEST:
        raise UsageError(
            f"with a slope of {slope:g} and a spread of {fall:.4g} attention reaches further than can be counted; "
            "give a steeper slope or smaller weights"
        )
    return distance


def sight(windows: Iterable[int]) -> int:
    """The number of last tokens that the output of layers with these windows depends on."""
    return 1 + sum(window - 1 for window in windows)


def alibi_tail(slope: float, spread: float, distance: int) -> float:
    """The largest total weight of the keys at this distance or further away (theorem 2): t / (1 + t), with
    t = exp(spread) / (exp(slope x distance) - 1); never below what floating point can hold."""
    if distance < 1:
        return 1.0
    power = spread - slope * distance - math.log(-math.expm1(-slope * distance))  # ln t
    return max(math.exp(power - np.logaddexp(0.0, power)), sys.float_info.min)


def horizon(slope: float, spread: float, share: float = 0.5) -> int:
    """The least distance from which on all keys together have at most this share of the weight."""
    return max(1, math.ceil(_distance(float(np.logaddexp(0.0, spread + math.log(1 / share - 1))), slope) - 1e-9))


def kerple_tail(weight: float, rate: float, spread: float, distance: int) -> float:
    """The same for KERPLE's bias -weight ln(1 + rate d), where the weight is above 1 (theorem 5); 1 where it is not, as
    then every share of a long input keeps its share of the weight."""
    if weight <= 1 or distance < 1:
        return 1.0
    near, far = ((1 - weight) * math.log1p(rate * end) for end in (distance, distance - 1))  # ln f
    power = spread + far - math.log(-math.expm1(near))
    return max(math.exp(min(0.0, power)), sys.float_info.min)


def heaviest(spread: float, keys: int) -> float:
    """The largest weight that one of `keys` keys can have if logits differ by at most `spread`, biases included
    (theorem 6): with `none`, `rope`, `t5` or any other encoding whose logits are bounded, it melts away with length."""
    return 1 / (1 + (keys - 1) * math.exp(-spread))


def logit_spread(queries: ArrayLike, offset: ArrayLike, keys: ArrayLike, gain: ArrayLike, shift: ArrayLike) -> float:
    """An upper bound on the spread of one head, from its weights (lemma 0).

    The head reads u = gain * z + shift, where z is a normalised vector, |z|^2 <= W. Its query is `queries` u +
    `offset`, [D, W] and [D], its key `keys` u plus a constant, which cancels. The logits of two keys differ by at most
    2 sqrt(W) |gain * keys^T q| / sqrt(D).
    """
    q, b, k, g, s = (np.asarray(part, dtype=float) for part in (queries, offset, keys, gain, shift))
    width = q.shape[1]
    product = (g[:, None] * q.T) @ (k * g)  # [W, W]
    constant = (q @ s + b) @ (k * g)  # [W]
    largest = np.linalg.norm(product, 2) * math.sqrt(width) + np.linalg.norm(constant)
    return float(2 * math.sqrt(width) * largest / math.sqrt(q.shape[0])) * (1 + 1e-4)  # for the rounding of all this


@dataclass(frozen=True)
class Memory:
    """How many of the last symbols settle every answer that a regular task asks for; None if no number does.

    `pairs` is the number of pairs of states that were followed.
    """

    symbols: int | None
    pairs: int


def memory_of(promise: Promise) -> Memory:
    """Follow two states that read the same symbols. Answers need unbounded memory exactly if such a pair returns to
    itself and can still come to different answers; otherwise the longest way to different answers is finite."""
    states = [state for state in promise.dfa.reachable if state in promise.kept]
    pairs = [(p, q) for p in states for q in states if p < q]
    sources: dict[tuple[int, int], list[tuple[int, int]]] = {pair: [] for pair in pairs}
    for pair in pairs:
        for _, (p, q) in promise.moves(*pair):
            if p != q:
                sources[min(p, q), max(p, q)].append(pair)
    # Letters from a pair to different answers, for the pairs that come to some; backwards from where they are asked.
    useful = dict.fromkeys((pair for pair in pairs if _asked_apart(promise, pair)), 1)
    for pair in (queue := list(useful)):
        fresh = [source for source in dict.fromkeys(sources[pair]) if source not in useful]
        useful.update(dict.fromkeys(fresh, 1))
        queue.extend(fresh)
    try:  # in an order in which what follows a pair comes before it
        order = tuple(TopologicalSorter({pair: sources[pair] for pair in useful}).static_order())
    except CycleError:
        return Memory(None, len(pairs))
    for pair in reversed(order):
        for source in sources[pair]:
            useful[source] = max(useful[source], useful[pair] + 1)
    return Memory(max(useful.values(), default=0) + 1, len(pairs))


def _asked_apart(promise: Promise, pair: tuple[int, int]) -> bool:
    """Whether the next letter, or an end mark, asks both states for different answers. An end mark is counted as a
    letter, so that one symbol too many may be said to be needed, never one too few."""
    answers = zip(*(promise.answers[state] for state in pair), strict=True)
    return any(one is not None and other is not None and one != other for one, other in answers)
