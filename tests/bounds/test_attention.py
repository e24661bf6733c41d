"""Attention: no derivative of an independent implementation exceeds a bound, and the bound is attained."""

import math

import numpy as np
import pytest

from lengthwise.bounds.lipschitz import AttentionHead, HeadNorms, Region, Visibility, attention_bound
from lengthwise.bounds.lipschitz.attention import head_factor
from lengthwise.errors import UsageError
from lengthwise.rounding import rounded


def weights_of(x, head, sight, turns=None):
    """The weights of one head, written without the package."""
    q = x @ head.query.T + (0 if head.query_bias is None else head.query_bias)
    k = x @ head.key.T + (0 if head.key_bias is None else head.key_bias)
    if turns is not None:
        q, k = turn(q, turns), turn(k, turns)
    logits = head.scale * q @ k.T
    behind = np.arange(len(x))[:, None] - np.arange(len(x))[None]
    hidden = behind < 0 if sight.causal else np.zeros_like(behind, bool)
    if sight.window is not None:
        hidden = hidden | (np.abs(behind) >= sight.window)
    logits = np.where(hidden, -np.inf, logits)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def turn(x, turns):
    half = x.shape[1] // 2
    angles = np.arange(len(x))[:, None] * turns
    first, second = x[:, :half], x[:, half:]
    cos, sin = np.cos(angles), np.sin(angles)
    return np.concatenate([first * cos - second * sin, first * sin + second * cos], axis=1)


def forward(x, heads, sight, turns=None):
    return sum((weights_of(x, h, sight, turns) @ (x @ h.value.T)) @ h.out.T for h in heads)


def jacobian(x, heads, sight, turns=None):
    """Central differences, [T, O, T, W]."""
    step = 1e-5
    columns = []
    for token in range(len(x)):
        for place in range(x.shape[1]):
            moved = np.zeros_like(x)
            moved[token, place] = step
            ahead, back = (forward(x + s * moved, heads, sight, turns) for s in (1, -1))
            columns.append((ahead - back) / (2 * step))
    return np.stack(columns, axis=-1).reshape(len(x), -1, *x.shape)


def token_norm_below(derivative, rounds=20):
    """A lower bound of the norm from (2, inf) to (2, inf): every output token by alternation from its own start."""
    best = 0.0
    rng = np.random.default_rng(0)
    for rows in derivative:  # [O, T, W]
        direction = rng.normal(size=len(rows))
        for _ in range(rounds):
            moves = np.einsum("o,otw->tw", direction, rows)
            moves /= np.maximum(np.linalg.norm(moves, axis=1, keepdims=True), 1e-300)
            image = np.einsum("otw,tw->o", rows, moves)
            best = max(best, float(np.linalg.norm(image)))
            direction = image
    return best


