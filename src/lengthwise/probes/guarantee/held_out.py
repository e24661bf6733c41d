"""What the bounded quantities really are, as far as that can be had: measured on fresh items, or computed exactly.

A bound of documents is about fresh documents: items that nobody trained on are drawn with the sizes of training, and
their mean loss has an interval. A bound of tokens is about what is expected given the contexts seen: where a task
knows the probabilities of its answers that is computed without any draw; where answers follow from their prompts it is
the loss itself.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from lengthwise.bounds.tokens.problem import TokenBound, rank_limit
from lengthwise.messages import explain
from lengthwise.probes.guarantee import GuaranteeProbe
from lengthwise.probes.guarantee.losses import Rows
from lengthwise.probes.guarantee.source import ItemSource
from lengthwise.records import Claim, Interval
from lengthwise.seeds import Floats
from lengthwise.subjects.predictor import Predictor
from lengthwise.subjects.run import StoredRun
from lengthwise.tasks.batch import SPECIALS, Batch

AT_ONCE = 1 << 16  # tokens of a stretch
LEVEL = 0.95

explain(
    {
        "guarantee.plain_loss": "plain loss of fresh items",
        "guarantee.on_fresh_items": "{target} ({inequality}): measured on fresh items",
        "guarantee.in_contexts": "{target} ({inequality}): expected given the contexts seen, from the task's own "
        "probabilities",
    }
)


@dataclass(frozen=True)
class HeldOutCheck:
    """Claims about what was measured, and the bounds that it exceeds, in words. `plain` is the loss on fresh items of
    the model as it is, without smoothing, which no bound is about."""

    claims: tuple[Claim, ...]
    broken: tuple[str, ...]
    plain: Claim | None = None


@dataclass(frozen=True)
class _Setting:
    """What of a bound decides the loss it is about: its target and its smoothing."""

    target: str
    alpha: float | None


_PLAIN = _Setting("loss", 0.0)


def held_out_check(
    run: StoredRun, predictor: Predictor, bounds: tuple[TokenBound, ...], items: int, seed: int
) -> HeldOutCheck:
    """The quantity of every bound, on `items` fresh items (documents) or on the contexts of as many training items."""
    settings = sorted({_Setting(one.target, one.alpha) for one in bounds}, key=str)
    fresh = _by_item(predictor, _rows(run, items, seed, "held-out"), [*settings, _PLAIN], _loss_of_answers)
    exact = not run.task.certain
    claims, broken = [], []
    seen: dict[_Setting, tuple[Floats, Floats]] = {}
    if exact:
        rows = _rows(run, items, seed, "train")
        seen = _by_item(predictor, rows, settings, functools.partial(_expected_loss, run))
    for one in bounds:
        setting = _Setting(one.target, one.alpha)
        if one.level == "documents":
            claim = _of_documents(one, *fresh[setting])
        elif exact:
            whole = items >= run.recipe.steps * run.recipe.batch
            claim = _of_contexts(one, *seen[setting], whole)
        else:
            continue
        claims.append(claim)
        low = claim.interval.low if claim.interval else claim.value
        if isinstance(low, float) and low > one.total:
            what = f"{one.target} ({one.inequality}, {one.level})"
            broken.append(f"{what}: {claim.value:.4f} was measured, above the bound {one.total:.4f}")
    return HeldOutCheck(tuple(claims), tuple(broken), _plain_loss(*fresh[_PLAIN]))


def _plain_loss(sums: Floats, counts: Floats) -> Claim:
    interval = _interval(sums / counts)
    evidence = {"items": len(sums), "alpha": 0.0}
    value = float((sums / counts).mean())
    return Claim("guarantee.plain_loss", value, "nats per token", "measured", interval=interval, evidence=evidence)


def _of_documents(one: TokenBound, sums: Floats, counts: Floats) -> Claim:
    return _claim(one, "guarantee.on_fresh_items", _interval(sums / counts), len(sums))


def _of_contexts(one: TokenBound, sums: Floats, counts: Floats, whole: bool) -> Claim:
    """The mean over tokens: a ratio of two means over items, whose spread is that of each item's residual."""
    mean = float(sums.sum() / counts.sum())
    interval = Interval(mean, mean, 1.0, "all training items, no draw")
    if not whole:
        interval = _interval(mean + (sums - mean * counts) / counts.mean())
    return _claim(one, "guarantee.in_contexts", interval, len(sums))


