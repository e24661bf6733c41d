"""The probe `lipschitz`: how much a model can stretch distances, as certified and as found by search."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.probes.probe import probes
from lengthwise.probes.shown import Look, WeightsProbe
from lengthwise.records import Claim, Column, Record, Table

_USELESS = 1e6  # times more certified than seen
_NEAR, _BALL, _TOKENS = "near the inputs", "any input in the ball", "any two token sequences"


@probes.register("lipschitz")
@dataclass(frozen=True)
class LipschitzProbe(WeightsProbe):
    """Lipschitz constants of the whole model: certified upper bounds, and lower bounds by attack."""

    title = "Lipschitz constants"

    def answer(self, look: Look) -> Record:
        import torch

        from lengthwise.probes.lipschitz.attack import has_derivative, lower_bound, lower_bound_near
        from lengthwise.probes.lipschitz.certificate import certify, certify_near

        if look.anatomy.embed.dtype != torch.float64:
            raise UsageError(
                "certificates are computed from float64 weights, and those of so large a model are float32"
            )
        tokens = look.inputs.tokens[:1, :16] if look.large else look.inputs.tokens
        length = tokens.shape[1]
        sets = {_NEAR: certify_near(look.anatomy, tokens)}
        seen = {}
        if has_derivative(look.anatomy):
            seen[_NEAR] = lower_bound_near(look.anatomy, tokens, steps=3 if look.large else 20, seed=look.seed)
        if not look.large:
            sets[_BALL] = certify(look.anatomy, length)
            sets[_TOKENS] = certify(look.anatomy, length, "tokens")
            seen[_BALL] = lower_bound(look.anatomy, length, attempts=8, steps=20, seed=look.seed)
        rows = []
        for name, certificate in sets.items():
            least, most = _number(seen.get(name)), _number(certificate.token)
            if least is not None and most is not None and least > most * (1 + 1e-9):
                raise AssertionError(f"{name}: {least} was seen where at most {most} is certified")
            rows.append((name, least, most, _number(certificate.frobenius)))
        least, most = rows[0][1:3]
        text = [
            f"How much the output can change for a change of what the first block reads, on sequences of {length} "
            "tokens. Token: the longest change of a token; Frobenius: of all tokens together. What was seen is a lower "
            "bound, what is certified an upper one; near the inputs, both bound the derivative there."
        ]
        if least and most and most > _USELESS * least:
            text.append(
                f"Near the inputs, {most / least:.1g} times more is certified than was seen: too loose to be useful."
            )
        if look.large:
            text.append(
                f"Because the model is large, only the first {length} tokens of the first sequence were used, and no "
                "constant for all inputs was computed."
            )
        columns = (
            Column("set", "text"),
            Column("seen_token", title="seen, token"),
            Column("certified_token", title="certified, token"),
            Column("certified_frobenius", title="certified, Frobenius"),
        )
        part_columns = (Column("part", "text"), Column("token"), Column("frobenius", title="Frobenius"))
        parts = tuple((r.part, r.token.constant, r.frobenius.constant, r.refused) for r in sets[_NEAR].rows)
        title = "Certified constants of the parts, near the inputs"
        return self.record(
            text=tuple(text),
            claims=tuple(c for name in sets for c in (*([seen[name]] if name in seen else []), sets[name].token)),
            tables=(
                Table("lipschitz.constants", columns, tuple(rows), "Constants"),
                Table("lipschitz.parts", (*part_columns, Column("refused", "text")), parts, title, detail=True),
            ),
        )


def _number(claim: Claim | None) -> float | None:
    return float(claim.value) if claim is not None and isinstance(claim.value, int | float) else None
