"""The geometry of tokens by sequence, place in the model and length.

Points are the directions of the residual stream: hidden states divided by their lengths. The first token is left out of
every measure but those that say otherwise: in many models its state is very long and unlike all others (xiao2024 calls
it an attention sink), and one such point shifts every mean.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from lengthwise.geometry.clusters import cluster_number_of, component_count, directions, effective_rank, hemisphere
from lengthwise.models.parts import Anatomy
from lengthwise.probes.geometry.layerwise import Change, sees_only_the_past, stream

Floats = NDArray[np.float64]

KAPPA = 20.0  # N_20 counts two points as one where their angle is below about 15°, and orthogonal ones as two
THRESHOLD = 0.95
LEAST_SPREAD = 1e-12  # below it, a spread is rounding
BETA = 1.0  # of the particle systems to which the tokens are compared
QUANTILES = (0.05, 0.5, 0.95)


@dataclass(frozen=True, eq=False)
class AtLongest:
    """What is measured at the longest length alone, without the first token; [sequences, places] but where said.

    `rank` and `centred_rank`: effective ranks. `quantiles` [sequences, places, 3]: of the inner products of two tokens,
    5 %, 50 % and 95 %. `energy`: E_1. `margin` [places, 2]: between which bounds the hemisphere margin of the first
    sequence lies; of the others it is not computed, as it takes long.
    """

    rank: Floats
    centred_rank: Floats
    quantiles: Floats
    energy: Floats
    margin: Floats


@dataclass(frozen=True, eq=False)
class TokenMeasures:
    """Arrays [sequences, places, lengths] for one set of weights; places are the embedding and each block.

    `spread`: 1 − the mean inner product of two different tokens, 0 where all are one point and about 1 where they are
    unrelated. `number`: N_20. `groups`: components above 0.95. `ratio`: participation ratio. The two `…_with_first`
    have the first token too. `longest`: what was measured at the longest length alone, where it was asked for.
    """

    places: tuple[str, ...]
    lengths: tuple[int, ...]
    width: int
    spread: Floats
    number: Floats
    groups: Floats
    ratio: Floats
    spread_with_first: Floats
    number_with_first: Floats
    longest: AtLongest | None = None


def doubling_lengths(longest: int, shortest: int = 32) -> tuple[int, ...]:
    """32, 64, 128, … up to `longest`, which is the last; for short inputs longest / 4, / 2 and itself."""
    if longest < 2 * shortest:
        found = sorted({max(3, longest // 4), max(3, longest // 2), longest})
        return tuple(length for length in found if length <= longest)
    found = []
    while shortest < longest:
        found.append(shortest)
        shortest *= 2
    if len(found) > 1 and longest < 1.5 * found[-1]:  # the last two would be nearly the same
        found.pop()
    return (*found, longest)


def measure_tokens(
    anatomy: Anatomy, tokens: Tensor, lengths: Sequence[int], change: Change | None = None, longest: bool = False
) -> TokenMeasures:
    """The measures of tokens [B, T] at prefixes of these lengths; `longest` asks for those that are for the last alone.

    Where tokens see only the past, the states of a prefix are the first states of the whole, and one pass is enough.
    """
    with torch.no_grad():
        if sees_only_the_past(anatomy, tokens.shape[1]):
            passes = [_measured(stream(anatomy, tokens, change), lengths, longest)]
        else:
            passes = [
                _measured(stream(anatomy, tokens[:, :length], change), [length], longest and length == lengths[-1])
                for length in lengths
            ]
    places = tuple(place for place, _, _ in passes[0])
    values = np.concatenate([np.stack([found for _, found, _ in one], axis=1) for one in passes], axis=2)
    last = None
    if longest:
        more = np.stack([found for _, _, found in passes[-1]], axis=1)  # [sequences, places, 8]
        last = AtLongest(more[..., 0], more[..., 1], more[..., 5:], more[..., 2], more[0, :, 3:5])
    return TokenMeasures(places, tuple(lengths), anatomy.width, *np.moveaxis(values, -1, 0), longest=last)


def _measured(
    states: Iterable[tuple[str, Tensor]], lengths: Sequence[int], longest: bool
) -> list[tuple[str, Floats, Floats]]:
    """For each place: its name, measures [B, lengths, 6], and those of the longest length [B, 8] where asked for."""
    found = []
    for place, x in states:
        points = [directions(one.double().numpy()) for one in x.cpu()]
        values = np.array([_of_sequence(one, lengths) for one in points])
        more = [_of_longest(one[1:], number == 0) for number, one in enumerate(points)] if longest else []
        found.append((place, values, np.array(more)))
    return found


def _of_longest(points: Floats, margin: bool) -> list[float]:
    """Ranks, energy, both bounds of the hemisphere margin (where asked for) and quantiles of inner products."""
    products = points @ points.T
    energy = float(np.exp(BETA * products).sum()) / (2 * BETA * len(points) ** 2)
    held = hemisphere(points) if margin else None
    bounds = (math.nan, math.nan) if held is None else (held.low, held.high)
    ranks = effective_rank(points), effective_rank(points, centred=True)
    pairs = products[_pairs(len(points))]
    return [*map(float, ranks), energy, *bounds, *np.quantile(pairs, QUANTILES).tolist()]  # pyright: ignore


@functools.lru_cache(maxsize=1)
def _pairs(n: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return np.triu_indices(n, 1)


def _of_sequence(points: Floats, lengths: Sequence[int]) -> list[list[float]]:
    """The six measures of each prefix, from one matrix of inner products."""
    products = points @ points.T
    rows = []
    for length in lengths:
        whole, later = products[:length, :length], products[1:length, 1:length]
        rows.append(
            [
                _spread(later),
                cluster_number_of(later, KAPPA),
                float(component_count(later, THRESHOLD)),
                len(later) ** 2 / float(np.square(later).sum()),  # the participation ratio of unit vectors
                _spread(whole),
                cluster_number_of(whole, KAPPA),
            ]
        )
    return rows


def _spread(products: Floats) -> float:
    n = len(products)
    return max(LEAST_SPREAD, 1 - (float(products.sum()) - n) / (n * (n - 1)))
