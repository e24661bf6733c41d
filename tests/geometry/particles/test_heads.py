"""Several heads: their velocities add up, and what is proved of one head is claimed of several only where it holds."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.geometry.particles.comparison import compare
from lengthwise.geometry.particles.dynamics import ManyHeads
from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.shaken import check_heads
from lengthwise.geometry.particles.starts import hemisphere, uniform
from lengthwise.geometry.particles.system import System
from lengthwise.geometry.particles.theorems import LATE_RATE, ONE_CLUSTER, RATE, check


def drawn(seed: int, d: int = 3) -> torch.Tensor:
    return torch.from_numpy(np.random.default_rng(seed).normal(size=(d, d)))


def test_velocities_add_up_in_any_batch() -> None:
    heads = (System("SA", 1.0, drawn(0), drawn(1), drawn(2)), System("SA", torch.tensor([4.0, 0.5]), None, drawn(3)))
    x = uniform(6, 3, 0, (2,))
    both = ManyHeads(heads)
    torch.testing.assert_close(both.velocity(x), heads[0].velocity(x) + heads[1].velocity(x))
    path = simulate(both, x, [0.0, 2.0], 1e-9)
    alone = simulate(both.only([1]), x[1:], [0.0, 2.0], 1e-9)
    np.testing.assert_allclose(path.final[1], alone.final[0], atol=1e-6)


def test_equal_heads_are_one_head_in_less_time() -> None:
    one, three = System("USA", 2.0), ManyHeads((System("USA", 2.0),) * 3)
    x = uniform(7, 3, 1)
    slow, fast = simulate(one, x, [0.0, 1.5], 1e-10), simulate(three, x, [0.0, 0.5], 1e-10)
    np.testing.assert_allclose(slow.final, fast.final, atol=1e-8)


def test_heads_of_one_kind() -> None:
    for heads in ((), (System("SA", 1.0), System("USA", 1.0))):
        with pytest.raises(UsageError):
            ManyHeads(heads)


def claims_of(x, system):
    return {claim.key: claim for claim in check_heads(x, system)}


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(seed, marks=pytest.mark.system) for seed in range(2, 8))])
def test_the_rate_in_a_hemisphere_is_attacked(seed: int) -> None:
    """Random scores in every head, V = I: the tokens gather, and never more slowly than the sum of the bounds."""
    draw = np.random.default_rng(seed)
    kind = "SA" if seed % 2 else "USA"
    heads = tuple(System(kind, float(draw.uniform(0, 1.5)), 0.5 * drawn(9 * seed + h), drawn(99 + h)) for h in range(2))
    x = hemisphere(5, 3, seed)
    claims = check_heads(x.numpy(), ManyHeads(heads))
    found = {claim.key: claim for claim in claims}
    assert found[ONE_CLUSTER].value is True and found[f"{ONE_CLUSTER}.hemisphere"].status == "holds"
    rates = [next(c.value for c in check(x.numpy(), head) if c.key == RATE) for head in heads]
    assert found[RATE].value == pytest.approx(sum(rate for rate in rates if isinstance(rate, float)))
    path = simulate(ManyHeads(heads), x, np.linspace(0, 30, 61), 1e-7)
    shown = {claim.key: claim for claim in compare(claims, path)}
    assert shown[f"{ONE_CLUSTER}.simulated"].status == "holds"
    assert not any(claim.status == "refuted" for claim in shown.values())


def test_late_rates_add_up() -> None:
    heads = ManyHeads((System("SA", 1.0), System("SA", 5.0), System("SA", 0.0)))
    x = hemisphere(6, 3, 2)
    claims = check_heads(x.numpy(), heads)
    shown = {claim.key: claim for claim in compare(claims, simulate(heads, x, np.linspace(0, 6, 80), 1e-10))}
    assert next(c.value for c in claims if c.key == LATE_RATE) == 6.0
    assert shown[f"{LATE_RATE}.simulated"].status == "holds"


def test_theorems_about_one_head_are_silent() -> None:
    heads = ManyHeads((System("SA", 1.0), System("SA", 3.0)))
    found = claims_of(uniform(40, 3, 0).numpy(), heads)
    for name in ("sphere", "beta_0", "circle"):
        claim = found[f"{ONE_CLUSTER}.{name}"]
        assert claim.status == "unknown"
        assert any(a.key == "particles.one_head" and a.check == "violated" for a in claim.assumptions)
    assert found[ONE_CLUSTER].status == "unknown"
    assert claims_of(uniform(40, 3, 0).numpy(), System("SA", 1.0))[ONE_CLUSTER].value is True  # one head: d >= 3


def test_what_holds_of_the_start_for_all_weights_stays() -> None:
    mirrored = np.concatenate([uniform(4, 3, 0).numpy(), -uniform(4, 3, 0).numpy()])
    heads = ManyHeads((System("SA", 1.0), System("SA", 3.0)))
    assert claims_of(mirrored, heads)[ONE_CLUSTER].value is False
    assert claims_of(np.eye(3)[[0, 0]], heads)[ONE_CLUSTER].value is True
