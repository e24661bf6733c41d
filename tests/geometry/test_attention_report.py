"""The report on weights where the answer is plain, and an attack on the Lipschitz constants."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from lengthwise.errors import UsageError
from lengthwise.geometry.attention_report import attention_report, lipschitz_claim
from lengthwise.geometry.sinkhorn import sinkhorn, sinkhorn_prefixes


def test_even_attention_has_no_hubs() -> None:
    report = attention_report(np.full((2, 4, 5), 0.2), times=1.01)
    assert np.allclose(report.received, 0.8) and np.allclose(report.share, 0.8)
    assert np.allclose(report.entropy, math.log(5)) and not report.hubs.any()
    assert [claim.value for claim in report.claims()] == pytest.approx([1.0, 0.0, math.log(5)])


def test_a_key_that_all_look_at_is_a_hub() -> None:
    weights = np.tile([0.0, 1.0, 0.0, 0.0], (6, 1))
    report = attention_report(weights, times=3.0)
    assert report.hubs.tolist() == [False, True, False, False]
    assert report.ratio.tolist() == [0.0, 4.0, 0.0, 0.0] and not report.entropy.any()
    assert [claim.value for claim in report.claims()] == [4.0, 1.0, 0.0]
    assert not attention_report(weights, times=4.0).hubs.any()


def test_an_early_key_is_not_a_hub_for_being_early() -> None:
    visible = np.tril(np.ones((6, 6), bool))
    even = visible / visible.sum(axis=1, keepdims=True)
    assert np.allclose(attention_report(even, visible).ratio, 1.0)
    assert attention_report(even, None, times=2.0).hubs[0]  # as it would seem without the mask
    assert attention_report(torch.from_numpy(even), visible).share[-1] == pytest.approx(1 / 6)


@pytest.mark.parametrize(
    ("weights", "visible", "times", "sentence"),
    [
        (np.ones(3), None, 3.0, "must be \\[..., queries, keys\\]"),
        (np.ones((2, 2)), None, 3.0, "every row sums to 1"),
        (np.full((2, 2), 0.5), None, 0.0, "above 0 times its share"),
        (np.full((2, 2), 0.5), np.ones((3, 2)), 3.0, "visible is \\[queries, keys\\]"),
        (np.full((2, 2), 0.5), np.eye(2), 3.0, "not visible receives attention"),
    ],
)
def test_bad_weights_are_refused(weights, visible, times, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        attention_report(weights, visible, times)


def attacked(weigh, shape: tuple[int, ...], epsilon: float, steps: int = 20) -> float:
    """The largest quotient ‖ΔW‖ / ‖ΔS‖ that gradient ascent over pairs of scores finds."""
    generator = torch.Generator().manual_seed(2)
    middle = (epsilon * torch.randn(8, *shape, dtype=torch.float64, generator=generator)).requires_grad_()
    apart = (0.3 * epsilon * torch.randn(8, *shape, dtype=torch.float64, generator=generator)).requires_grad_()
    optimiser = torch.optim.Adam([middle, apart], lr=0.1 * epsilon)
    best = 0.0
    for _ in range(steps):
        change = weigh(middle + apart) - weigh(middle - apart)
        quotient = change.flatten(1).norm(dim=1) / (2 * apart).flatten(1).norm(dim=1)
        best = max(best, float(quotient.detach().max()))
        optimiser.zero_grad()
        (-quotient.sum()).backward()
        optimiser.step()
    return best


@pytest.mark.parametrize("epsilon", [0.2, 3.0])
def test_no_pair_of_scores_beats_the_constant_of_softmax(epsilon: float) -> None:
    claim = lipschitz_claim(epsilon)
    assert claim.kind == "proved" and claim.value == 1 / (2 * epsilon)
    found = attacked(lambda s: (s / epsilon).softmax(-1), (4,), epsilon, 60)
    assert 0.97 * claim.value <= found <= claim.value * (1 + 1e-9)


@pytest.mark.parametrize("tau", [0.1, 2.0, math.inf])
def test_no_pair_of_scores_beats_the_constant_of_plans(tau: float) -> None:
    claim = lipschitz_claim(0.5, "sinkhorn")
    assert isinstance(claim.value, float)
    found = attacked(lambda s: sinkhorn(s, 0.5, tau, 1e-9, 400).weights, (3, 3), 0.5)
    assert 0.5 * claim.value <= found <= claim.value * (1 + 1e-6)


def test_no_pair_of_scores_beats_the_constant_of_a_row_of_prefixes() -> None:
    claim = lipschitz_claim(1.0, "sinkhorn_prefixes")
    assert isinstance(claim.value, float)
    found = attacked(lambda s: sinkhorn_prefixes(s, 1.0, 0.5, 1e-10).weights[..., -1, :], (3, 3), 1.0)
    assert 0.5 * claim.value <= found <= claim.value * (1 + 1e-6)


def test_constants_are_for_known_rules() -> None:
    with pytest.raises(UsageError, match="not for 'hardmax'"):
        lipschitz_claim(1.0, "hardmax")  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="above 0 and finite"):
        lipschitz_claim(0.0)
