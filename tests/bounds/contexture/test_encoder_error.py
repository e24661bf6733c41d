"""The error bounds under attack: by optimisation over tables, representations and tasks."""

import math

import numpy as np
import pytest

from lengthwise.bounds.contexture.alignment import (
    alignment,
    any_encoder_error,
    compatibility,
    error_claim,
    linear_encoder_error,
    probe_error,
    worst_error,
)
from lengthwise.bounds.contexture.spectrum import spectrum_by_svd
from lengthwise.bounds.contexture.table import joint_table
from lengthwise.errors import UsageError


def drawn(generator, near=None):
    """A random table, a representation that is random or near the best one, and an ε at which tasks exist."""
    x, a = int(generator.integers(4, 8)), int(generator.integers(2, 6))
    sharp = generator.choice([0.1, 0.3, 1.0, 5.0])
    table = joint_table(generator.dirichlet(np.full(x * a, sharp)).reshape(x, a) + 1e-9)
    spectrum = spectrum_by_svd(table)
    dimensions = int(generator.integers(1, min(x, a)))
    features = generator.standard_normal((x, dimensions))
    if generator.random() < 0.6 if near is None else near:
        features = spectrum.of_x[:, :dimensions] + generator.choice([0.03, 0.1, 0.3]) * features
    below = generator.choice([1e-6, 0.01, 0.1, 0.3]) * generator.random()
    return table, spectrum, features, 1 - float(spectrum.values[0]) * (1 - below)


def printed_form(first, gap, epsilon):
    """With TG where its square root belongs."""
    return (first - (1 - epsilon) ** 2 + math.sqrt(first) * gap) / (first - gap)


def test_no_representation_is_worse_than_the_bound_says():
    generator = np.random.default_rng(0)
    tight = 1.0
    for _ in range(150):
        table, spectrum, features, epsilon = drawn(generator)
        gap, first = alignment(table, features, spectrum).trace_gap, spectrum.square(1)
        worst = worst_error(table, features, epsilon)
        angle, linear = any_encoder_error(first, gap, epsilon), linear_encoder_error(first, gap, epsilon)
        assert worst <= angle + 1e-9 and angle <= linear + 1e-12
        tight = min(tight, angle - worst if angle < 1 else 1.0)
    assert tight < 0.05  # the attack comes near the bound, so it is one


@pytest.mark.slow
def test_no_representation_is_worse_in_a_long_attack():
    generator = np.random.default_rng(1)
    for _ in range(10_000):
        table, spectrum, features, epsilon = drawn(generator)
        gap = alignment(table, features, spectrum).trace_gap
        assert worst_error(table, features, epsilon) <= any_encoder_error(spectrum.square(1), gap, epsilon) + 1e-9


def four_inputs(association, turned):
    """x is one of four, a one of two; only the first half of x against the second is associated, s_1 = `association`.
    The representation is that function, turned by `turned` = sin² of an angle towards one that is not associated."""
    halves, other = np.array([1.0, 1, -1, -1]), np.array([1.0, -1, 1, -1])
    table = joint_table(np.stack([1 + association * halves, 1 - association * halves], axis=1))
    return table, (math.sqrt(1 - turned) * halves + math.sqrt(turned) * other)[:, None], halves


def test_the_printed_form_is_refuted():
    table, features, task = four_inputs(association=0.5, turned=0.1)
    spectrum = spectrum_by_svd(table)
    assert spectrum.values == pytest.approx([0.5])
    gap = alignment(table, features, spectrum).trace_gap
    assert gap == pytest.approx(0.5**2 * 0.1)
    assert compatibility(table, task) == pytest.approx(0.5)
    error = probe_error(table, features, task)
    assert error == pytest.approx(0.1)
    assert (
        printed_form(0.25, gap, 0.5) == pytest.approx(0.5 * 0.1 / 0.9) and printed_form(0.25, gap, 0.5) < 0.06 < error
    )
    assert error <= linear_encoder_error(0.25, gap, 0.5)
    assert error == pytest.approx(any_encoder_error(0.25, gap, 0.5))  # and this one is attained


