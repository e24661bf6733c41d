"""Near given sequences: the local bound holds in the whole neighbourhood, and is smaller than the ball's."""

import math

import numpy as np
import pytest

from lengthwise.bounds.lipschitz import (
    AttentionHead,
    Region,
    SeenAttention,
    Visibility,
    attention_bound,
    local_attention_constant,
    local_numbers,
    spectral_norm,
)
from lengthwise.bounds.lipschitz.attention import largest_deviation


def seen_by(head, x, causal):
    q, k, v = (x @ m.T for m in (head.query, head.key, head.value))
    q = q if head.query_bias is None else q + head.query_bias
    logits = head.scale * q @ k.T
    if causal:
        logits = np.where(np.tri(len(x), dtype=bool), logits, -np.inf)
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    return SeenAttention(q[None], k[None], v[None], weights[None])


def constants(heads, x, widening, causal):
    out = spectral_norm(np.concatenate([h.out for h in heads], axis=1))
    sight = Visibility(len(x), causal)
    numbers = [local_numbers(h, h.norms, seen_by(h, x, causal), widening, sight.most_received()) for h in heads]
    return [local_attention_constant(numbers, out, norm) for norm in ("token", "frobenius")]


def forward(heads, x, causal):
    return sum(seen_by(h, x, causal).weights[0] @ (x @ h.value.T) @ h.out.T for h in heads)


def stretches(heads, x, y, causal):
    moved, image = x - y, forward(heads, x, causal) - forward(heads, y, causal)
    tokens = [np.linalg.norm(part, axis=1) for part in (image, moved)]
    return tokens[0].max() / tokens[1].max(), np.linalg.norm(tokens[0]) / np.linalg.norm(tokens[1])


def moves(rng, shape, widening, count):
    """Moves of tokens by exactly `widening`, all along one line among them, as those stretch most."""
    for index in range(count):
        step = rng.normal(size=shape)
        if index % 2:
            step = rng.choice([-1.0, 1.0], size=(shape[0], 1)) * rng.normal(size=(1, shape[1]))
        yield widening * step / np.linalg.norm(step, axis=1, keepdims=True)


def test_no_pair_in_the_neighbourhood_is_stretched_more():
    rng = np.random.default_rng(0)
    worst = 0.0
    for case in range(80):
        width, causal, widening = 4, bool(case % 2), float(10 ** rng.uniform(-3, -0.3))
        heads = [
            AttentionHead(
                *(rng.normal(size=(2, width)) for _ in range(3)), rng.normal(size=(width, 2)), rng.normal(size=2)
            )
            for _ in range(1 + case % 2)
        ]
        x = rng.normal(size=(int(rng.integers(1, 6)), width))
        token, frobenius = constants(heads, x, widening, causal)
        for move in moves(rng, x.shape, widening, 6):
            for one, other in ((x, x + move), (x - move, x + move), (x + move, x + 0.98 * move)):
                by_token, by_all = stretches(heads, one, other, causal)
                assert by_token <= token and by_all <= frobenius
                worst = max(worst, by_token / token)
    assert worst > 0.3, f"the attack is too weak to mean anything: {worst}"


def test_local_bound_is_below_the_ball_and_grows_with_the_widening():
    rng = np.random.default_rng(1)
    head = AttentionHead(*(2 * rng.normal(size=(3, 3)) for _ in range(3)), rng.normal(size=(3, 3)))
    x = rng.normal(size=(6, 3))
    ball = attention_bound([head], Region(np.linalg.norm(x, axis=1).max())).constant
    values = [constants([head], x, w, True)[0] for w in (0.0, 0.01, 0.1, 1.0)]
    assert values[0] < 0.7 * ball and values == sorted(values)


def test_one_token_is_only_passed_on():
    rng = np.random.default_rng(2)
    head = AttentionHead(*(rng.normal(size=(3, 3)) for _ in range(3)), rng.normal(size=(3, 3)))
    assert constants([head], rng.normal(size=(1, 3)), 0.0, True)[0] == pytest.approx(
        np.linalg.norm(head.out @ head.value, 2), rel=1e-6
    )


def test_largest_deviation_is_that_of_the_covariance():
    rng = np.random.default_rng(3)
    for keys, width in ((7, 3), (3, 7)):
        weights = rng.dirichlet(np.ones(keys), size=(2, keys))
        points = rng.normal(size=(2, keys, width))
        found = largest_deviation(weights, points)
        for item in range(2):
            for row in range(keys):
                cov = np.cov(points[item].T, aweights=weights[item, row], ddof=0)
                assert found[item, row] == pytest.approx(math.sqrt(np.linalg.norm(cov, 2)), rel=1e-9)
                assert found[item, row] ** 2 >= np.linalg.norm(cov, 2) * (1 - 1e-14)


def test_keys_whose_turning_is_unknown_count_with_their_length():
    rng = np.random.default_rng(4)
    head = AttentionHead(*(rng.normal(size=(2, 3)) for _ in range(3)), rng.normal(size=(3, 2)), rotary=True)
    seen = seen_by(head, rng.normal(size=(5, 3)), True)
    unknown = SeenAttention(seen.queries, seen.keys, seen.values, seen.weights, turned=False)
    norms = head.norms
    known, numbers = (local_numbers(head, norms, s, 0.0, 5.0) for s in (seen, unknown))
    longest = np.linalg.norm(seen.keys, axis=2).max()
    value_spread = largest_deviation(seen.weights, seen.values)
    assert np.all(numbers.by_query.value >= known.by_query.value)
    expected = np.linalg.norm(head.query, 2) * longest * value_spread  # the scale is 1
    assert numbers.by_query.value == pytest.approx(expected, rel=1e-6)


def selector(strength):
    """logit_ij = strength x_i[2] x_j[1]: tokens with a third coordinate ask, and the second says how loud a key is."""
    ask, loud = np.array([[0.0, 0.0, strength]]), np.array([[0.0, 1.0, 0.0]])
    return AttentionHead(ask, loud, np.eye(3), np.eye(3))


def test_attention_that_can_tip_over_within_the_widening():
    """One key has all the weight, but both have as much once they have moved: the actual covariance is not enough."""
    head, gap, step = selector(50.0), 0.1, 1e-3
    x = np.array([[0.0, 0.0, 1.0], [1.0, gap, 0.0], [-1.0, -gap, 0.0]])
    one, other = x.copy(), x.copy()
    one[1:, 1], other[1:, 1] = [step, -step], [-step, step]
    found = stretches([head], one, other, False)[0]
    here, around = constants([head], x, 0.0, False)[0], constants([head], x, gap + 2 * step, False)[0]
    assert here < found < around


def test_tokens_that_are_equal_can_come_apart_within_the_widening():
    head, widening, step = selector(100.0), 0.1, 1e-4
    x = np.array([[0.0, 0.0, 1.0]] * 2)
    apart, loud = np.array([[0.09, 0.0, 0.0], [-0.09, 0.0, 0.0]]), np.array([[0.0, step, 0.0], [0.0, -step, 0.0]])
    one, other = x + apart + loud, x + apart - loud
    found = stretches([head], one, other, False)[0]
    assert constants([head], x, 0.0, False)[0] == pytest.approx(1.0)
    assert 5 < found < constants([head], x, widening, False)[0]