def _claim(one: TokenBound, key: str, interval: Interval, items: int) -> Claim:
    evidence = {name: getattr(one, name) for name in ("target", "level", "inequality", "alpha")}
    evidence |= {"bound": one.total, "items": items, "below_bound": interval.high <= one.total}
    value = (interval.low + interval.high) / 2
    return Claim(key, value, one.unit, "measured", interval=interval, evidence=evidence)


def _interval(values: Floats) -> Interval:
    mean, spread = float(values.mean()), float(values.std(ddof=1))
    half = 1.96 * spread / math.sqrt(len(values))
    alike = "" if spread else ", which were all alike"
    return Interval(mean - half, mean + half, LEVEL, f"normal approximation over {len(values)} items{alike}")


# --- losses, item by item -------------------------------------------------------------------------------------------

Measure = Callable[[Batch, torch.Tensor, _Setting], Floats]


def _rows(run: StoredRun, items: int, seed: int, role: str) -> Iterator[Rows]:
    source = ItemSource(run, GuaranteeProbe(sample=items), seed + 1, role, count=False)
    for stretch in source.stretches(AT_ONCE):
        yield from stretch.passes()


@torch.no_grad()
def _by_item(
    predictor: Predictor, rows: Iterator[Rows], settings: list[_Setting], measure: Measure
) -> dict[_Setting, tuple[Floats, Floats]]:
    """For each setting the sum of losses of every item and how many tokens it has."""
    sums: dict[_Setting, list[Floats]] = {setting: [] for setting in settings}
    counts: list[Floats] = []
    for part in rows:
        batch, item = part.batch, np.nonzero(part.batch.scored)[0]
        states = predictor.states(torch.from_numpy(batch.inputs), torch.from_numpy(batch.scored))
        logits = predictor.logits(states).cpu().double()
        counts.append(batch.scored.sum(axis=1).astype(np.float64))
        for setting in settings:
            losses = measure(batch, logits, setting)
            sums[setting].append(np.bincount(item, weights=losses, minlength=len(batch.inputs)).astype(np.float64))
    whole = np.concatenate(counts)
    return {setting: (np.concatenate(found), whole) for setting, found in sums.items()}


def _loss_of_answers(batch: Batch, logits: torch.Tensor, setting: _Setting) -> Floats:
    targets = torch.from_numpy(batch.targets[batch.scored].astype(np.int64))[:, None]
    return _loss_of_all(logits, setting).gather(1, targets)[:, 0].numpy()


def _expected_loss(run: StoredRun, batch: Batch, logits: torch.Tensor, setting: _Setting) -> Floats:
    """Σ P(token | what came before) x loss(token): no token is drawn."""
    answers = np.where(batch.scored, batch.targets - len(SPECIALS), 0)
    true = np.exp(run.task.log_probabilities(answers))[batch.scored]  # pyright: ignore[reportAttributeAccessIssue]
    losses = _loss_of_all(logits, setting)[:, len(SPECIALS) :].numpy()
    return np.where(true > 0, true * losses, 0.0).sum(axis=1)


def _loss_of_all(logits: torch.Tensor, setting: _Setting) -> torch.Tensor:
    """The loss that each token of the vocabulary would bring, [tokens, V]."""
    if setting.alpha is None:
        k = rank_limit(setting.target)  # pyright: ignore[reportArgumentType]
        likelier = logits.shape[1] - torch.searchsorted(logits.sort(dim=1).values, logits)  # those as likely and itself
        return (likelier - 1 >= k).double()
    if setting.alpha == 0:
        return -logits.log_softmax(dim=1)  # a probability may be too small for a number, its logarithm is not
    p = logits.softmax(dim=1)
    return -((1 - setting.alpha) * p + setting.alpha / p.shape[1]).log()
