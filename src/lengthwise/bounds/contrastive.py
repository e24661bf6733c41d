"""What a contrastive loss on a sample guarantees for the distribution: a bound on InfoNCE with its own chance level.

An anchor u, its positive v and k negatives v_1 … v_k, all of length 1, have at temperature t the loss

    ln(1 + Σ_i exp((u·v_i - u·v) / t)),   between ln(1 + k e^(-2/t)) and ln(1 + k e^(2/t)),

and an encoder that gives every input the same vector has ln(1 + k), which is chance. The mean of losses that falls into
n blocks, independent of each other, is too small by more than Δ √((bits ln 2 + ln 1/δ) / 2n) with probability δ at
most, Δ the width of that range: Hoeffding's inequality, and for an encoder that was chosen on the same pairs a union
over all encoders that can be described in that many bits. Propositions 6 to 8 of docs/explanation/contexture.md, with
proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.special

from lengthwise.bounds.risk import BoundTerm, RiskBound
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim
from lengthwise.seeds import Floats, Ints

Tuples = Literal["batches", "disjoint"]
PAGE = "docs/explanation/contexture.md"

explain(
    {
        "contrastive.loss": "expected InfoNCE loss with {negatives} negatives",
        "contrastive.independent": "pairs are drawn independently of each other",
        "contrastive.fixed": "the encoder was fixed before the pairs were drawn",
        "contrastive.described": "the encoder has {bits:g} bits in a prefix-free code fixed before pairs were drawn",
        "contrastive.unit": "embeddings have length 1",
        "term.sample_loss": "loss on the sample",
        "term.sampling": "sampling",
    }
)


def loss_range(negatives: int, temperature: float) -> float:
    """Δ = ln((1 + k e^(2/t)) / (1 + k e^(-2/t))), at most 4/t; both ends are attained by vectors of length 1."""
    _check(negatives, temperature)
    k = math.log(negatives)
    return float(np.logaddexp(0, k + 2 / temperature) - np.logaddexp(0, k - 2 / temperature))


def unit_rows(vectors: Floats, what: str = "an embedding") -> Floats:
    """Rows divided by their lengths, in float64."""
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or 0 in rows.shape:
        raise UsageError(f"{what} must be a row of a table [pairs, dimensions], not of the shape {list(rows.shape)}")
    if not np.isfinite(rows).all():
        raise UsageError(
            f"{what} must have finite numbers; row {int(np.argmin(np.isfinite(rows).all(axis=1))) + 1} does not"
        )
    largest = np.abs(rows).max(axis=1, keepdims=True)
    if not largest.min() > 0:
        raise UsageError(f"{what} of length 0 has no direction; row {int(np.argmin(largest)) + 1} has length 0")
    rows = rows / largest  # so that no square overflows
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def block_losses(
    anchors: Floats, positives: Floats, negatives: int, temperature: float, tuples: Tuples = "batches"
) -> Floats:
    """The loss of each block of k + 1 successive pairs; pairs behind the last whole block are left out.

    batches    every pair of a block is an anchor once, and the others' positives are its negatives; their mean
    disjoint   the first pair of a block is the anchor and the others lend their positives
    Both have the same expectation and the same guarantee; batches use every pair and so vary less.
    """
    _check(negatives, temperature)
    u, v = unit_rows(anchors, "an anchor"), unit_rows(positives, "a positive")
    if u.shape != v.shape:
        raise UsageError(f"anchors and positives must have one shape, not {list(u.shape)} and {list(v.shape)}")
    blocks, size = len(u) // (negatives + 1), negatives + 1
    if blocks < 1:
        raise UsageError(f"{negatives} negatives need {size} pairs or more, not {len(u)}")
    losses = np.empty(blocks)
    for block in range(blocks):
        here = slice(block * size, (block + 1) * size)
        asked = u[here] if tuples == "batches" else u[here][:1]
        scores = asked @ v[here].T / temperature
        losses[block] = np.mean(scipy.special.logsumexp(scores, axis=1) - np.diagonal(scores))
    return losses


def effective_tuples(tuples: Ints) -> float:
    """n_eff of the plain mean over tuples [m, k + 1] that share pairs: m² / (Σ_c √m_c)², where they fall into families
    of m_c tuples such that no two of a family share a pair (proposition 8; janson2004, theorem 2.1). O(m k families).

    Families are found greedily, so it may be smaller than the best. floor(N / (k + 1)) instead is right for the mean
    over *all* tuples, and wrong in general: N tuples that share their negatives are hardly more than one.
    The tuples must be chosen without a look at the embeddings.
    """
    families: list[set[int]] = []
    sizes: list[int] = []
    for one in tuples.tolist():
        for index, family in enumerate(families):
            if family.isdisjoint(one):
                family.update(one)
                sizes[index] += 1
                break
        else:
            families.append(set(one))
            sizes.append(1)
    return len(tuples) ** 2 / sum(map(math.sqrt, sizes)) ** 2


@dataclass(frozen=True)
class ContrastiveBound:
    """The expected loss of an encoder is at most `risk.total`, with probability 1 - δ over the pairs."""

    risk: RiskBound
    negatives: int
    temperature: float
    delta: float
    bits: float
    effective: float

    @property
    def chance(self) -> float:
        return math.log(1 + self.negatives)

    def claim(self) -> Claim:
        return self.risk.claim()


def contrastive_bound(
    loss: float,
    effective: float,
    negatives: int,
    temperature: float,
    *,
    bits: float = 0.0,
    delta: float = 0.05,
    checked: bool = False,
) -> ContrastiveBound:
    """The bound from a mean loss over `effective` independent blocks; vacuous at or above ln(1 + k).

    `bits` is the length of a prefix-free description of the encoder, 0 where the pairs were held out of its training.
    `checked`: the loss was computed here from embeddings, so that its range is certain.
    """
    width = loss_range(negatives, temperature)
    if not (effective >= 1 and 0 <= bits < math.inf and 0 < delta < 1):
        raise UsageError(
            f"a bound needs 1 independent block or more, 0 bits or more and a delta between 0 and 1, "
            f"not {effective:g}, {bits:g} and {delta:g}"
        )
    lowest = float(np.logaddexp(0, math.log(negatives) - 2 / temperature))
    if not lowest - 1e-9 <= loss <= lowest + width + 1e-9:
        raise UsageError(f"a mean loss must lie between {lowest:.4g} and {lowest + width:.4g} nats here, not {loss:g}")
    gap = width * math.sqrt((bits * math.log(2) + math.log(1 / delta)) / (2 * effective))
    how = f"Δ √((bits ln 2 + ln 1/δ) / 2n), Δ = {width:.4g}, n = {effective:g}"
    described = Assumption("contrastive.described", values={"bits": bits})
    risk = RiskBound(
        key="contrastive.loss",
        terms=(BoundTerm("sample_loss", loss, "as measured"), BoundTerm("sampling", gap, how)),
        ceiling=math.log(1 + negatives),
        kind="certified" if checked else "proved",
        assumptions=(
            Assumption("contrastive.independent"),
            described if bits else Assumption("contrastive.fixed"),
            Assumption("contrastive.unit", "checked" if checked else "assumed"),
        ),
        statement="proposition 7",
        page=PAGE,
        evidence={
            "negatives": negatives,
            "chance": math.log(1 + negatives),
            "bits_per_choice": (loss + gap) / math.log(2),
            "range": width,
            "effective": effective,
            "delta": delta,
            "description_bits": bits,
            "temperature": temperature,
        },
    )
    return ContrastiveBound(risk, negatives, temperature, delta, bits, effective)


def _check(negatives: int, temperature: float) -> None:
    if negatives < 1:
        raise UsageError(f"a contrastive loss must have 1 negative or more, not {negatives}")
    if not 0 < temperature < math.inf or 2 / temperature > 700:
        raise UsageError(f"a temperature must be a finite number above 0.003, not {temperature:g}")
