"""Attacks on certified Lipschitz constants: random and trained models, all encodings, at least 20,000 attempts.

An attempt is a pair of inputs of the certified set that climbs the quotient of distances by gradient ascent, with
power iteration on the derivative before and after. A certificate is violated when an attempt exceeds it.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field

import torch
from rows import Row, standalone
from torch import Tensor
from torch.nn.functional import cross_entropy

from lengthwise.bounds.lipschitz import Region, attention_bound
from lengthwise.bounds.lipschitz.bound import Norm
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.forward import apply_attention, embed, run_from
from lengthwise.models.parts import Anatomy, AttentionPart
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import positions
from lengthwise.probes.lipschitz.attack import Map, attack, in_ball, near
from lengthwise.probes.lipschitz.certificate import certify, certify_near
from lengthwise.probes.lipschitz.parts import heads_of, sight_of

ENCODINGS = (
    "none",
    "learned",
    "sinusoidal",
    "rope",
    "rope:scaling=yarn,factor=4",
    "rope:scaling=dynamic,original=3",
    "alibi",
    "t5",
    "kerple",
    "fire",
)
NORMS: tuple[Norm, Norm] = ("token", "frobenius")
LENGTH, VOCABULARY = 5, 7


@dataclass
class Tally:
    """What came of the attempts so far; `worst` is the largest observed/certified of each kind of target."""

    attempts: int = 0
    violations: int = 0
    worst: dict[str, float] = field(default_factory=dict)

    def count(self, kind: str, f: Map, inside: Map, start: Tensor, norm: Norm, certified: float, share: float) -> None:
        """Attack from every item of `start`; `share` is the size of the set beside that of a token."""
        found = attack(f, inside, start, norm, steps=12, rate=0.1 * share, step=0.2 * share)
        observed = torch.maximum(found.pair, found.derivative)
        self.attempts += len(observed)
        self.violations += int((observed > certified).sum())
        self.worst[kind] = max(self.worst.get(kind, 0.0), float(observed.max()) / certified)


def model_of(position: str, trained: bool, seed: int) -> Anatomy:
    """A small model with weights several times those at birth, or one that has learned to repeat the token before."""
    torch.manual_seed(seed)
    model = Transformer(
        Architecture(depth=1, width=8, heads=2, position=positions.make(position)),
        Interface(VOCABULARY, VOCABULARY, rows=2 * LENGTH, trained=LENGTH),
    )
    if not trained:
        for name, parameter in model.named_parameters():
            parameter.data.mul_(1.0 if "norm" in name else 6.0)
        return anatomy_of(model)
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(150):
        tokens = torch.randint(VOCABULARY, (64, LENGTH))
        loss = cross_entropy(model(tokens)[:, 1:].flatten(0, 1), tokens[:, :-1].flatten())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    return anatomy_of(model)


def attack_models(tally: Tally, attempts: int) -> None:
    """Whole models: on the ball of all embeddings, and within 0.01 of given sequences."""
    at = torch.arange(LENGTH)[None]
    for seed, position in enumerate(ENCODINGS):
        for trained in (False, True):
            anatomy = model_of(position, trained, seed)
            ball = certify(anatomy, LENGTH)
            tokens = torch.randint(VOCABULARY, (max(attempts // 2, 1), LENGTH))
            x = embed(anatomy, tokens, at)
            around = certify_near(anatomy, tokens, 0.01)
            random = ball.radius * torch.randn(attempts, LENGTH, anatomy.width, dtype=torch.float64)

            def f(y: Tensor, anatomy: Anatomy = anatomy) -> Tensor:
                return run_from(anatomy, y, at).output

            for norm in NORMS:
                upper = getattr(ball, norm).value, getattr(around, norm).value
                tally.count(f"model, ball, {norm}", f, in_ball(ball.radius), random, norm, upper[0], 1.0)
                share = 0.01 / float(x.norm(dim=2).max())
                tally.count(f"model, near, {norm}", f, near(x, 0.01), x, norm, upper[1], share)


def attack_heads(tally: Tally, attempts: int, cases: int) -> None:
    """One attention layer on the unit ball: random heads, and the two clusters that attain the bound."""
    for case in range(cases):
        torch.manual_seed(case)
        turns = torch.tensor([1.0, 0.1]).double() if case % 3 == 0 else None
        strength = 10 ** float(torch.rand(1) * 2 - 1)
        matrices = [torch.randn(2, 4, 6).double() * (strength if m < 2 else 1.0) for m in range(3)]
        part = AttentionPart(
            *matrices, torch.randn(2, 6, 4).double(), None, None, None, None, 0.5, case % 2 == 0, rotary=turns
        )
        start = torch.randn(attempts, 6, 6).double()
        _attack_layer(tally, part, start, f"random heads{', RoPE' if turns is not None else ''}")
    for strength in (1.0, 5.0, 50.0):
        same = torch.eye(3).double()
        query = strength * torch.diag(torch.tensor([1.0, -1.0, 1.0])).double()
        part = AttentionPart(query[None], *([same[None]] * 3), None, None, None, None, scale=1.0, causal=False)
        x = torch.stack([same[1], *([same[0]] * 10), *([-same[0]] * 10)])[None]
        start = x + 1e-3 * torch.randn(attempts, *x.shape[1:]).double()
        _attack_layer(tally, part, start, "two clusters")


def _attack_layer(tally: Tally, part: AttentionPart, start: Tensor, kind: str) -> None:
    length = start.shape[1]
    at = torch.arange(length)[None]
    for norm in NORMS:
        bound = attention_bound(heads_of(part, length), Region(1.0), norm, sight_of(part, length)).constant
        kind_of = f"one attention layer, {kind}, {norm}"
        tally.count(kind_of, lambda y: apply_attention(part, y, at)[0], in_ball(1.0), start, norm, bound, 1.0)


def campaign(attempts: int = 256, cases: int = 24) -> Tally:
    tally = Tally()
    attack_models(tally, attempts)
    attack_heads(tally, attempts // 2, cases)
    return tally


def rows(quick: bool = False) -> list[Row]:
    tally = campaign(4, 3) if quick else campaign()
    one_layer = max(value for kind, value in tally.worst.items() if kind.startswith("one attention layer"))
    result = [
        Row("attempts against certified Lipschitz constants", tally.attempts, "", least=None if quick else 20_000),
        Row("violations", tally.violations, "", most=0),
        Row("largest observed / certified of one attention layer", one_layer, "", least=0.9),
    ]
    return result + [Row(f"largest observed / certified: {kind}", v, "") for kind, v in sorted(tally.worst.items())]


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
