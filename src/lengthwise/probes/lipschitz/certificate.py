"""A certified Lipschitz constant of a whole model, part by part, on a stated set of inputs.

Inputs are what the first block reads: embeddings with their position vectors, [T, W]. Three sets can be asked for:

`ball`      every token anywhere in the smallest ball around the origin that holds all embeddings;
`tokens`    any two sequences of tokens of the model, and nothing between them: norms then divide by the least spread
            that an embedding really has, where the ball holds tokens with none;
near        given sequences, with every token moved by at most a stated `widening` (`certify_near`): regions come from
            the hidden states that are really there, and attention from its actual covariance.

What no constant exists for (hardmax jumps) or is known of is listed with the reason, and the whole is then refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from lengthwise.bounds.lipschitz.attention import attention_bound, behind_norm
from lengthwise.bounds.lipschitz.bound import ARITHMETIC, NORMS, PartBound, Region
from lengthwise.bounds.lipschitz.layers import gated_mlp_bound, norm_bound, plain_mlp_bound
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.models.forward import apply_attention, apply_mlp, apply_norm, embed
from lengthwise.models.parts import Anatomy, AttentionPart, MlpPart, NormPart
from lengthwise.probes.lipschitz.parts import (
    array,
    attention_problem,
    heads_of,
    input_region,
    near_constants,
    near_text,
    region_of,
    sight_of,
)
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.rounding import (
    Numbers,
    Rounded,
    Upper,
    applied,
    gamma,
    largest_entry,
    largest_row,
    lengths,
    rounded,
    spectral_norm,
)
from lengthwise.seeds import Floats

explain(
    {
        "lipschitz.whole": "Lipschitz constant of {model} for {where}",
        "lipschitz.no_bound": "{part}: {reason}",
        "lipschitz.left_out": "{module} is left out: {reason}",
    }
)

Where = Literal["ball", "tokens"]


@dataclass(frozen=True, eq=False)
class CertifiedPart:
    """One part: its bounds in both norms, or the reason why it has none."""

    part: str
    token: PartBound
    frobenius: PartBound
    refused: str = ""

    def claims(self) -> list[Claim]:
        claims = [self.token.claim(), self.frobenius.claim()]
        if self.refused:
            more = {"reason": self.refused}
            claims = [replace(c, value=None, status="refused", evidence={**c.evidence, **more}) for c in claims]
        return claims


@dataclass(frozen=True, eq=False)
class LipschitzCertificate:
    """What was certified: one row per part, the constants of the whole in both norms, and the parts left out.

    `rows` is never empty; a part without a constant has its reason in `refused`. `radius` is the largest norm of an
    input token.
    """

    where: str
    radius: float
    rows: tuple[CertifiedPart, ...]
    token: Claim
    frobenius: Claim
    skipped: tuple[tuple[str, str], ...]

    def claims(self) -> list[Claim]:
        """The whole first, then the parts in the order of the forward pass, each in both norms."""
        return [self.token, self.frobenius, *(claim for row in self.rows for claim in row.claims())]


def certify(anatomy: Anatomy, length: int, where: Where = "ball") -> LipschitzCertificate:
    """The constant of the whole model between any two inputs of `length` tokens in the set."""
    if where not in ("ball", "tokens"):
        raise UsageError(
            f"a certificate is for the 'ball' or for the 'tokens', not {where!r}; certify_near is for inputs"
        )
    if length < 1:
        raise UsageError(f"a sequence must have at least 1 token, not {length}")
    if anatomy.longest is not None and length > anatomy.longest:
        raise UsageError(f"{anatomy.name} has {anatomy.longest} positions, so a length of {length} is too long")
    region = input_region(anatomy, length)
    if where == "ball":
        region = Region(region.reach)
    kind = "any two sequences of tokens" if where == "tokens" else "any two inputs"
    text = f"{kind} of {length} tokens, {region}"
    return _certificate(anatomy, CertifyingWalk(anatomy, length, region), text, region)


def certify_near(anatomy: Anatomy, tokens: Tensor, widening: float = 0.0) -> LipschitzCertificate:
    """The constant between any two inputs that lie within `widening` (each token) of the same given sequence.

    `tokens` [B, T]. With widening 0 it bounds the norm of the derivative at the given sequences.
    """
    if tokens.ndim != 2 or not tokens.numel():
        raise UsageError(
            f"sequences are given as whole numbers [items, tokens], not with the shape {tuple(tokens.shape)}"
        )
    if not 0 <= widening < math.inf:
        raise UsageError(f"the widening must be a radius of 0 or more, not {widening}")
    at = anatomy.places(tokens.shape[1])
    with torch.no_grad():
        x = embed(anatomy, tokens, at)
        region = region_of(x, widening)
        walk = CertifyingWalk(anatomy, tokens.shape[1], region, x, at, widening)
    return _certificate(anatomy, walk, near_text(len(tokens), widening), region)


def _certificate(anatomy: Anatomy, walk: CertifyingWalk, text: str, region: Region) -> LipschitzCertificate:
    token, frobenius = (_whole(anatomy, walk, norm, text) for norm in ("token", "frobenius"))
    return LipschitzCertificate(text, region.reach, tuple(walk.rows), token, frobenius, anatomy.skipped)


def _whole(anatomy: Anatomy, walk: CertifyingWalk, norm: str, text: str) -> Claim:
    constant: float = getattr(walk, norm)
    finite, refused = math.isfinite(constant), [row for row in walk.rows if row.refused]
    assumptions = [Assumption("lipschitz.valid", "checked", {"where": text}), *ARITHMETIC]
    for row in refused:
        values = {"part": row.part, "reason": row.refused}
        assumptions.append(Assumption("lipschitz.no_bound", "caveat", values))
    for module, reason in anatomy.skipped:
        assumptions.append(Assumption("lipschitz.left_out", values={"module": module, "reason": reason}))
    rows = {row.part: getattr(row, norm).constant for row in walk.rows if not row.refused}
    return Claim(
        key="lipschitz.whole",
        value=constant if finite else None,
        unit=f"at most, in {NORMS[norm]}",
        kind="certified",
        status="refused" if refused else "holds" if finite else "vacuous",
        assumptions=tuple(assumptions),
        reference=Reference("docs/explanation/bounds.md", "statements 1 to 10"),
        evidence={"model": anatomy.name, "norm": norm, "where": text, "length": walk.length, "parts": rows},
    )


# --- the walk through a model: every part gets its constant on the set that reaches it -------------------------------


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
            attention = block.attention, block.norm_attention, f"block {number} attention"
            mlp = block.mlp, block.norm_mlp, f"block {number} MLP"
            if block.order == "parallel":
                self._parts((attention, mlp), pre=True)
            else:
                self._parts((attention,), block.order == "pre")
                self._parts((mlp,), block.order == "pre")
        self._end(anatomy)

    @property
    def moved(self) -> float:
        return 0.0 if self.widening == 0 else float(Upper(self.widening) * self.token)

    def _parts(self, parts: Sequence[tuple[AttentionPart | MlpPart, NormPart | None, str]], pre: bool) -> None:
        """Parts that read the same residual stream and are added to it, each with its norm before (`pre`), or one part
        with its norm behind."""
        region, x, token, frobenius = self._here(), self.x, Upper(1.0), Upper(1.0)
        for part, norm, name in parts:
            reading = self._read(norm if pre else None, f"{name} norm")
            attends = isinstance(part, AttentionPart)
            row = self._attention(part, reading, name) if attends else self._mlp(part, reading, name)
            self.rows.append(row)
            region = region.plus(row.token.reach, self.width)
            token = token + Upper(reading.constant) * row.token.constant
            frobenius = frobenius + Upper(reading.constant) * row.frobenius.constant
            if x is not None:
                read = self._original(reading)
                x = x + (apply_attention(part, read, self._at)[0] if attends else apply_mlp(part, read))
        self.region, self.x = region, x
        self._times(token, frobenius)
        if not pre:
            ((_, norm, name),) = parts
            self._norm(norm, f"{name} norm")

    def _end(self, anatomy: Anatomy) -> None:
        if anatomy.head is None:
            self._norm(anatomy.norm_final, "final norm")
            return
        reading = self._read(anatomy.norm_final, "final norm")
        constant = spectral_norm(behind_norm(array(anatomy.head), reading.weight, reading.centred))
        reach = float(Upper(constant) * reading.region.reach)
        evidence = {"outputs": len(anatomy.head)}
        self.rows.append(_both(PartBound("head", constant, "token", None, reach, "statement 1", evidence)))
        both = Upper(reading.constant) * constant
        self._times(both, both)

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
        self.rows.append(_both(bound))
        x = None
        if self.x is not None:
            x = apply_norm(replace(norm, weight=torch.ones_like(norm.weight), bias=None), self.x)
        weight, bias = array(norm.weight), None if norm.bias is None else array(norm.bias)
        moved = 0.0
        if self.moved > 0:
            moved = float((Upper(self.moved) * bound.constant).smaller(Upper(bound.reach) * 2.0))
        return WhatIsRead(Region(bound.reach), x, moved, weight, bias, norm.kind == "layer", bound.constant)

    def _norm(self, norm: NormPart | None, name: str) -> None:
        """A norm that the residual stream itself passes through."""
        if norm is None:
            return
        region = self._here()
        weight, bias = array(norm.weight), None if norm.bias is None else array(norm.bias)
        bound = norm_bound(norm.kind, self.width, norm.eps, region, weight, part=name)
        self.rows.append(_both(bound))
        self.region = Region(bound.reach, center=bias)
        self.x = None if self.x is None else apply_norm(norm, self.x)
        self._times(Upper(bound.constant), Upper(bound.constant))

    def _attention(self, part: AttentionPart, reading: WhatIsRead, name: str) -> CertifiedPart:
        norm = reading.weight, reading.bias, reading.centred
        heads, sight = [head.behind_norm(*norm) for head in heads_of(part, self.length)], sight_of(part, self.length)
        out_bias = None if part.bo is None else array(part.bo)
        both = [attention_bound(heads, reading.region, each, sight, out_bias, name) for each in ("token", "frobenius")]
        problem = attention_problem(part)
        if problem:
            both = [replace(bound, constant=math.inf) for bound in both]
        elif reading.x is not None and math.isfinite(reading.moved):
            near = near_constants(part, heads, self._original(reading), self._at, reading.moved, sight)
            text = f"inputs whose tokens are within {reading.moved:.3g} of what a given sequence has there"
            both = [
                bound
                if bound.constant <= constant
                else replace(bound, constant=constant, statement="statement 7", region_text=text)
                for bound, constant in zip(both, near, strict=True)
            ]
        return CertifiedPart(name, both[0], both[1], problem)

    def _original(self, reading: WhatIsRead) -> Tensor:
        """What the part really reads, weights and biases of the norm included."""
        assert reading.x is not None
        x = reading.x if reading.weight is None else reading.x * torch.from_numpy(reading.weight).to(reading.x.device)
        return x if reading.bias is None else x + torch.from_numpy(reading.bias).to(x.device)

    def _mlp(self, part: MlpPart, reading: WhatIsRead, name: str) -> CertifiedPart:
        def folded(matrix: Tensor, bias: Tensor | None) -> tuple[Rounded, Numbers | None]:
            own = None if bias is None else array(bias)
            both = own if reading.bias is None else applied(array(matrix), reading.bias, own)
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
        return _both(bound)

    def _here(self) -> Region:
        """The region of the residual stream: as tracked and, where given inputs are followed, also around them."""
        if self.x is None or not math.isfinite(self.moved):
            return self.region
        around = region_of(self.x, self.moved)
        smaller = around if around.reach <= self.region.reach else self.region
        spread, size = max(around.spread, self.region.spread), max(around.size, self.region.size)
        return Region(smaller.radius, spread, size, smaller.center)

    def _times(self, token: Upper, frobenius: Upper) -> None:
        self.token, self.frobenius = float(token * self.token), float(frobenius * self.frobenius)


def _both(bound: PartBound) -> CertifiedPart:
    """A part that acts on each token alone: one constant in both norms."""
    return CertifiedPart(bound.part, bound, replace(bound, norm="frobenius"))


def _largest(matrix: Rounded, bias: Numbers | None, reading: WhatIsRead) -> float:
    """The largest coordinate of matrix z + bias over the given inputs and around them; infinite if unknown."""
    if reading.x is None or not math.isfinite(reading.moved):
        return math.inf
    tokens = array(reading.x).reshape(-1, matrix.shape[1])
    own = rounded(np.zeros(len(matrix)) if bias is None else bias)
    row, longest = Upper(largest_row(matrix)), lengths(tokens).largest()
    lost = longest * row * gamma(matrix.shape[1] + 4) + longest * matrix.error + own.error
    seen = Upper(largest_entry(tokens @ matrix.values.T + own.values)) * (1.0 + gamma(4))
    return float(seen + lost + row * reading.moved)
