"""Attention rules by themselves: what they give on logits where the answer is plain, and which settings they refuse."""

import math

import pytest
import torch
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lengthwise.errors import UsageError
from lengthwise.models.attention import attentions
from lengthwise.models.attention.softmax import Hardmax, LogLength, Softmax, WindowAttention

NOT_SEEN = -math.inf
LOGITS = st.lists(st.floats(-30, 30), min_size=1, max_size=9)


@settings(max_examples=50)
@given(LOGITS, st.data())
def test_weights_are_a_distribution_over_what_is_seen(values: list[float], data: st.DataObject) -> None:
    hidden = data.draw(st.lists(st.booleans(), min_size=len(values), max_size=len(values)))
    if all(hidden):
        hidden[0] = False
    logits = torch.tensor(values, dtype=torch.float64).masked_fill(torch.tensor(hidden), NOT_SEEN)
    for name in attentions.names():
        weights = attentions.make(name).weights(logits.expand(1, 2, 1, -1))  # an item, two heads, a query
        assert weights.sum(dim=-1).flatten().tolist() == pytest.approx([1, 1])
        assert (weights >= 0).all() and not weights[..., torch.tensor(hidden)].any()


def test_hardmax_averages_ties() -> None:
    logits = torch.tensor([[2.0, 1.0, 2.0, NOT_SEEN], [0.0, NOT_SEEN, NOT_SEEN, NOT_SEEN], [5.0, 5.0, 5.0, 5.0]])
    wanted = [[0.5, 0, 0.5, 0], [1, 0, 0, 0], [0.25] * 4]
    assert Hardmax().weights(logits).tolist() == wanted


def test_hardmax_takes_what_is_within_the_tie() -> None:
    logits = torch.tensor([1.0, 0.95, 0.8])
    assert Hardmax(tie=0.1).weights(logits).tolist() == [0.5, 0.5, 0]
    assert Hardmax(tie=0.0).weights(logits).tolist() == [1, 0, 0]


def test_hardmax_has_the_gradient_of_softmax() -> None:
    logits = torch.tensor([1.0, 0.5, -1.0, NOT_SEEN], dtype=torch.float64, requires_grad=True)
    value = torch.tensor([3.0, -2.0, 1.0, 9.0], dtype=torch.float64)
    weights = Hardmax().weights(logits)
    assert weights.tolist() == [1, 0, 0, 0]
    (hard,) = torch.autograd.grad(weights @ value, logits)
    (soft,) = torch.autograd.grad(logits.softmax(-1) @ value, logits)
    assert hard.equal(soft) and hard.abs().max() > 0.1


@settings(max_examples=50)
@given(st.integers(0, 10**6), st.floats(1.01, 1000))
def test_log_length_multiplies_by_the_logarithm_of_how_much_is_seen(index: int, reference: float) -> None:
    assert float(LogLength().sharpness(torch.tensor([index]))) == pytest.approx(math.log(index + 1), rel=1e-14)
    scaled = float(LogLength(reference).sharpness(torch.tensor([index])))
    assert scaled == pytest.approx(math.log(index + 1) / math.log(reference), rel=1e-12)


@settings(max_examples=50)
@example(400, 5.0, 1.5)  # the rest is below the precision of a double beside 1
@given(st.integers(2, 400), st.floats(0.01, 5), st.floats(1.5, 50))
def test_log_length_keeps_the_best_key(seen: int, lead: float, reference: float) -> None:
    """The bound its docstring states: a lead of g leaves the others at most n^(1 - g / ln reference)."""
    rule = LogLength(reference)
    logits = torch.zeros(seen, dtype=torch.float64)
    logits[0] = lead
    rest = rule.weights(logits * rule.sharpness(torch.tensor([seen - 1])))[1:].sum()  # 1 - the best would lose digits
    assert rest <= seen ** (1 - lead / math.log(reference)) * (1 + 1e-9)


def test_softmax_has_a_temperature() -> None:
    assert Softmax(0.25).sharpness(torch.arange(3)) == 4.0
    assert Softmax(0.25).window() is None and WindowAttention(5).window() == 5


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("softmax:temperature=0", "a softmax temperature must be above 0, not 0.0 (hardmax is the limit at 0)"),
        ("softmax:temperature=-1.5", "a softmax temperature must be above 0, not -1.5 (hardmax is the limit at 0)"),
        ("log_length:reference=1", "log_length needs a reference above 1, not 1.0"),
        ("window:size=0", "an attention window must hold at least 1 place, not 0"),
        ("hardmax:tie=-0.5", "the tie of hardmax must be 0 or more, not -0.5"),
    ],
)
def test_wrong_settings_name_the_right_ones(spec: str, sentence: str) -> None:
    with pytest.raises(UsageError) as error:
        attentions.make(spec)
    assert str(error.value) == sentence


def test_not_a_number_is_refused() -> None:
    for rule in (Softmax, LogLength, Hardmax):
        with pytest.raises(UsageError):
            rule(math.nan)
