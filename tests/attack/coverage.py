"""Attacks on bounds that hold with probability 1 - δ: draws of processes whose truth is known, chosen to be the worst.

An attempt is one draw with its bound. Up to a share δ of the draws may exceed it; the campaign judges how many did.
Where a bound pays for a choice, the attack makes it: it takes the best of 2^bits predictors after seeing the data.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.stats import binom

from attack.attempt import Attempts, Found
from lengthwise.bounds.compression import decode, encode, make_quantiser
from lengthwise.bounds.contrastive import contrastive_bound
from lengthwise.bounds.sampling import distance_deviation, risk_deviation
from lengthwise.bounds.shifted import margins_to_try, pair_costs, ramp, shift_bound
from lengthwise.bounds.tokens import TokenLosses, token_bound
from lengthwise.bounds.tokens.inequalities import Freedman, Hoeffding, Inequality, ProductInequality
from lengthwise.shift.sampling_error import deviation
from lengthwise.transport.problem import MatrixCost, TransportProblem
from lengthwise.transport.solving import solve

DELTA = 0.05
SPECS = ("exact", "uniform:levels=16", "kmeans:levels=8", "kmeans:levels=8,share=True")


def means(rng: np.random.Generator, batch: int) -> Found:
    """Hoeffding: coins, with the probability at which the bound fails most often, found from the exact tail."""
    items = int(rng.choice([1, 3, 10, 40, 300]))
    added = risk_deviation(items, 1.0, DELTA)
    chances = np.linspace(0.01, 0.99, 99)
    chance = float(chances[np.argmax(binom.cdf(np.ceil(items * (chances - added)) - 1, items, chances))])
    seen = rng.binomial(items, chance, size=batch) / items
    yield Attempts("mean of a sample", np.full(batch, chance), seen + added, DELTA)


def sampled_distances(rng: np.random.Generator, batch: int) -> Found:
    """A sample against its distribution on points that are all as far apart; two samples of one distribution, where W1
    is 0 and a difference of means is all that is seen."""
    cells, items, diameter = int(rng.integers(2, 9)), int(rng.choice([5, 30, 200])), float(10 ** rng.uniform(-3, 3))
    truth = rng.dirichlet(np.full(cells, float(rng.choice([0.3, 1.0, 30.0]))))
    drawn = rng.multinomial(items, truth, size=batch) / items
    apart = diameter / 2 * np.abs(drawn - truth).sum(axis=1)
    yield Attempts("W1 from a sample", apart, distance_deviation(items, diameter, cells, DELTA), DELTA)
    others = int(rng.choice([5, 30, 200]))
    gap = (rng.binomial(items, 0.5, size=batch) / items - rng.binomial(others, 0.5, size=batch) / others) * diameter
    certified = deviation(items, others, diameter, DELTA)
    yield Attempts("difference of two samples", np.maximum(0.0, gap), certified, DELTA)


def contrastive(rng: np.random.Generator, batch: int) -> Found:
    """InfoNCE with one negative on embeddings of one coordinate, 1 or -1: losses lie at the ends of their range. Of
    2^bits encoders that are equally good, the one that looks best on the pairs is taken."""
    temperature, blocks = float(10 ** rng.uniform(-0.7, 0.7)), int(rng.choice([5, 20, 60]))
    bits, share = int(rng.choice([0, 2, 4])), float(rng.choice([0.5, 0.8, 0.95]))
    signs = np.where(rng.random((batch, 2**bits, blocks, 2)) < share, 1.0, -1.0)
    losses = np.log1p(np.exp((signs[..., 1] - signs[..., 0]) / temperature))
    same, worse, better = (math.log1p(math.exp(gap / temperature)) for gap in (0.0, 2.0, -2.0))
    truth = (share**2 + (1 - share) ** 2) * same + share * (1 - share) * (worse + better)
    seen = losses.mean(axis=2).min(axis=1)
    added = contrastive_bound(truth, blocks, 1, temperature, bits=bits, delta=DELTA).risk.terms[1].value
    yield Attempts("contrastive loss", np.full(batch, truth), seen + added, DELTA)


def tokens(rng: np.random.Generator, batch: int) -> Found:
    """Coins that no predictor can foresee, and 2^bits predictors of which the luckiest is taken and paid for; all data,
    and samples of units."""
    bits, count, sure = int(rng.choice([0, 3, 6])), int(rng.choice([40, 200])), float(rng.uniform(0.55, 0.95))
    ways: tuple[tuple[str, Inequality], ...] = (
        ("documents", Hoeffding()), ("documents", ProductInequality()), ("tokens", Hoeffding()),
        ("tokens", ProductInequality()), ("tokens", Freedman()),
    )  # fmt: skip
    level, inequality = ways[int(rng.integers(5))]
    target, sampled = str(rng.choice(["top1", "loss"])), bool(rng.integers(2))
    truths, bounds = [], []
    for _ in range(max(1, batch // 16)):
        wrong = rng.random((2**bits, count)) < 0.5
        wrong = wrong[np.argmin(wrong.sum(axis=1))]
        losses = _predictions(wrong, sure)
        population = None
        if sampled:
            population = count // 2 if level == "documents" else count
            some = rng.permutation(count // 2)[: count // 4]
            losses = losses.part(np.isin(losses.documents, some))
        bound = token_bound(
            losses, bits, level=level, inequality=inequality, target=target, delta=DELTA, population=population
        )
        alpha = bound.alpha or 0.0
        missed, hit = (-math.log((1 - alpha) * p + alpha / 2) for p in (1 - sure, sure))
        truths.append(0.5 if target == "top1" else (missed + hit) / 2)
        bounds.append(bound.total)
    yield Attempts(f"{target} of {level}, {inequality.name}", truths, bounds, DELTA)


def _predictions(wrong: np.ndarray, sure: float) -> TokenLosses:
    """Of a predictor that gives `sure` to one of two tokens; documents have two tokens."""
    count = len(wrong)
    entropy = -sure * math.log(sure) - (1 - sure) * math.log(1 - sure)
    return TokenLosses(
        np.where(wrong, -math.log(1 - sure), -math.log(sure)), np.full(count, entropy), wrong.astype(np.int64),
        np.tile([sure, 1.0, 1.0], (count, 1)), np.arange(count) // 2, 2,
    )  # fmt: skip


def shifts(rng: np.random.Generator, batch: int) -> Found:
    """Margins that fall as steeply as their constant allows on the way from source to target; the bound of two samples
    against the true error (with probability 1 - δ), and between the samples themselves (always)."""
    points, steep = 6, float(10 ** rng.uniform(-1, 1))
    spots = np.concatenate([np.zeros(3), np.full(3, rng.uniform(0.1, 1.0))]) + 0.05 * rng.random(points)
    margins = float(rng.uniform(0.05, 1.0)) * steep - steep * spots
    labels = (rng.random(points) < rng.choice([0.0, 0.3])).astype(int)
    margins = np.where(labels == 1, steep * rng.uniform(-1, 1), margins)  # equal labels have margins of one slope
    source, target = (rng.dirichlet(np.ones(points)) * half for half in ([1.0] * 3 + [0.0] * 3, [0.0] * 3 + [1.0] * 3))
    source, target = source / source.sum(), target / target.sum()
    apart, differ = np.abs(spots[:, None] - spots[None]), labels[:, None] != labels[None]
    items = int(rng.choice([20, 200, 2000]))
    errors, totals, losses_seen, certain = [], [], [], []
    for _ in range(max(1, batch // 16)):
        drawn, met = (rng.multinomial(items, p) / items for p in (source, target))
        rows, columns = np.flatnonzero(drawn), np.flatnonzero(met)
        tried, best = (
            margins_to_try(np.repeat(margins[rows], np.round(drawn[rows] * items).astype(int)), (0.1, 0.6)),
            9.0,
        )
        for margin in tried:
            costs = pair_costs(apart[np.ix_(rows, columns)], steep / margin, differ[np.ix_(rows, columns)])
            moved = solve(TransportProblem(MatrixCost(costs), drawn[rows], met[columns])).certificate.upper
            losses = ramp(margins, margin)
            losses_seen.append(float(losses @ met) * (1 - 1e-12))
            certain.append(float(losses @ drawn) + moved)
            bound = shift_bound(
                min(1.0, float(losses @ drawn)), moved, 0.0, constant=steep, margin=margin, items=items, delta=DELTA,
            )  # fmt: skip
            best = min(best, bound.total)
        errors.append(float(target @ (margins <= 0)))
        totals.append(best)
    yield Attempts("bound shift, between samples", losses_seen, certain)
    yield Attempts("bound shift, true error", errors, totals, DELTA)


def messages(rng: np.random.Generator, batch: int) -> Found:
    """Models with one float changed, against their messages. What is seen is the bits that a message takes, or infinity
    where it does not decode to what was sent, stands for two models, or is the beginning of another."""
    spec = SPECS[int(rng.integers(len(SPECS)))]
    scale = float(10.0 ** rng.choice([0, 0, -30, -44, 30]))
    tensors = {"w": (rng.normal(size=(4, 6)) * scale).astype(np.float32), "b": rng.normal(size=3).astype(np.float32)}
    first, bits, used, decoded_once = None, [], [], {}
    for _ in range(max(1, batch // 16)):
        message = encode(tensors, {"depth": 1}, make_quantiser(spec))
        decoded = decode(message.data)[1]
        lost = sum(int((decoded[n].view(np.uint32) != t.view(np.uint32)).sum()) for n, t in tensors.items())
        sent = tuple(decoded[name].tobytes() for name in sorted(decoded))
        collided = decoded_once.setdefault(message.framed(), sent) != sent
        prefixed = first is not None and first != message.framed() and message.framed().startswith(first)
        used.append(8 * len(message.framed()) if not (prefixed or collided or (spec == "exact" and lost)) else math.inf)
        bits.append(message.bits)
        first = message.framed()
        place = tuple(int(rng.integers(side)) for side in tensors["w"].shape)
        tensors["w"][place] = np.nextafter(tensors["w"][place], np.float32(rng.choice([-np.inf, np.inf])))
    yield Attempts("length of a message", used, bits)
