"""Semi-relaxed plans: against softmax and POT, gradients against differences and unrolling, extremes, and the leak."""

from __future__ import annotations

import gc
import math
import subprocess
import sys

import numpy as np
import ot
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.geometry.sinkhorn import sinkhorn, sinkhorn_prefixes
from lengthwise.geometry.sinkhorn_plans import Logarithms, Products, _iterate

INF = math.inf


def normal(*shape: int, seed: int = 0, scale: float = 1.0) -> Tensor:
    return scale * torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def causal(scores: Tensor) -> Tensor:
    return scores.masked_fill(torch.ones(scores.shape[-2:]).triu(1).bool(), -INF)


@st.composite
def masked_scores(draw: st.DrawFn) -> Tensor:
    """Scores [n, m] in which every query sees some key."""
    n, m, scale = draw(st.integers(1, 6)), draw(st.integers(1, 6)), draw(st.floats(0.1, 4))
    seed = draw(st.integers(0, 10**6))
    scores = normal(n, m, seed=seed, scale=scale)
    hidden = normal(n, m, seed=seed + 1) > draw(st.sampled_from([0.0, 0.7, INF]))
    hidden[torch.arange(n), torch.arange(n) % m] = False
    return scores.masked_fill(hidden, -INF)


# --- against others -------------------------------------------------------------------------------------------------


@settings(max_examples=12, deadline=None)
@given(masked_scores(), st.floats(0.01, 10))
def test_without_a_budget_it_is_softmax(scores: Tensor, epsilon: float) -> None:
    wanted = (scores / epsilon).softmax(-1)
    assert (sinkhorn(scores, epsilon, 0.0).weights - wanted).abs().max() <= 1e-12
    single = sinkhorn(scores.float(), epsilon, 0.0).weights
    assert single.dtype == torch.float32
    assert (single - (scores.float() / epsilon).softmax(-1)).abs().max() <= 1e-6
    assert (sinkhorn(scores, epsilon, 1e-9 * epsilon, 1e-12).weights - wanted).abs().max() <= 1e-7  # and its limit is


def pot(scores: Tensor, epsilon: float, tau: float) -> np.ndarray:
    """POT's plan times n. Its reference measure `c` is 0 where a key is hidden, which restricts the support exactly."""
    n, m = scores.shape
    a, b = np.full(n, 1 / n), np.full(m, 1 / m)
    seen = scores.isfinite().numpy()
    cost = -scores.masked_fill(scores == -INF, 0.0).numpy()
    reach = {"numItermax": 10**5, "stopThr": 1e-15}
    with np.errstate(all="ignore"):
        plan = ot.unbalanced.sinkhorn_knopp_unbalanced(a, b, cost, epsilon, (INF, tau), c=seen / (n * m), **reach)
    return n * plan


@settings(max_examples=12, deadline=None)
@given(masked_scores(), st.floats(0.3, 3), st.sampled_from([0.05, 0.5, 1.0, 4.0]))
def test_with_a_budget_it_is_what_pot_finds(scores: Tensor, epsilon: float, tau: float) -> None:
    scores = scores[:, scores.isfinite().any(dim=0)]  # POT stops at a column that nobody sees
    found = sinkhorn(scores, epsilon, tau, 1e-12)
    assert found.converged
    assert np.abs(found.weights.numpy() - pot(scores, epsilon, tau)).max() <= 1e-9


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(masked_scores(), st.floats(0.3, 3), st.floats(0.05, 4))
def test_many_budgets_are_what_pot_finds(scores: Tensor, epsilon: float, tau: float) -> None:
    test_with_a_budget_it_is_what_pot_finds.hypothesis.inner_test(scores, epsilon, tau)  # pyright: ignore


