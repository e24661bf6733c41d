"""RoPE: what it does to queries and keys, and its dynamic form."""

import cmath
import math

import pytest
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.positions import Shape, make_position, positions
from lengthwise.positions.networks.encoders import Encoder
from lengthwise.positions.scaling import make_scaling


def built(spec: str, head_width: int = 8, trained: int = 10) -> Encoder:
    return make_position(spec).build(Shape(2 * head_width, 2, 100, trained))


def noise(*shape: int) -> Tensor:
    return torch.randn(*shape, dtype=torch.float64, generator=torch.Generator().manual_seed(1))


def slow_logit(q: list[float], k: list[float], query_at: int, key_at: int, base: float = 10000.0) -> float:
    """Re Σ q_d conj(k_d) e^(i (p - p') θ_d), where d and d + D/2 are the parts of one complex number."""
    half, total = len(q) // 2, 0.0
    for d in range(half):
        turn = cmath.exp(1j * (query_at - key_at) * base ** (-d / half))
        total += (complex(q[d], q[d + half]) * complex(k[d], k[d + half]).conjugate() * turn).real
    return total


def test_a_logit_is_a_sum_of_turned_complex_products() -> None:
    x, at = noise(2, 2, 5, 8), torch.tensor([[0, 1, 7, 50, 9000], [3, 4, 5, 6, 7]])
    turned = built("rope").rotate(x, at)
    logits = turned @ turned.transpose(2, 3)
    for item in range(2):
        for query in range(5):
            for key in range(5):
                positions = int(at[item, query]), int(at[item, key])
                want = slow_logit(x[item, 1, query].tolist(), x[item, 1, key].tolist(), *positions)
                assert float(logits[item, 1, query, key]) == pytest.approx(want, abs=1e-9)


def test_only_the_distance_counts() -> None:
    q, k, encoder = noise(1, 2, 1, 8), noise(1, 2, 1, 8).flip(0), built("rope:base=500")
    near, far = (
        (encoder.rotate(q, torch.tensor([[shift + 9]])) * encoder.rotate(k, torch.tensor([[shift]]))).sum()
        for shift in (0, 12345)
    )
    assert float(near) == pytest.approx(float(far), abs=1e-10)


def test_lengths_stay_and_yarn_multiplies_them() -> None:
    x, at = noise(1, 2, 4, 8), torch.arange(4)[None] * 100
    torch.testing.assert_close(built("rope").rotate(x, at).norm(dim=-1), x.norm(dim=-1))
    stretched = built("rope:scaling=yarn,factor=16").rotate(x, at).norm(dim=-1) / x.norm(dim=-1)
    torch.testing.assert_close(stretched, torch.full_like(stretched, 0.1 * math.log(16) + 1))


def test_interpolation_is_rope_at_divided_positions() -> None:
    x, at = noise(1, 2, 4, 8), torch.arange(4)[None]
    torch.testing.assert_close(
        built("rope:scaling=interpolation,factor=4").rotate(x, at * 4), built("rope").rotate(x, at)
    )


@pytest.mark.parametrize(
    "kind,spec",
    [
        ("default", "rope"),
        ("linear", "rope:scaling=interpolation,factor=4"),
        ("proportional", "rope:share=0.6,scaling=interpolation,factor=4"),
    ],
)
def test_agrees_with_transformers(kind: str, spec: str) -> None:
    llama = pytest.importorskip("transformers.models.llama.modeling_llama")
    config = pytest.importorskip("transformers.models.llama.configuration_llama").LlamaConfig(
        hidden_size=16,
        num_attention_heads=2,
        rope_parameters={
            "rope_type": kind,
            "rope_theta": 10000.0,
            "factor": 4.0,
            **({"partial_rotary_factor": 0.6} if kind == "proportional" else {}),
        },
    )
    x, at = noise(1, 2, 6, 8).float(), torch.arange(6)[None] * 17
    cos, sin = llama.LlamaRotaryEmbedding(config)(x, at)
    theirs, _ = llama.apply_rotary_pos_emb(x, x, cos, sin)
    torch.testing.assert_close(built(spec).rotate(x, at), theirs, atol=1e-5, rtol=1e-5)


def test_float32_loses_nothing_at_large_positions() -> None:
    x, at = noise(1, 2, 1, 8), torch.tensor([[123_456_789]])
    encoder = built("rope").float()
    torch.testing.assert_close(encoder.rotate(x.float(), at).double(), encoder.rotate(x, at), atol=1e-6, rtol=0)


