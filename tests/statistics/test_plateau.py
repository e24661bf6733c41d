"""Plateaus: found where there is one, with an interval that covers, and not claimed where the loss goes on."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.statistics.plateau import plateau

quick = settings(max_examples=20, deadline=None)  # a busy machine is no counterexample

TRAIN = 20
SIZES = np.arange(21, 121, 4.0)


def approach(level: float, amplitude: float, tau: float):
    return level + amplitude * np.exp(-(SIZES - TRAIN) / tau)


def reasons(claim) -> list[str]:
    return [a.key for a in claim.assumptions if a.check == "violated"]


@given(st.floats(0.2, 5), st.floats(-0.9, 2), st.floats(4, 12), st.sampled_from([1e-6, 1.0, 1e6]))
@quick
def test_a_known_plateau_is_found_at_any_scale(level, share, tau, scale) -> None:
    claim = plateau(SIZES.tolist(), (scale * approach(level, share * level, tau)).tolist(), TRAIN)
    assert claim.status == "holds" and claim.kind == "heuristic"
    assert claim.value == pytest.approx(scale * level, rel=1e-4)
    if abs(share) > 0.05:
        assert claim.evidence["tau"] == pytest.approx(tau, rel=0.01)
        assert claim.evidence["amplitude"] == pytest.approx(scale * share * level, rel=0.01)


def test_evidence_and_units() -> None:
    losses = approach(1.0, -0.8, 10).tolist()
    inside, order = [5.0, 10.0, 20.0], np.random.default_rng(0).permutation(len(SIZES) + 3)
    sizes, all_losses = np.array([*inside, *SIZES]), np.array([0.0, 0.1, 0.2, *losses])
    claim = plateau(sizes[order], all_losses[order], TRAIN, unit="nats", seeds=[0, 1], discarded=[2], rule="learned")
    alone = plateau(SIZES.tolist(), losses, TRAIN)
    assert claim.value == alone.value and claim.evidence["n"] == len(SIZES), "the training range is left out"
    assert claim.evidence["seeds"] == [0, 1] and claim.evidence["discarded"] == [2] and claim.unit == "nats"
    assert claim.evidence["mean_of_last_third"] == pytest.approx(np.mean(losses[-9:]))
    assert claim.evidence["residual"] < 1e-6 and claim.evidence["model"] == "exponential"
    assert claim.reference is not None and claim.reference.key == "izzo2026"
    json.dumps(claim.plain(), allow_nan=False)


@pytest.mark.parametrize("value", [0.0, 1e-9, 0.1, 3e5])
def test_a_constant_is_its_own_plateau(value: float) -> None:
    claim = plateau(SIZES.tolist(), [value] * len(SIZES), TRAIN)
    assert claim.status == "holds" and claim.value == pytest.approx(value)
    assert claim.evidence["model"] == "constant" and claim.evidence["amplitude"] == 0 and claim.evidence["tau"] is None


def test_coverage_and_false_refusals() -> None:
    """60 noisy curves of each kind: the interval covers about 95 % (standard error 3 %), few are refused."""
    generator = np.random.default_rng(1)
    for truth in (approach(1.0, -0.8, 10), approach(1.0, 0.8, 6), approach(1.0, 0.0, 1)):
        claims = [plateau(SIZES, truth + generator.normal(0, 0.05, len(SIZES)), TRAIN) for _ in range(60)]
        made = [claim for claim in claims if claim.status == "holds"]
        assert len(made) >= 48
        assert np.mean([claim.interval is not None and 1.0 in claim.interval for claim in made]) >= 0.87
        assert all(claim.interval.high - claim.interval.low < 0.15 for claim in made if claim.interval), "not by width"


GROWTH = {
    "linear": 0.02 * SIZES,
    "from a high start": 5 + 0.05 * SIZES,
    "logarithm": np.log(SIZES),
    "root": np.sqrt(SIZES),
    "square": SIZES**2,
    "exponential": np.exp(SIZES / 30),
    "falling line": 5 - 0.03 * SIZES,
    "falling, then rising": approach(1.0, 2.0, 5) + 0.02 * np.maximum(0, SIZES - 85),
    "step at the end": np.where(SIZES > 100, 2.0, 1.0),
}


@pytest.mark.parametrize("kind", GROWTH)
def test_no_plateau_is_claimed_where_the_loss_goes_on(kind: str) -> None:
    generator = np.random.default_rng(2)
    clean = plateau(SIZES, GROWTH[kind], TRAIN)
    assert clean.status == "unknown" and clean.value is None and clean.interval is None and reasons(clean)
    assert {"amplitude", "tau", "limit", "residual", "mean_of_last_third", "drift"} <= clean.evidence.keys()
    noise = generator.normal(0, 0.02 * float(np.ptp(GROWTH[kind])), size=(8, len(SIZES)))
    noisy = [plateau(SIZES, np.abs(GROWTH[kind] + row), TRAIN) for row in noise]
    assert all(claim.status == "unknown" for claim in noisy)


def test_growth_under_much_noise_is_rarely_called_a_plateau() -> None:
    """Six sizes, growth from 0.5 to 2, noise 0.3: often too little for the F test, but a line through all sees it."""
    generator = np.random.default_rng(5)
    sizes = np.linspace(24, 100, 6)
    claims = [plateau(sizes, np.abs(0.02 * sizes + generator.normal(0, 0.3, 6)), TRAIN) for _ in range(60)]
    assert sum(claim.status == "holds" for claim in claims) <= 18
    assert any("plateau.not_exponential" in reasons(claim) for claim in claims)


def test_pure_noise_is_a_constant_with_a_wide_interval() -> None:
    generator = np.random.default_rng(3)
    claims = [plateau(SIZES, generator.exponential(size=len(SIZES)), TRAIN) for _ in range(40)]
    made = [claim for claim in claims if claim.status == "holds"]
    assert len(made) >= 30 and np.mean([claim.interval is not None and 1.0 in claim.interval for claim in made]) > 0.83
    limits = {a.check for claim in made for a in claim.assumptions if a.key == "plateau.settled"}
    assert limits == {"assumed"}, "with so much noise nobody has checked the drift"


def test_too_few_sizes() -> None:
    five = plateau(SIZES[:5], [1.0] * 5, TRAIN)
    assert five.status == "unknown" and reasons(five) == ["plateau.few_sizes"]
    assert plateau([], [], TRAIN).status == "unknown"
    assert plateau(SIZES[:6], [1.0] * 6, TRAIN).status == "holds"
    assert plateau(SIZES, [1.0] * len(SIZES), 200).status == "unknown", "nothing lies beyond training"


def test_a_loss_that_vanishes_has_the_plateau_zero() -> None:
    claim = plateau(SIZES, approach(0.0, 1.0, 5), TRAIN)
    assert claim.status == "holds" and claim.value == pytest.approx(0, abs=1e-6)
    assert claim.interval is not None and claim.interval.low >= 0


@pytest.mark.parametrize(
    "arguments, sentence",
    [
        (([1, 2], [1.0], 0), "every size has one loss"),
        (([1, 1], [1.0, 2.0], 0), "given twice"),
        (([1, 2], [1.0, -2.0], 0), "at least 0"),
        (([1, 2], [1.0, float("inf")], 0), "finite"),
        (([1, 2], [1.0, 1.0], float("nan")), "finite"),
    ],
)
def test_wrong_input_gets_a_sentence(arguments, sentence) -> None:
    with pytest.raises(UsageError, match=sentence):
        plateau(*arguments)