@pytest.mark.parametrize("turned", [0.01, 0.3, 0.7])
@pytest.mark.parametrize("epsilon", [0.5, 0.52, 0.6])
def test_the_angle_form_is_attained(turned, epsilon):
    """So it cannot be improved from s_1 and the trace gap alone."""
    table, features, _ = four_inputs(0.5, turned)
    gap = alignment(table, features).trace_gap
    assert worst_error(table, features, epsilon) == pytest.approx(any_encoder_error(0.25, gap, epsilon), abs=1e-6)


def optimal_error(spectrum, dimensions, epsilon):
    """Proposition 1: (s_1² - (1-ε)²) / (s_1² - s_(d+1)²), and 1 where 1 - ε <= s_(d+1); 0 where no task is that
    compatible, and where d dimensions hold every function of x."""
    first, later = spectrum.square(1), spectrum.square(dimensions + 1)
    if first < (1 - epsilon) ** 2 or dimensions >= len(spectrum.of_x) - 1:
        return 0.0
    return 1.0 if (1 - epsilon) ** 2 <= later else (first - (1 - epsilon) ** 2) / (first - later)


def test_the_best_representation_has_the_error_of_the_formula_and_no_other_less():
    generator = np.random.default_rng(2)
    for _ in range(60):
        table, spectrum, features, epsilon = drawn(generator)
        dimensions = features.shape[1]
        best = optimal_error(spectrum, dimensions, epsilon)
        assert worst_error(table, spectrum.of_x[:, :dimensions], epsilon) == pytest.approx(best, abs=1e-6)
        assert worst_error(table, features, epsilon) >= best - 1e-6


def test_the_worst_error_is_attained_by_a_task():
    """Climbing over tasks finds one that is nearly as bad as the dual says, and never one that is worse."""
    generator = np.random.default_rng(5)
    for _ in range(8):
        table, spectrum, features, _ = drawn(generator, near=True)
        epsilon = 1 - 0.8 * float(spectrum.values[0])
        tasks = (
            generator.standard_normal((60_000, len(table.of_x)))
            @ np.linalg.qr(generator.standard_normal((len(table.of_x),) * 2))[0]
        )
        tasks = np.vstack(
            [tasks, tasks[:30_000] * 0.3 + 2 * np.outer(generator.standard_normal(30_000), spectrum.of_x[:, 0])]
        )
        centred = table.centred(tasks.T)
        spread = table.of_x @ centred**2
        within = table.of_a @ table.means_over_x(centred) ** 2 / spread >= (1 - epsilon) ** 2
        own = table.centred(features)
        basis = np.linalg.qr(np.sqrt(table.of_x)[:, None] * own)[0]
        known = ((basis.T @ (np.sqrt(table.of_x)[:, None] * centred)) ** 2).sum(axis=0)
        found = float((1 - known / spread)[within].max())
        worst = worst_error(table, features, epsilon)
        assert found <= worst + 1e-9 and found >= 0.6 * worst


def test_claims():
    vacuous = error_claim(0.25, 0.25, 0.6, exact=True)
    assert vacuous.status == "vacuous" and vacuous.value == 1 and vacuous.kind == "certified"
    holds = error_claim(0.25, 0.01, 0.52, exact=False)
    assert holds.status == "holds" and holds.kind == "heuristic" and holds.assumptions[0].check == "violated"
    assert any_encoder_error(0.25, 0.1, 0.1) == 0  # no task is so compatible
    with pytest.raises(UsageError, match="epsilon"):
        any_encoder_error(0.25, 0.1, 1.5)
    with pytest.raises(UsageError, match="constant"):
        compatibility(joint_table(np.eye(3) + 1), np.ones(3))