@pytest.mark.parametrize("shape", [(5, 5), (4, 7), (7, 3)])
def test_balanced_is_what_pot_finds(shape: tuple[int, int]) -> None:
    scores = normal(*shape, scale=1.5)
    n, m = shape
    found = sinkhorn(scores, 0.7, INF, 1e-13)
    marginals = np.full(n, 1 / n), np.full(m, 1 / m)
    wanted = n * ot.bregman.sinkhorn_log(*marginals, -scores.numpy(), 0.7, numItermax=10**5, stopThr=1e-14)
    assert np.abs(found.weights.numpy() - wanted).max() <= 1e-9
    assert (found.weights.sum(0) - n / m).abs().max() <= 1e-10


def test_ot_solve_agrees() -> None:
    scores = normal(4, 6)
    solved = ot.solve(-scores.numpy(), reg=0.8, unbalanced=(INF, 1.3), max_iter=10**5, tol=1e-15)
    assert np.abs(sinkhorn(scores, 0.8, 1.3, 1e-12).weights.numpy() - 4 * solved.plan).max() <= 1e-9


# --- gradients ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [2, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tau", [0.1, 1.0, 10.0, INF])
def test_gradients_are_finite_differences(tau: float, size: int) -> None:
    scores = normal(1, size, size + 1, seed=3).requires_grad_()
    assert torch.autograd.gradcheck(lambda s: sinkhorn(s, 0.5, tau, 1e-14).weights, (scores,))
    if tau <= 1.0:
        hidden = normal(1, size + 1, size + 1, seed=4).requires_grad_()
        assert torch.autograd.gradcheck(lambda s: sinkhorn_prefixes(s, 0.5, tau, 1e-14).weights, (hidden,))
        assert torch.autograd.gradcheck(lambda s: sinkhorn(causal(s), 0.5, tau, 1e-14).weights, (hidden,))


def unrolled(scores: Tensor, epsilon: float, tau: float, steps: int) -> Tensor:
    """The textbook iteration, with the graph of every step."""
    g, kappa = torch.zeros_like(scores[..., :1, :]), tau / (tau + epsilon)
    for _ in range(steps):
        f = -epsilon * ((scores + g) / epsilon).logsumexp(-1, keepdim=True)
        g = -kappa * epsilon * ((scores + f) / epsilon).logsumexp(-2, keepdim=True)
    return ((scores + g) / epsilon).softmax(-1)


