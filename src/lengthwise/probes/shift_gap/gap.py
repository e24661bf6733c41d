"""The shift gap: how much the output changes when all positions move by s and nothing else changes.

gap(s) = max over sequences x and tokens i of |f(x; p)_i - f(x; p + s)_i|, with p the usual positions.

Proposition. Let a model have no table of absolute positions, and let its logits depend on positions through rotations
R(p) of queries and keys by angles p θ, and through a bias b with b(p_i + s, p_j + s) = b(p_i, p_j) for all tokens i, j.
Then f(x; p + s) = f(x; p) for every x.
Proof. Rotations by p θ are a group: R(p_i + s)ᵀ R(p_j + s) = R(p_j - p_i) = R(p_i)ᵀ R(p_j). So if the hidden states
that enter an attention are equal, its logits are; masks, windows and sharpness depend on places and not on positions,
so its weights and its output are equal too. All other parts act on each token alone. The embeddings are equal, as there
is no table; by induction over the parts, so is the output. ∎

A distance between inputs that does not see where they begin is 0 between x at p and x at p + s. If the gap is above 0
there is therefore no constant L with |f - f'| <= L d: the quotient is unbounded, and the pair is the witness.

An index shift is not a longer input: a longer input has more tokens, and distances between them that training may never
have shown. A shift gap of 0 says nothing about those.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.models.forward import run
from lengthwise.models.parts import Anatomy
from lengthwise.records import Assumption, Claim, Reference

explain(
    {
        "shift_gap.largest": "largest shift gap",
        "shift_gap.exact": "shift gap in exact arithmetic",
        "shift_gap.quotient": "Lipschitz constant for a distance that ignores shifts",
        "shift_gap.not_length": "an index shift is not a longer input: there are no more tokens, and they are no "
        "further apart",
        "shift_gap.other_inputs": "other inputs may change more",
        "shift_gap.no_counterexample": "shifts are no counterexample; whether there is a constant is another question",
        "shift_gap.distance": "the distance between an input and the same input shifted is 0",
        "shift_gap.no_positions": "no positions are used; there is no table of absolute positions",
        "shift_gap.rotations": (
            "positions enter through rotations, which depend on distances alone; there is no table of "
            "absolute positions"
        ),
        "shift_gap.bias": "positions enter through a bias, which was compared and is equal for all of these shifts; "
        "there is no table of absolute positions",
        "shift_gap.rotations_and_bias": (
            "positions enter through rotations, which depend on distances alone, and a bias, which was "
            "compared and is equal for all of these shifts; there is no table of absolute positions"
        ),
    }
)


@dataclass(frozen=True)
class ShiftRow:
    """One shift: the largest change of an output vector, that as a share of the usual size of outputs, and the share of
    tokens whose best-scored output becomes another (None where the outputs are hidden states)."""

    shift: int
    gap: float
    share: float
    changed: float | None


@dataclass(frozen=True)
class ShiftGap:
    """The gap over a range of shifts. A gap up to `tolerance` is what rounding makes of 0; `why` is the reason why it
    is 0 for every input, or None; `size` is the root mean square of the norms of output vectors."""

    rows: tuple[ShiftRow, ...]
    tolerance: float
    size: float
    items: int
    tokens: int
    why: Assumption | None

    @property
    def worst(self) -> ShiftRow:
        return max(self.rows, key=lambda row: row.gap)

    @property
    def invariant(self) -> bool:
        """Whether no shift changed any output by more than rounding does."""
        return self.worst.gap <= self.tolerance

    def claims(self) -> list[Claim]:
        """The gap that was measured, why it is 0 where that is known, and what it says of Lipschitz constants."""
        worst, source = self.worst, Reference("docs/how-to/inspect.md", "shift gap")
        not_length = Assumption("shift_gap.not_length", "checked")
        evidence = {"shifts": [row.shift for row in self.rows], "n": self.items, "tokens": self.tokens}
        evidence |= {"tolerance": self.tolerance, "output_size": self.size}
        seen = (not_length, Assumption("shift_gap.other_inputs"))
        where = {**evidence, "shift": worst.shift, "share_of_output_size": worst.share}
        unit = "change of an output vector (l2)"
        claims = [Claim("shift_gap.largest", worst.gap, unit, "measured", assumptions=seen, evidence=where)]
        if self.why is not None:
            unit, seen = f"for every input of {self.tokens} tokens", {**evidence, "measured": worst.gap}
            claims.append(
                Claim("shift_gap.exact", 0.0, unit, "proved", "holds", None, (self.why, not_length), source, seen)
            )
        key = "shift_gap.quotient"
        if self.invariant:
            note = (Assumption("shift_gap.no_counterexample"),)
            return [*claims, Claim(key, None, "", "measured", "unknown", None, note, source)]
        distance = (Assumption("shift_gap.distance"),)
        witness = {"shift": worst.shift, "distance": 0.0, "gap": worst.gap, "rounding": self.tolerance}
        return [*claims, Claim(key, "unbounded", "", "certified", "holds", None, distance, source, witness)]


def shift_gap(anatomy: Anatomy, tokens: Tensor) -> ShiftGap:
    """The gap on sequences [B, T] for each of the usual shifts, by one forward pass each."""
    at = anatomy.places(tokens.shape[1])
    shifts = usual_shifts(anatomy, int(at.max()))
    if not shifts:
        raise UsageError(
            f"the inputs use all of the {anatomy.longest} positions of {anatomy.name}, so none is left to move to; "
            "shorter inputs would leave some"
        )
    with torch.no_grad():
        still = run(anatomy, tokens, at)
        size = float(still.output.norm(dim=-1).square().mean().sqrt())
        rows = []
        for shift in shifts:
            moved = run(anatomy, tokens, at + shift).output
            gap = float((moved - still.output).norm(dim=-1).max())
            changed = None
            if still.logits is not None:
                changed = float((moved.argmax(-1) != still.logits.argmax(-1)).double().mean())
            rows.append(ShiftRow(shift, gap, gap / size if size else 0.0, changed))
        why = _why_invariant(anatomy, at, shifts)
    rounding = 1e-10 if still.output.dtype == torch.float64 else 1e-3
    return ShiftGap(tuple(rows), rounding * max(1.0, size), size, *tokens.shape, why=why)


def usual_shifts(anatomy: Anatomy, last: int) -> list[int]:
    """1, 2, 4, ..., 1024, as far as there are positions behind `last`, and the furthest there is; every third of them
    for a model of over 20 million parameters."""
    room = 1024 if anatomy.longest is None else min(1024, anatomy.longest - 1 - last)
    doubling = [2**k for k in range(0, 11, 3 if anatomy.parameters > 20_000_000 else 1)]
    return sorted({shift for shift in doubling if shift <= room} | ({room} if 0 < room < 1024 else set()))


def _why_invariant(anatomy: Anatomy, at: Tensor, shifts: Sequence[int]) -> Assumption | None:
    """The assumption of the proposition where it holds for these positions and shifts, else None."""
    parts = [block.attention for block in anatomy.blocks]
    if anatomy.table is not None or any(part.scores is not None for part in parts):
        return None
    biases = [part.bias for part in parts if part.bias is not None]
    for bias in biases:
        still = bias(at, at)
        if not all(torch.equal(bias(at + shift, at + shift), still) for shift in shifts):
            return None
    turned = any(part.rotary is not None for part in parts)
    how = ("rotations_and_bias" if turned else "bias") if biases else "rotations" if turned else "no_positions"
    return Assumption(f"shift_gap.{how}", "checked")
