"""A report on attention weights: how much each key receives, how spread out rows are, and which keys are hubs.

`lipschitz_claim` says how fast weights can change with scores: softmax(·/ε) is 1/(2ε)-Lipschitz in l2 (statement 1 of
docs/explanation/attention.md), and so is the plan of `sinkhorn` in the Frobenius norm, for every τ (statement 2). Row i
of `sinkhorn_prefixes` is a row of such a plan: 1/(2ε) from the scores of its prefix to that row, √n/(2ε) from all
scores to all rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Floats

Rule = Literal["softmax", "sinkhorn", "sinkhorn_prefixes"]

explain(
    {
        "attention.most_received": "most attention received",
        "attention.to_hubs": "attention that goes to hubs",
        "attention.entropy": "mean entropy of a query",
        "attention.these_weights": "only these weights were examined",
        "attention.lipschitz": "Lipschitz constant of {rule} attention weights at temperature {epsilon:g}",
        "attention.exact": "weights are those of exact arithmetic, at the optimum",
    }
)


@dataclass(frozen=True, eq=False)
class AttentionReport:
    """`received` [..., m]: what each key gets from all queries. `share` [m]: what it would get if every query spread
    evenly over the keys it sees. `entropy` [..., n]: of each row, in nats. `hubs` [..., m]: keys that receive more than
    `times` their share."""

    received: Floats
    share: Floats
    entropy: Floats
    hubs: NDArray[np.bool_]
    times: float

    @property
    def ratio(self) -> Floats:
        """Received over share; 0 for a key that no query sees."""
        return np.divide(self.received, self.share, out=np.zeros_like(self.received), where=self.share > 0)

    def claims(self) -> list[Claim]:
        """The largest ratio, how much of attention goes to hubs, and the mean entropy."""
        queries = self.entropy.size
        evidence = {"queries": queries, "keys": self.share.size, "hub_above": self.times}
        note = (Assumption("attention.these_weights"),)
        to_hubs = float((self.received * self.hubs).sum() / queries)
        rows = [
            ("attention.most_received", float(self.ratio.max()), "times the share of a key"),
            ("attention.to_hubs", to_hubs, "of 1"),
            ("attention.entropy", float(self.entropy.mean()), "nats"),
        ]
        return [Claim(*row, "measured", assumptions=note, evidence=evidence) for row in rows]


def attention_report(weights: Any, visible: Any = None, times: float = 3.0) -> AttentionReport:
    """The report of weights [..., n, m], rows summing to one; `visible` [n, m] is False where a key is not seen.

    Under a causal mask the first keys are seen by many queries and receive much from even spreading alone: their share
    counts that, so a hub is a key that is sought and not one that is merely early.
    """
    weights = np.asarray(weights, dtype=np.float64)
    if weights.ndim < 2 or not weights.size:
        raise UsageError(f"attention weights must be [..., queries, keys] and not empty, not {weights.shape}")
    if not times > 0:
        raise UsageError(f"a hub receives more than a number above 0 times its share, not {times}")
    if not (weights >= 0).all() or not np.allclose(weights.sum(axis=-1), 1.0, rtol=0, atol=1e-4):
        raise UsageError("attention weights are 0 or more and every row sums to 1; these are not, or do not")
    seen = np.ones(weights.shape[-2:], bool) if visible is None else np.asarray(visible, dtype=bool)
    if seen.shape != weights.shape[-2:] or not seen.any(axis=1).all():
        raise UsageError(f"visible is [queries, keys] = {weights.shape[-2:]}, with a key for every query")
    if (weights * ~seen).max() > 0:
        raise UsageError("a key that is not visible receives attention; the mask belongs to other weights")
    share = (seen / seen.sum(axis=1, keepdims=True)).sum(axis=0)
    received = weights.sum(axis=-2)
    logs = np.log(weights, out=np.zeros_like(weights), where=weights > 0)
    entropy = np.maximum(-(weights * logs).sum(axis=-1), 0.0)
    return AttentionReport(received, share, entropy, received > times * share, times)


def lipschitz_claim(epsilon: float, rule: Rule = "softmax") -> Claim:
    """The constant 1/(2ε) of statements 1 and 2, from scores to weights."""
    if not 0 < epsilon < math.inf:
        raise UsageError(f"the temperature epsilon must be above 0 and finite, not {epsilon}")
    units = {
        "softmax": "at most, l2 of a row of scores to l2 of its weights",
        "sinkhorn": "at most, Frobenius norm of the scores to that of the weights",
        "sinkhorn_prefixes": "at most, Frobenius norm of the scores of a prefix to l2 of the weights of its last query",
    }
    if rule not in units:
        raise UsageError(f"a constant is known for {', '.join(units)}, not for {rule!r}")
    place = "statement 1" if rule == "softmax" else "statement 2"
    return Claim(
        key="attention.lipschitz",
        value=1.0 / (2.0 * epsilon),
        unit=units[rule],
        kind="proved",
        assumptions=(Assumption("attention.exact"),),
        reference=Reference("docs/explanation/attention.md", place),
        evidence={
            "rule": rule,
            "epsilon": epsilon,
            "attained": "p = (1/2, 1/2), direction (1, -1)" if rule == "softmax" else "",
        },
    )
