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
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from lengthwise.bounds.lipschitz.bound import NORMS, Region
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.models.forward import embed
from lengthwise.models.parts import Anatomy
from lengthwise.probes.lipschitz.region import input_region, region_of
from lengthwise.probes.lipschitz.walk import CertifiedPart, CertifyingWalk
from lengthwise.records import Assumption, Claim, Reference

explain(
    {
        "lipschitz.whole": "Lipschitz constant of {model} for {where}",
        "lipschitz.no_bound": "{part}: {reason}",
        "lipschitz.left_out": "{module} is left out: {reason}",
    }
)

Where = Literal["ball", "tokens"]


@dataclass(frozen=True, eq=False)
class LipschitzCertificate:
    """What was certified: one row per part, the constants of the whole in both norms, and what was left out.

    `rows` is never empty; a part without a constant has its reason in `refused`. `radius` is the largest norm of an
    input token, `widening` how far tokens may move from the given ones (None where a whole set was asked for).
    """

    name: str
    where: str
    length: int
    radius: float
    rows: tuple[CertifiedPart, ...]
    token: Claim
    frobenius: Claim
    skipped: tuple[tuple[str, str], ...]
    widening: float | None = None

    def claims(self) -> list[Claim]:
        """The whole first, then the parts in the order of the forward pass, each in both norms."""
        return [self.token, self.frobenius, *(claim for row in self.rows for claim in row.claims())]


def certify(anatomy: Anatomy, length: int, where: Where = "ball") -> LipschitzCertificate:
    """The constant of the whole model between any two inputs of `length` tokens in the set."""
    if where not in ("ball", "tokens"):
        raise UsageError(
            f"a certificate is for the 'ball' or for the 'tokens', not {where!r}; certify_near is for inputs"
        )
    _check_length(anatomy, length)
    region = input_region(anatomy, length)
    if where == "ball":
        region = Region(region.reach)
    kind = "any two sequences of tokens" if where == "tokens" else "any two inputs"
    text = f"{kind} of {length} tokens, {region}"
    walk = CertifyingWalk(anatomy, length, region)
    return _certificate(anatomy, walk, text, region, None)


def certify_near(
    anatomy: Anatomy, tokens: Tensor, widening: float = 0.0, at: Tensor | None = None
) -> LipschitzCertificate:
    """The constant between any two inputs that lie within `widening` (each token) of the same given sequence.

    `tokens` [B, T]. With widening 0 it bounds the norm of the derivative at the given sequences.
    """
    if tokens.ndim != 2 or not tokens.numel():
        raise UsageError(
            f"sequences are given as whole numbers [items, tokens], not with the shape {tuple(tokens.shape)}"
        )
    if not 0 <= widening < math.inf:
        raise UsageError(f"the widening is a radius of 0 or more, not {widening}")
    at = anatomy.places(tokens.shape[1]) if at is None else at
    with torch.no_grad():
        x = embed(anatomy, tokens, at)
        region = region_of(x, widening)
        walk = CertifyingWalk(anatomy, tokens.shape[1], region, x, at, widening)
    text = f"two inputs within {widening:g} per token of the same one of {len(tokens)} given sequences"
    return _certificate(anatomy, walk, text, region, widening)


def _certificate(
    anatomy: Anatomy, walk: CertifyingWalk, text: str, region: Region, widening: float | None
) -> LipschitzCertificate:
    refused = [row for row in walk.rows if row.refused]
    whole = {
        norm: _whole(anatomy, walk, norm, constant, text, refused)
        for norm, constant in (("token", walk.token), ("frobenius", walk.frobenius))
    }
    return LipschitzCertificate(
        anatomy.name,
        text,
        walk.length,
        region.reach,
        tuple(walk.rows),
        whole["token"],
        whole["frobenius"],
        anatomy.skipped,
        widening,
    )


def _whole(
    anatomy: Anatomy, walk: CertifyingWalk, norm: str, constant: float, text: str, refused: list[CertifiedPart]
) -> Claim:
    assumptions = [Assumption("lipschitz.valid", "checked", {"where": text}), Assumption("lipschitz.exact")]
    assumptions += [
        Assumption("lipschitz.no_bound", "violated", {"part": row.part, "reason": row.refused}) for row in refused
    ]
    assumptions += [
        Assumption("lipschitz.left_out", values={"module": module, "reason": reason})
        for module, reason in anatomy.skipped
    ]
    finite = math.isfinite(constant)
    rows = {row.part: row.of(norm).constant for row in walk.rows if not row.refused}
    return Claim(
        key="lipschitz.whole",
        value=constant if finite else None,
        unit=f"at most, in {NORMS[norm]}",
        kind="certified",
        status="refused" if refused else "holds" if finite else "vacuous",
        assumptions=tuple(assumptions),
        reference=Reference("docs/bounds.md", "statements 1 to 10"),
        evidence={"model": anatomy.name, "norm": norm, "where": text, "length": walk.length, "parts": rows},
    )


def _check_length(anatomy: Anatomy, length: int) -> None:
    if length < 1:
        raise UsageError(f"a sequence has at least 1 token, not {length}")
    if anatomy.longest is not None and length > anatomy.longest:
        raise UsageError(f"{anatomy.name} has {anatomy.longest} positions, so a length of {length} is too long")
