"""Each head of a model fitted by one inverse temperature, on the directions of the residual stream its block reads.

The particle model has no queries, keys, values or positions of its own, so most heads of a trained model need not fit.
The share of deviance explained says how far one does; a beta with a small share describes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.figures.plots import heat_figure
from lengthwise.geometry.clusters import directions
from lengthwise.geometry.temperature import BetaFit, fit_beta
from lengthwise.messages import explain
from lengthwise.models.forward import BlockTrace, Trace, hidden_keys
from lengthwise.models.parts import Anatomy, AttentionPart
from lengthwise.probes.geometry.verdicts import SEQUENCES, interval_of_mean
from lengthwise.records import Assumption, Cell, Claim, Column, Figure, Reference, Table

FITS = 0.5  # share of deviance explained from which a head is said to fit
explain(
    {
        "temperature.explained": "share of deviance explained, median over {heads} heads",
        "temperature.fitting": "heads with a share of at least {fits:g}",
        "temperature.best": "inverse temperature of the head that fits best, block {block} head {head}, which "
        "explains {explained:.3f}",
        "temperature.model": "attention is modelled by inner products of the residual vectors alone, without queries, "
        "keys and positions; the share explained says how far that holds",
        "temperature.chosen": "the head was chosen as the best of all",
        "temperature.inputs": "only these inputs were used",
        "temperature.even": "the head does not spread evenly",
    }
)


@dataclass(frozen=True)
class HeadFit:
    """One head: the fit to all sequences together, and the beta of each sequence alone."""

    block: int
    head: int
    fit: BetaFit
    betas: tuple[float, ...]


def fit_block(part: AttentionPart, trace: BlockTrace, block: int) -> list[HeadFit]:
    """The heads of a block; points are the residual stream on the way in, divided by their lengths."""
    weights = trace.attention_weights.cpu().double().numpy()  # [B, H, T, T]
    points = np.stack([directions(one.double().numpy()) for one in trace.entered.cpu()])
    products = points @ points.transpose(0, 2, 1)
    visible = ~hidden_keys(part, weights.shape[-1]).numpy()
    return [
        HeadFit(
            block,
            head,
            fit_beta(products, weights[:, head], visible),
            tuple(fit_beta(one, spent, visible).beta for one, spent in zip(products, weights[:, head], strict=True)),
        )
        for head in range(weights.shape[1])
    ]


def temperature_content(anatomy: Anatomy, trace: Trace, described: str) -> dict[str, Any]:
    """Text, claims, tables and figures of the record."""
    found: list[HeadFit] = []
    for number, (block, one) in enumerate(zip(anatomy.blocks, trace.blocks, strict=True)):
        found += fit_block(block.attention, one, number)
    text = (
        f"Shown: {described}. For each head, the beta for which softmax(beta <x, y>) over the keys a query sees is "
        "nearest to its attention (maximum likelihood); x and y are the directions of the residual vectors that the "
        "block reads.",
        "Explained: the share of deviance that beta explains, relative to spreading evenly; 1 is an exact fit, and "
        f"below {FITS:g} beta says little about the head. A beta below 0 prefers unlike tokens.",
    )
    return {
        "text": text,
        "claims": tuple(temperature_claims(found)),
        "tables": (_table(found),),
        "figures": _figures(found),
    }


def temperature_claims(found: list[HeadFit]) -> list[Claim]:
    """How well the heads fit, and the beta of the one that fits best."""
    rests = (Assumption("temperature.model"), Assumption("temperature.inputs"), SEQUENCES)
    source = Reference("geshkovski2023", "self-attention dynamics with Q = K = I; fit in docs/explanation/geometry.md")
    shares = {(one.block, one.head): one.fit.explained for one in found}
    known = [share for share in shares.values() if share is not None]
    fitting = sum(share >= FITS for share in known)
    seen = {"heads": len(found), "fits": FITS, "even": len(found) - len(known)}
    if not known:
        even = (Assumption("temperature.even", "violated"),)
        return [Claim("temperature.explained", None, "of 1", "measured", "unknown", None, even, source, seen)]
    spread = {**seen, "least": min(known), "most": max(known)}
    best = max(found, key=lambda one: -1.0 if one.fit.explained is None else one.fit.explained)
    share = best.fit.explained
    assert share is not None
    evidence = {"block": best.block, "head": best.head, "explained": share, "betas": list(best.betas)}
    evidence["bounded"] = best.fit.bounded
    status = "holds" if share >= FITS and best.fit.bounded else "vacuous"
    chosen = (*rests, Assumption("temperature.chosen"))
    interval = interval_of_mean(np.array(best.betas))
    if interval is not None and best.fit.beta not in interval:
        interval = None  # sequences differ in how much they say, and their mean is not the fit to all
    unit = f"of {len(known)}"
    return [
        Claim(
            "temperature.explained", float(np.median(known)), "of 1", "measured", "holds", None, rests, source, spread
        ),
        Claim("temperature.fitting", fitting, unit, "measured", "holds", None, rests, source, spread),
        Claim("temperature.best", best.fit.beta, "", "measured", status, interval, chosen, source, evidence),
    ]


def _table(found: list[HeadFit]) -> Table:
    rows: list[tuple[Cell, ...]] = []
    for one in found:
        fit = one.fit
        rows.append((one.block, one.head, fit.beta, min(one.betas), max(one.betas), fit.explained, fit.null))
    columns = (
        Column("block", "whole"),
        Column("head", "whole"),
        Column("beta"),
        Column("least", title="least of a sequence"),
        Column("greatest", title="greatest"),
        Column("explained"),
        Column("to_explain", title="to explain, nats"),
    )
    note = (
        "explained: share of deviance; to explain: how far attention is from even spreading, per query; least and "
        "greatest: beta of single sequences"
    )
    return Table("temperature.heads", columns, tuple(rows), "Inverse temperature by head", note)


def _figures(found: list[HeadFit]) -> tuple[Figure, ...]:
    cells = [(one.head, one.block, one.fit.explained) for one in found if one.fit.explained is not None]
    if not cells:
        return ()
    head, block, most = max(cells, key=lambda cell: cell[2])
    words = f"The best fit explains {most:.2f}, in block {block} head {head}."
    title = "Share of deviance that one inverse temperature explains, by block and head"
    return (heat_figure("temperature.explained", title, words, ("head", "block"), cells),)
