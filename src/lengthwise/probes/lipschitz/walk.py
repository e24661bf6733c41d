"""The walk through a model that certifies it: every part gets its constant on the set that reaches it."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from lengthwise.bounds.lipschitz.attention import attention_bound, behind_norm
from lengthwise.bounds.lipschitz.bound import PartBound, Region
from lengthwise.bounds.lipschitz.layers import gated_mlp_bound, norm_bound, plain_mlp_bound
from lengthwise.bounds.lipschitz.rounding import spectral_norm, up
from lengthwise.models.forward import apply_attention, apply_mlp, apply_norm
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart, NormPart
from lengthwise.probes.lipschitz.heads import array, attention_problem, heads_of, near_constants, sight_of
from lengthwise.probes.lipschitz.region import region_of
from lengthwise.records import Claim
from lengthwise.seeds import Floats


@dataclass(frozen=True, eq=False)
class CertifiedPart:
    """One part: its bounds in both norms, or the reason why it has none."""

    part: str
    token: PartBound
    frobenius: PartBound
    refused: str = ""

    def of(self, norm: str) -> PartBound:
        return self.token if norm == "token" else self.frobenius

    def claims(self) -> list[Claim]:
        claims = [self.token.claim(), self.frobenius.claim()]
        if not self.refused:
            return claims
        evidence = {"reason": self.refused}
        return [
            dataclasses.replace(c, value=None, status="refused", evidence={**c.evidence, **evidence}) for c in claims
        ]


@dataclass(frozen=True, eq=False)
class WhatIsRead:
    """What a part reads through a norm (or through none): the set, and how the norm's weights act on matrices."""

    region: Region
    x: Tensor | None
    moved: float  # how far a token of it can be from the given one
    weight: Floats | None = None
    bias: Floats | None = None
    centred: bool = False
    constant: float = 1.0