def test_dynamic_is_plain_up_to_the_original_length() -> None:
    x, at = noise(1, 2, 10, 8), torch.arange(10)[None] + 500
    encoder = built("rope:scaling=dynamic")
    assert encoder.scores(x, x, at, at, torch.arange(10)) is None
    assert torch.equal(encoder.rotate(x, at), built("rope").rotate(x, at))


@pytest.mark.parametrize("spec", ["rope:scaling=dynamic", "rope:scaling=dynamic,original=6"])
def test_dynamic_gives_every_late_query_a_base_of_its_own(spec: str) -> None:
    original = 6 if "original" in spec else 10
    q, k = noise(2, 2, 14, 8), noise(2, 2, 14, 8).flip(2)
    at = torch.stack([torch.arange(14), torch.arange(14) * 3 + 5])
    found = built(spec).scores(q, k, at, at, torch.arange(14))
    assert found is not None
    for query in range(14):
        base = 10000.0 * max(1.0, (query + 1) / original) ** (8 / 6)
        for key in range(14):
            positions = int(at[1, query]), int(at[1, key])
            want = slow_logit(q[1, 0, query].tolist(), k[1, 0, key].tolist(), *positions, base)
            assert float(found[1, 0, query, key]) == pytest.approx(want, abs=1e-10)


def test_bad_settings() -> None:
    with pytest.raises(UsageError, match=r"even head width, and width 14 with 2 heads gives 7; use width 16"):
        make_position("rope").check(Shape(14, 2, 9, 9))
    with pytest.raises(UsageError, match="head width of 4 or more"):
        make_position("rope:scaling=dynamic").check(Shape(4, 2, 9, 9))
    for spec in ("rope:base=1", "rope:original=-1", "rope:low=4,high=4"):
        with pytest.raises(UsageError, match="rope needs"):
            make_position(spec)
    with pytest.raises(UsageError, match="needs a factor above 1, as in rope:scaling=yarn,factor=4"):
        make_position("rope:scaling=yarn")
    with pytest.raises(UsageError, match="scaling none takes no factor"):
        make_position("rope:factor=4")
    with pytest.raises(UsageError, match="one of none, interpolation"):
        make_position("rope:scaling=longrope")


@pytest.mark.parametrize(("share", "turned"), [(0.75, 6), (0.5, 4), (0.7, 5), (1.0, 8)])
def test_a_share_of_the_pairs_turns(share: float, turned: int) -> None:
    """The fastest pairs as without a share, the others not at all: a direct rotation of these coordinates."""
    shape = Shape(32, 2, 40, 40)
    plain, part = make_position("rope").build(shape), make_position(f"rope:share={share}").build(shape)
    x, at = torch.randn(3, 2, 5, 16, dtype=torch.float64), torch.tensor([[0, 3, 4, 90, 1000]])
    whole, some = plain.rotate(x, at), part.rotate(x, at)
    pairs = [*range(turned), *range(8, 8 + turned)]
    still = [one for one in range(16) if one not in pairs]
    assert torch.equal(some[..., pairs], whole[..., pairs])
    assert torch.equal(some[..., still], x[..., still])


def test_a_share_stays_with_a_scaling() -> None:
    shape = Shape(16, 1, 40, 8)
    for scaling in ("interpolation", "ntk", "by_parts", "yarn"):
        encoder = make_position(f"rope:scaling={scaling},factor=4,share=0.5").build(shape)
        assert encoder.turns[4:].eq(0).all() and encoder.turns[:4].gt(0).all()  # pyright: ignore
    dynamic = make_position("rope:scaling=dynamic,share=0.5").build(shape)
    assert dynamic.turns_at(100)[4:].eq(0).all() and dynamic.turns_at(100)[:4].gt(0).all()  # pyright: ignore
    scaled = make_scaling("yarn:factor=4").position(make_position("rope:share=0.5+offset"))
    assert positions.text_of(scaled) == "rope:scaling=yarn,factor=4,share=0.5+offset"


def test_a_share_that_turns_nothing_is_refused() -> None:
    for spec in ("rope:share=0", "rope:share=1.5"):
        with pytest.raises(UsageError):
            make_position(spec)
    with pytest.raises(UsageError, match=r"0\.25"):
        make_position("rope:share=0.2").check(Shape(32, 4, 40, 40))
