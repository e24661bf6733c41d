"""The frequencies of RoPE and its rescalings, against their formulas and against another implementation."""

import math

import pytest

from lengthwise.errors import UsageError
from lengthwise.positions import make_position
from lengthwise.positions.networks.encoders import frequencies, yarn_factor
from lengthwise.positions.position import Shape

WIDTH = 32
PLAIN = [10000.0 ** (-2 * k / WIDTH) for k in range(WIDTH // 2)]


def test_plain() -> None:
    assert frequencies(WIDTH).tolist() == pytest.approx(PLAIN, rel=1e-14)
    assert frequencies(4, base=100.0).tolist() == pytest.approx([1.0, 0.1], rel=1e-14)


def test_interpolation_divides_all() -> None:
    assert frequencies(WIDTH, scaling="interpolation", factor=8).tolist() == pytest.approx([t / 8 for t in PLAIN])


def test_ntk_spares_the_fastest_and_divides_the_slowest() -> None:
    found = frequencies(WIDTH, scaling="ntk", factor=8).tolist()
    base = 10000.0 * 8 ** (32 / 30)
    assert found == pytest.approx([base ** (-2 * k / WIDTH) for k in range(16)], rel=1e-12)
    assert found[0] == 1.0
    assert found[-1] == pytest.approx(PLAIN[-1] / 8, rel=1e-12)


def test_by_parts_is_a_ramp_between_interpolation_and_nothing() -> None:
    original, factor, low, high = 512, 4.0, 1.0, 32.0
    found = frequencies(WIDTH, scaling="by_parts", factor=factor, original=original, low=low, high=high).tolist()
    seen = set()
    for theta, new in zip(PLAIN, found, strict=True):
        rounds = original / (2 * math.pi / theta)
        if rounds <= low:
            seen.add("slow")
            assert new == pytest.approx(theta / factor, rel=1e-14)
        elif rounds >= high:
            seen.add("fast")
            assert new == theta
        else:
            seen.add("between")
            gamma = (rounds - low) / (high - low)
            assert new == pytest.approx((1 - gamma) * theta / factor + gamma * theta, rel=1e-14)
    assert seen == {"slow", "fast", "between"}


def test_by_parts_has_interpolation_and_nothing_as_its_limits() -> None:
    every = frequencies(WIDTH, scaling="by_parts", factor=4, original=512, low=1e6, high=2e6)
    none = frequencies(WIDTH, scaling="by_parts", factor=4, original=512, low=0.0, high=1e-9)
    assert every.tolist() == pytest.approx([theta / 4 for theta in PLAIN], rel=1e-14)
    assert none.tolist() == PLAIN


def test_the_attention_factor_of_yarn() -> None:
    assert yarn_factor(16) == pytest.approx(1.2773, abs=5e-5)
    assert yarn_factor(4) == 0.1 * math.log(4) + 1
    assert yarn_factor(1) == 1.0


def their_frequencies(kind: str, seq_len: int | None = None, **settings: float) -> tuple[list[float], float]:
    utils = pytest.importorskip("transformers.modeling_rope_utils")
    llama = pytest.importorskip("transformers.models.llama.configuration_llama")
    config = llama.LlamaConfig(
        hidden_size=128,
        num_attention_heads=4,
        max_position_embeddings=512,
        rope_parameters={"rope_type": kind, "rope_theta": 10000.0, **settings},
    )
    found, factor = utils.ROPE_INIT_FUNCTIONS[kind](config, "cpu", seq_len=seq_len)
    return found.tolist(), factor


def test_agrees_with_transformers() -> None:
    theirs, _ = their_frequencies("linear", factor=4.0)
    assert frequencies(WIDTH, scaling="interpolation", factor=4).tolist() == pytest.approx(theirs, rel=1e-6)
    theirs, _ = their_frequencies("dynamic", seq_len=2048, factor=1.0)
    assert frequencies(WIDTH, scaling="ntk", factor=4).tolist() == pytest.approx(theirs, rel=1e-6)
    # What they call llama3 is NTK-by-parts with its ramp in the number of rounds.
    settings = {"low_freq_factor": 1.0, "high_freq_factor": 32.0, "original_max_position_embeddings": 512}
    theirs, _ = their_frequencies("llama3", factor=4.0, **settings)
    ours = frequencies(WIDTH, scaling="by_parts", factor=4, original=512)
    assert ours.tolist() == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize(("factor", "original"), [(4.0, 512), (16.0, 64), (32.0, 4096)])
def test_yarn_agrees_with_transformers(factor: float, original: int) -> None:
    theirs, attention = their_frequencies("yarn", factor=factor, original_max_position_embeddings=original)
    ours = frequencies(WIDTH, scaling="yarn", factor=factor, original=original).tolist()
    assert ours == pytest.approx(theirs, rel=1e-6)
    assert attention == pytest.approx(yarn_factor(factor))


def test_yarn_agrees_with_its_definition_outside_the_ramp() -> None:
    yarn, parts = (frequencies(WIDTH, scaling=name, factor=16, original=512) for name in ("yarn", "by_parts"))
    rounds = [512 * theta / (2 * math.pi) for theta in PLAIN]
    outside = [k for k in range(16) if rounds[k] < 0.5 or rounds[k] > 64]  # the ramp has its ends rounded outwards
    assert len(outside) >= 6
    assert yarn[outside].tolist() == pytest.approx(parts[outside].tolist(), rel=1e-14)


def test_the_bands_of_llama3() -> None:
    """More than 4 turns in the original length: left alone; fewer than 1: divided; between them a ramp."""
    rope = make_position("rope:scaling=llama3,factor=8,original=512").build(Shape(WIDTH, 1, 512, 512))
    settings = {"low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 512}
    theirs, _ = their_frequencies("llama3", factor=8.0, **settings)
    assert rope.turns.tolist() == pytest.approx(theirs, rel=1e-6)
    shares = [round(new / old, 6) for new, old in zip(rope.turns.tolist(), PLAIN, strict=True)]
    turns = [512 * theta / (2 * math.pi) for theta in PLAIN]
    assert [share for share, r in zip(shares, turns, strict=True) if r > 4] == [1.0] * sum(r > 4 for r in turns)
    assert {share for share, r in zip(shares, turns, strict=True) if r < 1} == {0.125}
    assert any(0.125 < share < 1 for share in shares)


@pytest.mark.parametrize("growth", [1.0, 4.0])
def test_dynamic_has_the_frequencies_of_transformers_at_every_length(growth: float) -> None:
    spec = "rope:scaling=dynamic,original=512" + (f",factor={growth:g}" if growth > 1 else "")
    encoder = make_position(spec).build(Shape(WIDTH, 1, 512, 512))
    for tokens in (1, 512, 513, 2048):
        theirs, _ = their_frequencies("dynamic", seq_len=tokens, factor=growth)
        assert encoder.turns_at(tokens).tolist() == pytest.approx(theirs, rel=1e-6)


def test_the_constant_of_the_interpolation_bound_is_a_limit_and_not_a_bound() -> None:
    """Σ h_k cos(x θ_k), |h| <= 1, is off the line between two whole positions by at most Σ θ_k^2 / 8.

    Published as at most D / (32 ln b) = D / 294.73 (Chen et al. 2023, theorem 2.1), which is that sum with an integral
    in its place: right for many pairs, too small for real heads. With h such that all waves peak between the positions
    the error is larger than it. A certificate has to use the sum.
    """
    assert 32 * math.log(10000.0) == pytest.approx(294.73, abs=5e-3)
    assert float(frequencies(2**16).square().sum()) / 8 == pytest.approx(2**16 / 294.73, rel=1e-3)
    for width, share in ((16, 2.510), (64, 1.298), (128, 1.137)):
        turns = frequencies(width)
        error = float((1 - (turns / 2).cos()).sum())  # at x = 1/2, of Σ cos((x - 1/2) θ_k) and its ends x = 0 and 1
        assert error / (width / 294.73) == pytest.approx(share, abs=5e-4)
        assert error <= float(turns.square().sum()) / 8


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match="no fixed frequencies"):
        frequencies(8, scaling="dynamic")


def test_no_scaling_can_be_asked_for_by_its_name() -> None:
    assert make_position("rope:scaling=none") == make_position("rope")