def random_case(rng):
    width, count = int(rng.integers(2, 6)), int(rng.integers(1, 4))
    size = 2 * int(rng.integers(1, 3))
    rotary = bool(rng.random() < 0.4)
    strength = 10 ** rng.uniform(-1, 1)

    def bias():
        return None if rng.random() < 0.5 else rng.normal(size=size)

    heads = [
        AttentionHead(
            *(rng.normal(size=(size, width)) * strength for _ in range(2)),
            rng.normal(size=(size, width)),
            rng.normal(size=(width, size)),
            bias(),
            bias(),
            scale=1 / math.sqrt(size),
            rotary=rotary,
        )
        for _ in range(count)
    ]
    length = int(rng.integers(1, 7))
    sight = Visibility(length, bool(rng.random() < 0.5), None if rng.random() < 0.7 else 2)
    radius = 10 ** rng.uniform(-1, 0.5)
    x = rng.normal(size=(length, width))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x *= radius * (1 if rng.random() < 0.5 else rng.random((length, 1)))
    turns = rng.uniform(0, 3, size // 2) if rotary else None
    return x, heads, sight, radius, turns


def test_no_derivative_exceeds_the_bounds():
    rng = np.random.default_rng(3)
    worst = {"token": 0.0, "frobenius": 0.0}
    for _ in range(100):
        x, heads, sight, radius, turns = random_case(rng)
        derivative = jacobian(x, heads, sight, turns)
        found = {
            "token": token_norm_below(derivative),
            "frobenius": np.linalg.norm(derivative.reshape(-1, x.size), 2),
        }
        for norm, value in found.items():
            bound = attention_bound(heads, Region(radius), norm, sight)
            assert value <= bound.constant * (1 + 1e-6), (norm, value, bound)
            worst[norm] = max(worst[norm], value / bound.constant)
        reach = np.linalg.norm(forward(x, heads, sight, turns), axis=1).max()
        assert reach <= attention_bound(heads, Region(radius), sight=sight).reach
    assert min(worst.values()) > 0.3, f"random cases come nowhere near the bounds: {worst}"


def two_clusters(strength, copies=200):
    """The case that attains the bound (statement 4): half of the weight on +e1, half on -e1, asked by e2."""
    head = AttentionHead(strength * np.diag([1.0, -1.0]), np.eye(2), np.eye(2), np.eye(2))
    x = np.array([[0.0, 1.0]] + [[1.0, 0.0]] * copies + [[-1.0, 0.0]] * copies)
    return head, x


def stretch_of_clusters(strength, copies=200):
    """|f_0(x + e m) - f_0(x - e m)| / 2e for the moves m of statement 4."""
    head, x = two_clusters(strength, copies)
    sight = Visibility(len(x), causal=False)
    tilt = np.array([1.0, strength]) / math.hypot(1.0, strength)
    moves = np.vstack([[[1.0, 0.0]], [tilt * [1, -1]] * copies, [tilt] * copies])
    step = 1e-6 / max(1.0, strength)
    ahead, back = (forward(x + s * step * moves, [head], sight)[0] for s in (1, -1))
    return np.linalg.norm(ahead - back) / (2 * step)


@pytest.mark.parametrize("strength", [0.01, 0.3, 1.0, 3.0, 10.0, 100.0])
def test_token_bound_is_attained(strength):
    head, x = two_clusters(strength)
    bound = attention_bound([head], Region(1.0), "token", Visibility(len(x), causal=False)).constant
    assert bound == pytest.approx(strength + math.hypot(1, strength), rel=1e-7)
    assert 0.99 < stretch_of_clusters(strength) / bound < 1 + 1e-6
    assert bound <= 1 + 2 * strength + 1e-6, "the simpler form is never smaller"


def test_forms_that_are_implied():
    """The published Frobenius forms follow from statement 6, so they are never smaller."""
    for n in (1, 2, 10, 1000):
        for t in (0.0, 0.01, 0.5, 1.0, 7.0, 300.0):
            norms = HeadNorms(1.0, 1.0, t, 0.0, 0.0, False)
            ours = head_factor(norms, 1.0, "frobenius", Visibility(n, causal=False))
            assert ours <= math.sqrt(3) * math.sqrt(t**2 * (4 * n + 1) + n) * (1 + 1e-6)
            if t < 100:
                assert ours <= (1 + 3 * t) * math.exp(2 * t) * (1 + 1e-6)
            if t >= 7:
                assert ours > math.sqrt(n) * t, "no smaller than what moving all keys does"


def test_most_received():
    assert Visibility(10).most_received() == 10 and Visibility(10, window=3).most_received() == 3
    assert Visibility(10, causal=False, window=3).most_received() == 5
    assert Visibility(10, causal=False).most_received(0.0) == pytest.approx(1.0)
    assert Visibility(4).most_received(0.0) == pytest.approx(1 + 1 / 2 + 1 / 3 + 1 / 4)
    assert Visibility(4, biased=True).most_received(0.0) == 4, "a position bias may put all weight on one key"


def test_bias_of_keys_cancels_unless_turned():
    rng = np.random.default_rng(4)
    matrices = [rng.normal(size=(2, 3)) for _ in range(3)] + [rng.normal(size=(3, 2))]
    plain = AttentionHead(*matrices)
    biased = AttentionHead(*matrices, key_bias=np.array([5.0, -3.0]))
    turned = AttentionHead(*matrices, rotary=True)
    both = AttentionHead(*matrices, key_bias=np.array([5.0, -3.0]), rotary=True)
    constant = [attention_bound([h], Region(1.0)).constant for h in (plain, biased, turned, both)]
    assert constant[0] == constant[1] < constant[2] < constant[3]


def test_centre_and_norm_weights_are_folded_into_the_matrices():
    rng = np.random.default_rng(5)
    head = AttentionHead(*(rng.normal(size=(4, 5)) for _ in range(3)), rng.normal(size=(5, 4)), rng.normal(size=4))
    weight, bias = rng.normal(size=5), rng.normal(size=5)
    z = rng.normal(size=(6, 5))
    z -= z.mean(axis=1, keepdims=True)
    sight = Visibility(6)
    inexact = head.behind_norm(weight, bias, centred=True)
    matrices = (inexact.query, inexact.key, inexact.value, inexact.out)
    vectors = (inexact.query_bias, inexact.key_bias, inexact.value_bias)
    folded = AttentionHead(*(rounded(part).values for part in (*matrices, *vectors)))
    assert weights_of(z, folded, sight) == pytest.approx(weights_of(weight * z + bias, head, sight))
    seen = forward(weight * z + bias, [head], sight)
    own = forward(z, [folded], sight) + folded.value_bias @ head.out.T
    assert seen == pytest.approx(own)
    far = attention_bound([head], Region(1.0, center=100 * bias)).constant
    assert far > attention_bound([head], Region(1.0)).constant


def test_bad_input():
    head, _ = two_clusters(1.0)
    with pytest.raises(UsageError, match="at least one head"):
        attention_bound([], Region(1.0))
    with pytest.raises(UsageError, match="needs the length"):
        attention_bound([head], Region(1.0), "frobenius")
    with pytest.raises(UsageError, match="at least 1 token"):
        Visibility(0)
    with pytest.raises(UsageError, match="one shape"):
        AttentionHead(np.eye(2), np.eye(3), np.eye(2), np.eye(2))
    with pytest.raises(UsageError, match="radius"):
        Region(-1.0)