@pytest.mark.parametrize("kernel", ["products", "logarithms"])
def test_gradients_are_those_of_unrolling(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if kernel == "logarithms":
        monkeypatch.setattr(Products, "safe", lambda *_: False)
    scores, value = normal(2, 6, 6, scale=2.0), normal(2, 6, 6, seed=9)
    one, other = scores.clone().requires_grad_(), scores.clone().requires_grad_()
    (sinkhorn(one, 0.8, 1.5, 1e-13).weights * value).sum().backward()
    (unrolled(other, 0.8, 1.5, 200) * value).sum().backward()
    assert one.grad is not None and other.grad is not None
    assert other.grad.abs().max() > 0.1
    assert (one.grad - other.grad).abs().max() <= 1e-10
    prefixes = scores.clone().requires_grad_()
    (sinkhorn_prefixes(prefixes, 0.8, 1.5, 1e-13).weights * value).sum().backward()
    by_hand = scores.clone().requires_grad_()
    rows = [unrolled(causal(by_hand[:, : i + 1, : i + 1]), 0.8, 1.5, 200)[:, i] for i in range(6)]
    sum((row * value[:, i, : i + 1]).sum() for i, row in enumerate(rows)).backward()
    assert prefixes.grad is not None and by_hand.grad is not None
    assert (prefixes.grad - by_hand.grad).abs().max() <= 1e-10


def test_memory_does_not_grow_with_iterations() -> None:
    def held(tau: float) -> tuple[int, int]:
        gc.freeze()  # only what is made from here on is looked at
        try:
            found = sinkhorn_prefixes(scores, 1.0, tau, 1e-10)
            gc.collect()
            return found.iterations, sum(t.numel() for t in gc.get_objects() if type(t) is Tensor)
        finally:
            gc.unfreeze()

    scores = normal(3, 8, 8).requires_grad_()
    few, small = held(0.05)
    many, large = held(5.0)
    assert many > 5 * few and large == small > 0


def test_a_second_derivative_is_an_error_and_not_a_wrong_number() -> None:
    scores = normal(3, 3).requires_grad_()
    (first,) = torch.autograd.grad(sinkhorn(scores).weights.square().sum(), scores, create_graph=True)
    with pytest.raises(RuntimeError):
        first.sum().backward()


# --- extremes, and what is reported ---------------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [1.0, 1e-3])
@pytest.mark.parametrize("tau", [0.0, 1e-3, 1.0, INF])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nothing_overflows(epsilon: float, tau: float, dtype: torch.dtype) -> None:
    scores = (2e4 * torch.rand(2, 5, 5, generator=torch.Generator().manual_seed(1)) - 1e4).to(dtype)
    for solver in (sinkhorn, *([sinkhorn_prefixes] if tau < INF else [])):
        given_scores = scores.clone().requires_grad_()
        found = solver(given_scores, epsilon, tau, most=60)
        (found.weights * normal(5, 5).to(dtype)).sum().backward()
        assert given_scores.grad is not None
        assert found.weights.isfinite().all() and given_scores.grad.isfinite().all()
        assert (found.weights.sum(-1) - 1).abs().max() <= 1e-6


def test_what_is_no_number_stays_none_and_stays_where_it_is() -> None:
    scores = normal(2, 3, 3)
    clean = sinkhorn(scores[1]).weights
    scores[0, 1, 1] = math.nan
    found = sinkhorn(scores)
    assert found.weights[0].isnan().any() and not found.converged
    assert (found.weights[1] - clean).abs().max() <= 1e-12


def test_large_scores_have_gradients_too() -> None:
    """Scores whose exponentials underflow, with two keys that are close: differences show the same gradient."""
    scores = torch.tensor([[3000.0, 2999.5, -4000.0], [10.0, 9.0, 9000.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(lambda s: sinkhorn(s, 1.0, 1.0, 1e-14).weights, (scores,))
    assert sinkhorn(scores, 1.0, 1.0).weights[0, 1] > 0.1


@pytest.mark.parametrize("tau", [1.0, INF])
def test_both_kernels_do_the_same_iteration(tau: float) -> None:
    logits = normal(2, 5, 5, scale=4.0)
    logits = causal(logits) if tau < INF else logits
    logits = logits - logits.amax(-1, keepdim=True)
    active = torch.ones(5, 5).tril().double() if tau < INF else torch.ones(1, 5).double()
    seen = active @ logits.isfinite().double() > 0
    kappa = tau / (tau + 1) if tau < INF else 1.0
    one, other = (_iterate(kind(logits, active), seen, kappa, 1e-9, 500) for kind in (Products, Logarithms))
    assert one.iterations == other.iterations > 5
    assert (one.columns.exp() - other.columns.exp()).abs().max() <= 1e-12


def test_the_error_is_what_the_columns_are_off_by() -> None:
    found = sinkhorn(normal(6, 6, scale=3.0), 0.5, INF, 1e-9, most=4)
    assert not found.converged and found.iterations == 4
    assert found.error == pytest.approx(float((found.weights.sum(0) - 1).abs().sum()) / 12, rel=1e-9)
    assert (found.weights.sum(1) - 1).abs().max() <= 1e-15
    assert sinkhorn(normal(6, 6, scale=3.0), 0.5, INF, 1e-9, most=10**5).converged


@settings(max_examples=12, deadline=None)
@given(masked_scores(), st.floats(0.1, 3))
def test_columns_are_those_of_the_optimum(scores: Tensor, tau: float) -> None:
    """ε log P - S is f_i - τ log c_j at every pair that is seen: stationarity, read off the weights alone."""
    weights = sinkhorn(scores, 0.6, tau, 1e-13).weights
    seen = scores.isfinite()
    force = 0.6 * weights.log() - scores + tau * weights.sum(0).log()
    spread = force.where(seen, -INF).amax(1) - force.where(seen, INF).amin(1)
    assert spread.max() <= 1e-7


def test_a_problem_does_not_depend_on_its_neighbours() -> None:
    easy, hard = normal(4, 4, scale=0.1), normal(4, 4, scale=8.0)
    alone, together = sinkhorn(easy, 1.0, 5.0, 1e-3), sinkhorn(torch.stack([easy, hard]), 1.0, 5.0, 1e-3)
    assert together.iterations > alone.iterations
    assert (together.weights[0] - alone.weights).abs().max() <= 1e-14


# --- the leak -------------------------------------------------------------------------------------------------------


def test_one_masked_problem_leaks_and_prefixes_do_not() -> None:
    scores = normal(6, 6, scale=2.0)
    for place in range(1, 6):
        other = scores.clone()
        other[place:] = normal(6 - place, 6, seed=7, scale=2.0)
        big = sinkhorn(causal(other)).weights - sinkhorn(causal(scores)).weights
        assert big[:place].abs().max() > 1e-3 or place == 1  # the first query has one key only
        own = sinkhorn_prefixes(other, tolerance=1e-2).weights - sinkhorn_prefixes(scores, tolerance=1e-2).weights
        assert own[:place].abs().max() <= 1e-14
        assert own[place].abs().max() > 1e-3


def test_a_row_of_the_prefixes_is_that_of_its_prefix() -> None:
    scores = normal(3, 5, 5, scale=3.0)
    scores[:, 4, :2] = -INF  # a window
    found = sinkhorn_prefixes(scores, 1.0, 2.0, 1e-12).weights
    for i in range(5):
        wanted = sinkhorn(causal(scores[:, : i + 1, : i + 1]), 1.0, 2.0, 1e-12).weights[:, i]
        assert (found[:, i, : i + 1] - wanted).abs().max() <= 1e-10
        assert not found[:, i, i + 1 :].any()


# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: sinkhorn(causal(normal(3, 3)), tau=INF), "lower triangular doubly stochastic matrix is the identity"),
        (lambda: sinkhorn_prefixes(normal(3, 3), tau=INF), "lower triangular doubly stochastic matrix is the identity"),
        (lambda: sinkhorn(torch.full((2, 3), -INF)), "a query that sees no key has nothing to attend to"),
        (lambda: sinkhorn(torch.tensor([[0.0, -INF], [0.0, -INF]]), tau=INF), "lower triangular"),
        (lambda: sinkhorn(torch.tensor([[-INF, 0.0], [-INF, 0.0]]), tau=INF), "a key that no query sees can have none"),
        (lambda: sinkhorn(normal(2, 2), epsilon=0.0), "epsilon must be above 0 and finite, not 0.0"),
        (lambda: sinkhorn(normal(2, 2), tau=-1.0), "tau must be 0 \\(softmax\\) or more"),
        (lambda: sinkhorn(normal(2, 2), tau=math.nan), "tau must be 0 \\(softmax\\) or more"),
        (lambda: sinkhorn(normal(2, 2), tolerance=0.0), "the tolerance must be above 0"),
        (lambda: sinkhorn(torch.ones(2, 2, dtype=torch.long)), "scores must be real numbers"),
        (lambda: sinkhorn_prefixes(normal(2, 3)), "prefixes need scores"),
    ],
)
def test_bad_input_is_one_sentence(call, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        call()


def test_a_lower_triangular_doubly_stochastic_matrix_is_the_identity() -> None:
    """As a strong budget shows: the causal plan comes as near to it as one likes."""
    away = [
        float((sinkhorn(causal(normal(4, 4)), 1.0, tau, 1e-4, 10**4).weights - torch.eye(4)).abs().max())
        for tau in (1.0, 10.0, 100.0)
    ]
    assert away[0] > away[1] > away[2] and away[2] < 0.1


def test_importing_needs_no_torch() -> None:
    code = "import sys, lengthwise.geometry.sinkhorn, lengthwise.geometry.attention_report; sys.exit('torch' in sys.modules)"  # noqa: E501
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
