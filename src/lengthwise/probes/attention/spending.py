"""Attention as transport: every query spends 1, and nothing constrains what a key receives.

A key's share is what it would receive if every query spread evenly over the keys it sees. A **hub** receives more than
three times its share, and more than two queries spend. The second condition is for decoders: the last keys are seen
by few queries and have tiny shares, so a head in which every token looks at itself would make hubs of them all, though
each receives 1.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from lengthwise.figures.plots import heat_figure
from lengthwise.geometry.attention_report import AttentionReport, attention_report, lipschitz_claim
from lengthwise.geometry.sinkhorn import sinkhorn
from lengthwise.messages import explain
from lengthwise.models.attention.sinkhorn import Sinkhorn
from lengthwise.models.forward import BlockTrace, Trace, hidden_keys
from lengthwise.models.parts import Anatomy, AttentionPart
from lengthwise.probes.geometry.verdicts import SEQUENCES, interval_of_mean
from lengthwise.probes.lipschitz.parts import attention_problem, largest_sharpness
from lengthwise.probes.shown.inputs import Inputs
from lengthwise.records import Assumption, Cell, Claim, Column, Figure, Table
from lengthwise.seeds import Floats

TIMES, QUERIES = 3.0, 2.0  # a hub receives more than this many times its share, and more than this many queries spend
HUBS_LISTED = 5  # per block
LONGEST_PLAN = 256  # tokens up to which a doubly stochastic plan is computed
TOLERANCE, MOST, BELIEVED = 1e-4, 300, 1e-2  # of a plan: when it stops, iterations, and the error up to which it counts

explain(
    {
        "attention.most": "most that a key receives, place {place} ({token}) in block {block} head {head}",
        "attention.no_constant": "Lipschitz constant of {rule} attention weights",
        "attention.these_inputs": "only these inputs were used",
        "attention.unknown_rule": "{reason}",
    }
)


@dataclass(frozen=True, eq=False)
class BlockAttention:
    """The attention of one block on all inputs; arrays are [sequences, heads, …].

    `even`: the mean entropy of a query that spreads evenly over what it sees. `plan`: how far the weights of the first
    head are from the doubly stochastic plan of the same logits; None where there is none or it was not found.
    """

    report: AttentionReport
    even: float
    plan: float | None

    @property
    def queries(self) -> int:
        return self.report.entropy.shape[-1]

    @property
    def hubs(self) -> NDArray[np.bool_]:
        """Which keys are hubs, [sequences, heads, keys]."""
        return self.report.hubs & (self.report.received > QUERIES)

    @property
    def to_hubs(self) -> Floats:
        """The part of attention that goes to hubs, [sequences, heads]."""
        return (self.report.received * self.hubs).sum(axis=-1) / self.queries

    @property
    def columns_off(self) -> Floats:
        """Half the l1 distance between what keys receive and their shares, as a part of all attention."""
        return 0.5 * np.abs(self.report.received - self.report.share).sum(axis=-1) / self.queries

    @property
    def top(self) -> tuple[int, int, int]:
        """Sequence, head and place of the key that receives most."""
        sequence, head, place = np.unravel_index(self.report.received.argmax(), self.report.received.shape)
        return int(sequence), int(head), int(place)


def attention_content(anatomy: Anatomy, trace: Trace, inputs: Inputs) -> dict[str, Any]:
    """Text, claims, tables and figures of the record."""
    parts = [block.attention for block in anatomy.blocks]
    found = [measure_attention(part, one) for part, one in zip(parts, trace.blocks, strict=True)]
    return {
        "text": _text(found),
        "claims": (*_claims(found, inputs), *_constants(parts, found[0].queries)),
        "tables": (_by_block(found), _by_head(found), _hubs(found, inputs)),
        "figures": (_figure(found),),
    }


def measure_attention(part: AttentionPart, trace: BlockTrace) -> BlockAttention:
    """What the weights of a block say, under the mask that the block has."""
    weights = trace.attention_weights
    visible = ~hidden_keys(part, weights.shape[-1])
    report = attention_report(weights.cpu().double().numpy(), visible.numpy(), TIMES)
    return BlockAttention(report, float(visible.sum(dim=1).double().log().mean()), _plan_distance(part, trace))


def _plan_distance(part: AttentionPart, trace: BlockTrace) -> float | None:
    """The part of attention that would have to move for the first head to be doubly stochastic; for encoders alone,
    as a causal doubly stochastic plan is the identity, and not for hardmax, which has no temperature."""
    logits, weights = trace.attention_logits[:, 0], trace.attention_weights[:, 0]
    known = part.law.fused or isinstance(part.law, Sinkhorn)
    if part.causal or not known or logits.shape[-1] > LONGEST_PLAN:
        return None
    with torch.no_grad():
        plan = sinkhorn(logits, 1.0, math.inf, TOLERANCE, MOST)
    if not plan.error <= BELIEVED:
        return None
    return float((plan.weights - weights).abs().sum(dim=-1).mean()) / 2


# --- words and claims -----------------------------------------------------------------------------------------------


def _text(found: list[BlockAttention]) -> tuple[str, ...]:
    hubs = sum(int(block.hubs.any(axis=(0, 2)).sum()) for block in found)
    heads = sum(block.hubs.shape[1] for block in found)
    return (
        "Every query spends 1 on the keys it sees. A key's share is what it would receive if all spread evenly. "
        f"A hub receives more than {TIMES:g} times its share, and more than {QUERIES:g} queries spend; "
        f"{hubs} of {heads} heads have one.",
        "The Lipschitz constant says how fast weights can change with scores (scale · q·k, and the bias of positions). "
        "Weights are those of the scores times a sharpness, so the temperature ε is 1 / sharpness, at its least.",
    )


def _claims(found: list[BlockAttention], inputs: Inputs) -> list[Claim]:
    seen = (Assumption("attention.these_inputs"), SEQUENCES)
    size = {"sequences": len(inputs.tokens), "tokens": found[0].queries, "blocks": len(found)}
    to_hubs = np.mean([block.to_hubs.mean(axis=1) for block in found], axis=0)
    entropy = np.mean([block.report.entropy.mean(axis=(1, 2)) for block in found], axis=0)
    even = float(np.mean([block.even for block in found]))
    measured = [
        ("attention.to_hubs", to_hubs, "of 1", {"hub_above": TIMES, "and_above": QUERIES}),
        ("attention.entropy", entropy, "nats", {"even": even}),
    ]
    claims = []
    for key, values, unit, more in measured:
        interval = interval_of_mean(values) if values.std() > 0 else None  # no hubs at all are no interval of width 0
        value, evidence = float(values.mean()), {**size, **more}
        claims.append(Claim(key, value, unit, "measured", "holds", interval, seen, None, evidence))
    return [*claims, _most(found, inputs, seen[:1])]


def _most(found: list[BlockAttention], inputs: Inputs, seen: tuple[Assumption, ...]) -> Claim:
    """The key that receives most of all."""
    number = max(range(len(found)), key=lambda n: found[n].report.received.max())
    block = found[number]
    sequence, head, place = block.top
    token = inputs.name(int(inputs.tokens[sequence, place]))
    where = {"block": number, "head": head, "sequence": sequence, "place": place, "token": token}
    evidence = {**where, "queries": block.queries, "times_share": float(block.report.ratio[block.top])}
    value = float(block.report.received[block.top]) / block.queries
    return Claim("attention.most", value, "of all attention there", "measured", assumptions=seen, evidence=evidence)


def _constants(parts: list[AttentionPart], length: int) -> list[Claim]:
    """The Lipschitz constant of each kind of attention there is in the model, once."""
    claims = [_constant(part, length) for part in parts]
    return list({(claim.key, claim.value, str(claim.evidence)): claim for claim in claims}.values())


def _constant(part: AttentionPart, length: int) -> Claim:
    joint = isinstance(part.law, Sinkhorn)
    if not part.law.fused and not joint:
        why = (Assumption("attention.unknown_rule", "caveat", {"reason": attention_problem(part)}),)
        return Claim("attention.no_constant", None, "", "proved", "refused", None, why, evidence={"rule": part.rule})
    rule = "softmax" if not joint else "sinkhorn_prefixes" if part.causal else "sinkhorn"
    return lipschitz_claim(1.0 / largest_sharpness(part, length), rule)


# --- tables and figures ---------------------------------------------------------------------------------------------

_BLOCK = Column("block", "whole")


def _by_block(found: list[BlockAttention]) -> Table:
    plans = any(block.plan is not None for block in found)
    note = (
        "means over heads and sequences; entropy: of a query, in nats, next to that of even spreading; most: what the "
        "key that receives most gets, in queries, and over its share; columns off: half the l1 distance between what "
        "keys receive and their shares, relative to all attention"
    )
    if plans:
        note += "; plan off: the part of head 0 that would move for every key to receive 1, with the same logits"
    rows = []
    for number, block in enumerate(found):
        report, top = block.report, block.top
        values = (report.entropy.mean(), block.even, report.received[top], report.ratio[top])
        values += (block.to_hubs.mean(), block.columns_off.mean())
        rows.append((number, *map(float, values), *((block.plan,) if plans else ())))
    names = ("entropy", "even", "most", "over_share", "to_hubs", "columns_off", *(("plan_off",) if plans else ()))
    return Table("attention.by_block", (_BLOCK, *map(Column, names)), tuple(rows), "Attention by block", note)


def _by_head(found: list[BlockAttention]) -> Table:
    rows = []
    for number, block in enumerate(found):
        parts = (block.report.entropy.mean(axis=(0, 2)), block.report.received.max(axis=(0, 2)))
        parts += (block.to_hubs.mean(axis=0), block.columns_off.mean(axis=0))
        rows += [(number, head, *map(float, values)) for head, values in enumerate(zip(*parts, strict=True))]
    columns = (_BLOCK, Column("head", "whole"), *map(Column, ("entropy", "most", "to_hubs", "columns_off")))
    return Table("attention.by_head", columns, tuple(rows), "Attention by head", detail=True)


def _hubs(found: list[BlockAttention], inputs: Inputs) -> Table:
    """The hubs of each block that receive most: a place and the token there, over all heads and sequences."""
    rows: list[tuple[Cell, ...]] = []
    for number, block in enumerate(found):
        keys: dict[tuple[int, int], list[tuple[float, float]]] = defaultdict(list)
        for sequence, head, place in np.argwhere(block.hubs).tolist():
            at, token = (sequence, head, place), int(inputs.tokens[sequence, place])
            keys[place, token].append((block.report.received[at], block.report.ratio[at]))
        ordered = sorted(keys.items(), key=lambda item: -sum(received for received, _ in item[1]))
        for (place, token), got in ordered[:HUBS_LISTED]:
            rows.append((number, place, inputs.name(token), len(got), *np.mean(got, axis=0).tolist()))
    columns = (_BLOCK, Column("place", "whole"), Column("token", "text"), Column("times", "whole"))
    note = (
        "times: number of pairs of a head and a sequence; receives: in queries; "
        f"at most {HUBS_LISTED} per block; places count from 0"
    )
    columns += (Column("receives"), Column("over_share"))
    return Table("attention.hubs", columns, tuple(rows), "Hubs", note, detail=True)


def _figure(found: list[BlockAttention]) -> Figure:
    means = [block.to_hubs.mean(axis=0) for block in found]
    cells = [(head, block, float(value)) for block, heads in enumerate(means) for head, value in enumerate(heads)]
    head, block, most = max(cells, key=lambda cell: cell[2])
    words = f"The most is {most:.2g} of a head's attention, in block {block} head {head}."
    title = "Attention that goes to hubs, by block and head"
    return heat_figure("attention.to_hubs", title, words, ("head", "block"), cells)
