"""Margins of attention: by how much the best key of a query beats the second best, for each head on given inputs.

A large margin makes attention hard (nearly all weight on one key) and stable against changes of the logits; softmax
over n keys gives the best at least 1 / (1 + (n - 1) e^-margin), so a fixed margin means less the longer the input.

What is measured is the margin on these inputs. The least margin over all inputs can only be smaller. Two logits that
differ by no more than rounding are a tie, which is counted and not mistaken for a tiny margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.messages import explain
from lengthwise.models.forward import Trace
from lengthwise.models.parts import Anatomy
from lengthwise.records import Assumption, Claim

explain(
    {
        "margins.least": "smallest attention margin",
        "margins.ties": "share of queries whose best two keys tie",
        "margins.these_inputs": (
            "only these inputs were used; the smallest margin over all inputs can only be smaller"
        ),
    }
)


@dataclass(frozen=True)
class AttentionMargin:
    """One head: how many queries see two keys or more, the share of them whose best two tie, and of the others the
    least and the median margin (None where all tie); and the mean weight on the best key."""

    layer: int
    head: int
    queries: int
    ties: float
    least: float | None
    median: float | None
    weight: float


@dataclass(frozen=True)
class Margins:
    """The margins of all heads; two logits within `tolerance` (relative to the larger, at least 1) tie."""

    heads: tuple[AttentionMargin, ...]
    tolerance: float
    items: int
    tokens: int

    def claims(self) -> list[Claim]:
        """The least margin of all, and how often there was none."""
        known = [(head.least, head) for head in self.heads if head.least is not None]
        queries = sum(head.queries for head in self.heads)
        tied = sum(head.ties * head.queries for head in self.heads) / queries if queries else 0.0
        evidence = {"n": self.items, "tokens": self.tokens, "queries": queries, "tie_tolerance": self.tolerance}
        note = (Assumption("margins.these_inputs"),)
        if not known:
            why = {**evidence, "why": "no query has a single best key"}
            return [Claim("margins.least", None, "logits", "measured", "unknown", None, note, None, why)]
        least, head = min(known, key=lambda pair: pair[0])
        where = {**evidence, "layer": head.layer, "head": head.head}
        return [
            Claim("margins.least", least, "logits", "measured", assumptions=note, evidence=where),
            Claim("margins.ties", tied, "share", "measured", evidence=evidence),
        ]


def margins(anatomy: Anatomy, trace: Trace) -> Margins:
    """The margins of a forward pass; blocks and heads count from 0."""
    tolerance = 1e-9 if trace.embedded.dtype == torch.float64 else 1e-4
    found = []
    for layer, (block, seen) in enumerate(zip(anatomy.blocks, trace.blocks, strict=True)):
        tie = float(getattr(block.attention.law, "tie", 0.0))  # hardmax has a tolerance of its own
        for head in range(block.attention.heads):
            logits, weights = seen.attention_logits[:, head], seen.attention_weights[:, head]
            found.append(_head(layer, head, logits, weights, tolerance, tie))
    return Margins(tuple(found), tolerance, *trace.embedded.shape[:2])


def _head(layer: int, head: int, logits: Tensor, weights: Tensor, tolerance: float, tie: float) -> AttentionMargin:
    """Logits and weights [B, queries, keys] of one head."""
    if logits.shape[-1] < 2:
        return AttentionMargin(layer, head, 0, 0.0, None, None, 1.0)
    best, second = logits.topk(2, dim=-1).values.unbind(-1)
    seen = second.isfinite()  # a query that sees one key has no second
    best, gap = best[seen], (best - second)[seen]
    tied = gap <= (tolerance * best.abs().clamp(min=1.0)).clamp(min=tie)
    alone = gap[~tied]
    return AttentionMargin(
        layer,
        head,
        queries=len(gap),
        ties=float(tied.double().mean()) if len(gap) else 0.0,
        least=float(alone.min()) if len(alone) else None,
        median=float(alone.median()) if len(alone) else None,
        weight=float(weights.amax(dim=-1)[seen].mean()) if len(gap) else 1.0,
    )
