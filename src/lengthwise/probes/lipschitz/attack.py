"""Lower bounds of Lipschitz constants, by attack: two inputs of the set that are stretched as much as can be found.

Every number here was seen: |f(x) - f(y)| / |x - y| for a pair in the set, or the derivative at a point of it. It says
that the true constant is at least that large, never that it is no larger. Three searches follow each other:

1. power iteration on the derivative: the direction that is stretched most, by products with it and with its transpose;
2. gradient ascent on the logarithm of the quotient over both inputs, kept inside the set;
3. power iteration once more, where the ascent has led.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.func import jvp, vjp

from lengthwise.bounds.lipschitz.bound import NORMS, Norm
from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.models.forward import embed, run_from
from lengthwise.models.parts import Anatomy
from lengthwise.models.placed import drawing
from lengthwise.probes.lipschitz.parts import input_region, near_text
from lengthwise.records import Assumption, Claim

explain(
    {
        "lipschitz.seen": "Lipschitz constant of {model} found by search for {where}",
        "lipschitz.search": "the search gives a lower bound: the true constant may be larger",
    }
)

Map = Callable[[Tensor], Tensor]  # [B, T, W] → [B, T, O], item by item
TINY = 1e-300


def size(x: Tensor, norm: Norm) -> Tensor:
    """The norm of each item of [B, T, W]: its longest token, or all of it."""
    tokens = x.norm(dim=2)
    return tokens.amax(dim=1) if norm == "token" else tokens.norm(dim=1)


def quotient(f: Map, x: Tensor, y: Tensor, norm: Norm, closest: float = 0.0) -> Tensor:
    """|f(x) - f(y)| / |x - y| of each pair, [B]; 0 where the two are `closest` or less apart, as rounding is all that
    would be measured there."""
    apart = size(x - y, norm)
    return torch.where(apart > closest, size(f(x) - f(y), norm) / apart.clamp(min=TINY), torch.zeros_like(apart))


def in_ball(radius: float) -> Map:
    """The nearest sequence whose tokens are at most `radius` long."""
    return lambda x: x * (radius / x.norm(dim=2, keepdim=True).clamp(min=TINY)).clamp(max=1.0)


def near(centre: Tensor, radius: float) -> Map:
    """The nearest sequence whose tokens are within `radius` of those of `centre`."""
    ball = in_ball(radius)
    return lambda x: centre + ball(x - centre)


def steepest(f: Map, x: Tensor, direction: Tensor, norm: Norm, steps: int) -> tuple[Tensor, Tensor]:
    """How much the derivative at x stretches the best direction found, [B], and that direction, of norm 1.

    Frobenius: v ← JᵀJ v. Token-wise: look at the output token that moves most, and move every input token along its
    gradient, each by 1; the quotient never falls (it is Boyd's power method for this pair of norms).
    """
    best, found = x.new_zeros(len(x)), direction
    pull = vjp(f, x)[1]
    for _ in range(steps):
        direction = direction / size(direction, norm).clamp(min=TINY)[:, None, None]
        pushed = jvp(f, (x,), (direction,))[1]
        gained = size(pushed, norm)
        better = gained > best
        best, found = torch.where(better, gained, best), torch.where(better[:, None, None], direction, found)
        if norm == "token":
            most = pushed.norm(dim=2).argmax(dim=1)
            rows = torch.arange(len(x), device=x.device)
            only = torch.zeros_like(pushed)
            only[rows, most] = pushed[rows, most] / pushed[rows, most].norm(dim=1, keepdim=True).clamp(min=TINY)
            (direction,) = pull(only)
            direction = direction / direction.norm(dim=2, keepdim=True).clamp(min=TINY)
        else:
            (direction,) = pull(pushed)
    return best, found


@dataclass(frozen=True, eq=False)
class FoundPair:
    """What an attack found for each start: [B] the largest quotient of a pair, the largest derivative; and the pair."""

    pair: Tensor
    derivative: Tensor
    x: Tensor
    y: Tensor

    @property
    def best(self) -> float:
        return float(torch.maximum(self.pair, self.derivative).max())


def attack(
    f: Map,
    inside: Map,
    start: Tensor,
    norm: Norm,
    steps: int = 40,
    rate: float = 0.05,
    step: float = 1e-2,
    smooth: bool = True,
) -> FoundPair:
    """Attack f from `start` [B, T, W], whose items are B attempts. `inside` projects onto the set, `step` is how far
    apart a pair starts and `rate` how fast it moves, both as shares of the longest token. Where f is not `smooth` its
    derivative means nothing, and only pairs count."""
    x = inside(start.double())
    reach = float(x.norm(dim=2).max()) or 1.0
    derivative, direction = x.new_zeros(len(x)), torch.randn_like(x)
    direction = direction / size(direction, norm)[:, None, None]
    if smooth:
        derivative, direction = steepest(f, x, direction, norm, 6)
    x, y = _ascend(f, inside, x, inside(x + step * reach * direction), norm, steps, rate * reach, 1e-3 * step * reach)
    pair = quotient(f, x, y, norm, 1e-3 * step * reach)
    if smooth:
        towards = torch.where(size(y - x, norm)[:, None, None] > 0, y - x, direction)
        derivative = torch.maximum(derivative, steepest(f, x, towards, norm, 6)[0])
    return FoundPair(pair, derivative, x, y)


def _ascend(
    f: Map, inside: Map, x: Tensor, y: Tensor, norm: Norm, steps: int, rate: float, closest: float
) -> tuple[Tensor, Tensor]:
    """The best pairs met on the way up the logarithm of the quotient, by Adam, projected after each step."""
    best = quotient(f, x, y, norm, closest)
    moving = [x.clone().requires_grad_(True), y.clone().requires_grad_(True)]
    optimiser = torch.optim.Adam(moving, lr=rate / x.shape[2] ** 0.5)
    for _ in range(steps):
        optimiser.zero_grad()
        (-quotient(f, moving[0], moving[1], norm).clamp(min=TINY).log().sum()).backward()
        optimiser.step()
        with torch.no_grad():
            for each in moving:
                each.copy_(inside(torch.nan_to_num(each)))
            now = quotient(f, moving[0], moving[1], norm, closest)
            better = now > best
            best = torch.where(better, now, best)
            x, y = (torch.where(better[:, None, None], *each) for each in zip(moving, (x, y), strict=True))
    return x.detach(), y.detach()


def lower_bound(
    anatomy: Anatomy, length: int, norm: Norm = "token", attempts: int = 32, steps: int = 40, seed: int = 0
) -> Claim:
    """The largest stretching found on the ball of all embeddings, from `attempts` starts: half of them sequences of the
    model's tokens, half random tokens anywhere in the ball."""
    _check(attempts, steps)
    at, radius = anatomy.places(length), input_region(anatomy, length).reach
    with drawing(seed, anatomy.embed.device):
        tokens = embed(anatomy, torch.randint(len(anatomy.embed), ((attempts + 1) // 2, length)), at)
        others = torch.randn(attempts // 2, length, anatomy.width, dtype=torch.float64)
        lengths = radius * torch.rand(*others.shape[:2], 1, dtype=torch.float64)
        start = torch.cat([tokens, (others / others.norm(dim=2, keepdim=True) * lengths).to(tokens.device)])
        found = attack(_outputs(anatomy, at), in_ball(radius), start, norm, steps, smooth=has_derivative(anatomy))
    where = f"any two inputs of {length} tokens, tokens within {radius:.4g} of the origin"
    return _claim(anatomy, norm, found, where, {"attempts": attempts, "steps": steps, "seed": seed})


def lower_bound_near(
    anatomy: Anatomy, tokens: Tensor, widening: float = 0.0, norm: Norm = "token", steps: int = 40, seed: int = 0
) -> Claim:
    """The largest stretching found within `widening` of given sequences [B, T]; at widening 0, their derivatives."""
    _check(len(tokens), steps)
    if widening == 0 and not has_derivative(anatomy):
        rule = anatomy.blocks[0].attention.rule
        raise UsageError(
            f"derivatives are computed only for softmax attention, not for {rule}; give a widening above 0"
        )
    at = anatomy.places(tokens.shape[1])
    f, centre = _outputs(anatomy, at), embed(anatomy, tokens, at)
    with drawing(seed, centre.device):
        if widening == 0:
            derivative = steepest(f, centre, torch.randn_like(centre), norm, max(steps, 2))[0]
            found = FoundPair(torch.zeros_like(derivative), derivative, centre, centre)
        else:
            share = widening / float(centre.norm(dim=2).max())
            found = attack(
                f, near(centre, widening), centre, norm, steps, 0.1 * share, 0.5 * share, has_derivative(anatomy)
            )
    where = near_text(len(tokens), widening)
    return _claim(anatomy, norm, found, where, {"attempts": len(tokens), "steps": steps, "seed": seed})


def _claim(anatomy: Anatomy, norm: Norm, found: FoundPair, where: str, evidence: dict[str, object]) -> Claim:
    by = "pair" if float(found.pair.max()) >= float(found.derivative.max()) else "derivative"
    best = int(found.pair.argmax())
    apart = float(size((found.x - found.y)[best : best + 1], norm)[0])
    return Claim(
        key="lipschitz.seen",
        value=found.best,
        unit=f"at least, in {NORMS[norm]}",
        kind="measured",
        assumptions=(Assumption("lipschitz.search"),),
        evidence={"model": anatomy.name, "norm": norm, "where": where, "by": by, "pair_apart": apart, **evidence},
    )


def _outputs(anatomy: Anatomy, at: Tensor) -> Map:
    return lambda x: run_from(anatomy, x, at).output


def has_derivative(anatomy: Anatomy) -> bool:
    """Whether its attention is softmax: derivatives of other rules are not used, as some of them jump."""
    return all(block.attention.law.fused for block in anatomy.blocks)


def _check(attempts: int, steps: int) -> None:
    if attempts < 1 or steps < 1:
        raise UsageError(f"an attack needs at least 1 attempt and 1 step, not {attempts} and {steps}")