class CertifyingWalk:
    """`token` and `frobenius` are the constants so far, `region` holds the residual stream, `x` is the residual stream
    of the given inputs (None where none are given), `moved` how far a token can be from it by now."""

    def __init__(
        self,
        anatomy: Anatomy,
        length: int,
        region: Region,
        x: Tensor | None = None,
        at: Tensor | None = None,
        widening: float = 0.0,
    ) -> None:
        self.width, self.length = anatomy.width, length
        self.region, self.x, self.at, self.widening = region, x, at, widening
        self.token = self.frobenius = 1.0
        self.rows: list[CertifiedPart] = []
        for number, block in enumerate(anatomy.blocks):
            (self._pre if block.order == "pre" else self._post)(block, f"block {number}")
        self._end(anatomy)

    @property
    def moved(self) -> float:
        return 0.0 if self.widening == 0 else self.widening * self.token

    # One block

    def _pre(self, block: BlockPart, name: str) -> None:
        reading = self._read(block.norm_attention, f"{name} attention norm")
        self._add(self._attention(block.attention, reading, f"{name} attention"), reading.constant)
        if self.x is not None:
            read = self.x if block.norm_attention is None else apply_norm(block.norm_attention, self.x)
            self.x = self.x + apply_attention(block.attention, read, self._at)[0]
        reading = self._read(block.norm_mlp, f"{name} MLP norm")
        self._add(self._mlp(block.mlp, reading, f"{name} MLP"), reading.constant)
        if self.x is not None:
            read = self.x if block.norm_mlp is None else apply_norm(block.norm_mlp, self.x)
            self.x = self.x + apply_mlp(block.mlp, read)

    def _post(self, block: BlockPart, name: str) -> None:
        self._add(self._attention(block.attention, self._read(None, ""), f"{name} attention"), 1.0)
        if self.x is not None:
            self.x = self.x + apply_attention(block.attention, self.x, self._at)[0]
        self._norm(block.norm_attention, f"{name} attention norm")
        self._add(self._mlp(block.mlp, self._read(None, ""), f"{name} MLP"), 1.0)
        if self.x is not None:
            self.x = self.x + apply_mlp(block.mlp, self.x)
        self._norm(block.norm_mlp, f"{name} MLP norm")

    def _end(self, anatomy: Anatomy) -> None:
        if anatomy.head is None:
            self._norm(anatomy.norm_final, "final norm")
            return
        reading = self._read(anatomy.norm_final, "final norm")
        constant = spectral_norm(behind_norm(array(anatomy.head), reading.weight, reading.centred))
        reach = up(constant * reading.region.reach)
        bound = PartBound("head", constant, "token", None, reach, "statement 1", {"outputs": len(anatomy.head)})
        self._row(bound)
        self._times(reading.constant * constant, reading.constant * constant)

    # Steps

    @property
    def _at(self) -> Tensor:
        assert self.at is not None
        return self.at

    def _read(self, norm: NormPart | None, name: str) -> WhatIsRead:
        """The residual stream as a part reads it. A norm's weight and bias are left to the matrices behind it, which
        makes their norms smaller than the product of both."""
        region = self._here()
        if norm is None:
            return WhatIsRead(region, self.x, self.moved)
        bound = norm_bound(norm.kind, self.width, norm.eps, region, part=name)
        self._row(bound)
        x = None
        if self.x is not None:
            plain = dataclasses.replace(norm, weight=torch.ones_like(norm.weight), bias=None)
            x = apply_norm(plain, self.x)
        weight, bias = array(norm.weight), None if norm.bias is None else array(norm.bias)
        moved = 0.0 if self.moved == 0 else up(min(self.moved * bound.constant, 2 * bound.reach))
        return WhatIsRead(Region(bound.reach), x, moved, weight, bias, norm.kind == "layer", bound.constant)

    def _norm(self, norm: NormPart | None, name: str) -> None:
        """A norm that the residual stream itself passes through."""
        if norm is None:
            return
        region = self._here()
        weight, bias = array(norm.weight), None if norm.bias is None else array(norm.bias)
        bound = norm_bound(norm.kind, self.width, norm.eps, region, weight, part=name)
        self._row(bound)
        self.region = Region(bound.reach, center=bias)
        self.x = None if self.x is None else apply_norm(norm, self.x)
        self._times(bound.constant, bound.constant)

    def _attention(self, part: AttentionPart, reading: WhatIsRead, name: str) -> CertifiedPart:
        heads = [
            head.behind_norm(reading.weight, reading.bias, reading.centred) for head in heads_of(part, self.length)
        ]
        sight = sight_of(part, self.length)
        out_bias = None if part.bo is None else array(part.bo)
        both = [attention_bound(heads, reading.region, norm, sight, out_bias, name) for norm in ("token", "frobenius")]
        problem = attention_problem(part)
        if problem:
            both = [dataclasses.replace(bound, constant=math.inf) for bound in both]
        elif reading.x is not None and math.isfinite(reading.moved):
            near = near_constants(part, heads, self._original(reading), self._at, reading.moved, sight)
            text = f"inputs whose tokens are within {reading.moved:.3g} of what a given sequence has there"
            both = [
                bound
                if bound.constant <= constant
                else dataclasses.replace(bound, constant=constant, statement="statement 7", region_text=text)
                for bound, constant in zip(both, near, strict=True)
            ]
        return CertifiedPart(name, both[0], both[1], problem)

    def _original(self, reading: WhatIsRead) -> Tensor:
        """What the part really reads, weights and biases of the norm included."""
        assert reading.x is not None
        x = reading.x if reading.weight is None else reading.x * torch.from_numpy(reading.weight)
        return x if reading.bias is None else x + torch.from_numpy(reading.bias)

    def _mlp(self, part: MlpPart, reading: WhatIsRead, name: str) -> CertifiedPart:
        def folded(matrix: Tensor, bias: Tensor | None) -> tuple[Floats, Floats | None]:
            shift = None if reading.bias is None else array(matrix) @ reading.bias
            own = None if bias is None else array(bias)
            both = shift if own is None else own if shift is None else own + shift
            return behind_norm(array(matrix), reading.weight, reading.centred), both

        w_in, b_in = folded(part.w_in, part.b_in)
        w_out, b_out = array(part.w_out), None if part.b_out is None else array(part.b_out)
        if part.w_gate is None:
            bound = plain_mlp_bound(w_in, w_out, part.activation, reading.region, b_in, b_out, part=name)
        else:
            w_gate, b_gate = folded(part.w_gate, part.b_gate)
            largest = (_largest(w_in, b_in, reading), _largest(w_gate, b_gate, reading))
            bound = gated_mlp_bound(
                w_in, w_gate, w_out, part.activation, reading.region, (b_in, b_gate, b_out), part=name, largest=largest
            )
        return CertifiedPart(name, bound, dataclasses.replace(bound, norm="frobenius"))

    # What the steps share

    def _here(self) -> Region:
        """The region of the residual stream: as tracked and, where given inputs are followed, also around them."""
        if self.x is None or not math.isfinite(self.moved):
            return self.region
        around = region_of(self.x, self.moved)
        smaller = around if around.reach <= self.region.reach else self.region
        spread, size = max(around.spread, self.region.spread), max(around.size, self.region.size)
        return Region(smaller.radius, spread, size, smaller.center)

    def _row(self, bound: PartBound) -> None:
        self.rows.append(CertifiedPart(bound.part, bound, dataclasses.replace(bound, norm="frobenius")))

    def _add(self, row: CertifiedPart, read: float) -> None:
        """A residual connection around a part that reads through a norm with the constant `read`."""
        self.rows.append(row)
        self.region = self._here().plus(row.token.reach, self.width)
        self._times(1.0 + read * row.token.constant, 1.0 + read * row.frobenius.constant)

    def _times(self, token: float, frobenius: float) -> None:
        self.token, self.frobenius = up(self.token * token), up(self.frobenius * frobenius)


def _largest(matrix: Floats, bias: Floats | None, reading: WhatIsRead) -> float:
    """The largest coordinate of matrix z + bias over the given inputs and around them; infinite if unknown."""
    if reading.x is None or not math.isfinite(reading.moved):
        return math.inf
    values = reading.x.numpy() @ matrix.T + (0.0 if bias is None else bias)
    return up(float(np.abs(values).max()) + float(np.linalg.norm(matrix, axis=1).max()) * reading.moved)
