"""Bounds as claims: what they say, what they pay for, what they refuse."""

import functools
import math

import numpy as np
import pytest

from lengthwise.bounds.tokens import TokenLosses, bounds_for, joined, token_bound
from lengthwise.bounds.tokens import losses as losses_file
from lengthwise.bounds.tokens.formulas import complexity, loss_ceiling, loss_range
from lengthwise.bounds.tokens.inequalities import Freedman, ProductInequality
from lengthwise.bounds.tokens.make import foreseen_bound
from lengthwise.errors import UsageError
from lengthwise.records import Assumption

V = 50
freedman = functools.partial(token_bound, inequality=Freedman())
of_documents = functools.partial(token_bound, level="documents")


def drawn(n: int = 2000, length: int = 10, seed: int = 0) -> TokenLosses:
    """A model that is right about itself: its errors come as often as it expects."""
    rng = np.random.default_rng(seed)
    sure = rng.uniform(0.3, 0.95, n)
    right = rng.random(n) < sure
    rest = (1 - sure) / (V - 1)
    entropy = -sure * np.log(sure) - (V - 1) * rest * np.log(rest)
    mass = np.stack([sure, sure + 4 * rest, sure + 9 * rest], axis=1)
    rank = np.where(right, 0, V - 1)
    return TokenLosses(-np.log(np.where(right, sure, rest)), entropy, rank, mass, np.arange(n) // length, V)


def test_azuma_is_its_formula():
    losses = drawn()
    bound = token_bound(losses, 100)
    nats = complexity(100, 2000, 0.05, 9)
    assert bound.alpha is not None
    expected = losses.smoothed(bound.alpha).mean() + loss_range(bound.alpha, V) * math.sqrt(nats / 2)
    assert bound.total == pytest.approx(expected) and bound.complexity == pytest.approx(nats)
    others = [losses.smoothed(a).mean() + loss_range(a, V) * math.sqrt(nats / 2) for a in (1e-4, 0.01, 0.1, 0.5)]
    assert bound.total <= min(others) + 1e-12


def test_claims_say_everything():
    own = (Assumption("own.no_document_twice", "checked"),)
    made = bounds_for(drawn(), 100, own=own)
    assert len(made) == 20
    for bound in made:
        claim = bound.claim()
        assert claim.value == pytest.approx(sum(claim.evidence["terms"].values()))
        assert claim.status == ("vacuous" if bound.total >= bound.chance else "holds") and claim.kind == "certified"
        assert own[0] in claim.assumptions and claim.reference is not None
        assert claim.reference.key == "docs/explanation/generalisation.md" and claim.evidence["bounds"] == 20
        assert claim.key == f"tokens.{bound.target}.{bound.level}.{bound.inequality}"
        if bound.target == "loss":
            assert bound.chance == math.log(V)
            assert claim.evidence["bits"]["total"] == pytest.approx(bound.total / math.log(2))
        else:
            assert bound.alpha is None and bound.chance == 1 - int(bound.target[3:]) / V
    assert {bound.risk.status for bound in made} == {"holds", "vacuous"}


def test_an_assumption_that_is_violated_makes_a_heuristic():
    claim = freedman(drawn(), 100, own=(Assumption("own.training_data", "violated"),)).claim()
    assert claim.kind == "heuristic"


@pytest.mark.parametrize("make", [token_bound, freedman])
def test_a_sample_costs_and_large_samples_cost_little(make):
    whole = make(drawn(20_000), 1000)
    few, many = (make(drawn(n), 1000, population=20_000) for n in (500, 10_000))
    terms = [{term.key: term.value for term in bound.risk.terms} for bound in (whole, few, many)]
    assert "sampling" not in terms[0] and terms[1]["sampling"] > terms[2]["sampling"] > 0
    assert whole.total < many.total < few.total
    assert "tokens.units_drawn" in [one.key for one in few.claim().assumptions]


def test_the_whole_as_a_sample_of_itself_is_the_whole():
    assert of_documents(drawn(), 10, population=200).total == of_documents(drawn(), 10).total


def test_units_of_different_lengths_are_said_to_be_drawn_by_length():
    losses = drawn()
    uneven = TokenLosses(
        losses.surprise, losses.entropy, losses.rank, losses.mass, np.sort(losses.documents**2 % 97), V
    )
    keys = [one.key for one in freedman(uneven, 10, population=10**6).claim().assumptions]
    assert "tokens.units_in_proportion" in keys


def test_stretches_do_not_change_a_bound(monkeypatch):
    before = [bound.total for bound in bounds_for(drawn(), 100)]
    monkeypatch.setattr(losses_file, "STRETCH", 77)
    assert [bound.total for bound in bounds_for(drawn(), 100)] == pytest.approx(before, rel=1e-12)


def test_settings_chosen_on_few_tokens_cost_little(monkeypatch):
    from lengthwise.bounds.tokens import make

    monkeypatch.setattr(make, "CHOOSE_ON", 200_000)
    best = freedman(drawn(50_000), 3000).total
    monkeypatch.setattr(make, "CHOOSE_ON", 10_000)
    assert best <= freedman(drawn(50_000), 3000).total <= 1.002 * best


def test_what_is_foreseen_for_the_data_at_hand_is_the_bound():
    losses = drawn()
    whole = freedman(losses, 500).total
    assert foreseen_bound(losses, 500, len(losses)) == pytest.approx(whole, rel=1e-9)
    texts = of_documents(losses, 500, inequality=ProductInequality()).total
    assert foreseen_bound(losses, 500, len(losses.starts), level="documents") == pytest.approx(texts, rel=1e-9)
    assert foreseen_bound(losses, 500, 100 * len(losses)) < whole  # and more of the same lets expect less


def test_an_impossible_token_is_no_obstacle():
    losses = drawn(200)
    losses.surprise[7] = math.inf
    assert math.isfinite(freedman(losses, 10).total)


def test_what_is_refused():
    losses = drawn(100)
    with pytest.raises(UsageError, match="cannot come from a population of 99"):
        freedman(losses, 10, population=99)
    with pytest.raises(UsageError, match="finite number of bits"):
        freedman(losses, math.inf)
    with pytest.raises(UsageError, match="delta must lie between"):
        freedman(losses, 10, delta=0.0)
    with pytest.raises(UsageError, match="target must be one of"):
        freedman(losses, 10, target="top3")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="for tokens"):
        of_documents(losses, 10, inequality=Freedman())
    with pytest.raises(UsageError, match="one token is needed"):
        freedman(losses.part(slice(0)), 10)
    with pytest.raises(UsageError, match="ascend"):
        joined([losses, losses])
    with pytest.raises(UsageError, match="probability"):
        TokenLosses(losses.surprise, losses.entropy, losses.rank, losses.mass + 1, losses.documents, V)


def test_a_sample_of_documents_needs_no_count_of_tokens():
    levels = {bound.level for bound in bounds_for(drawn(), 10, documents=1000)}
    assert levels == {"documents"} and {b.level for b in bounds_for(drawn(), 10, tokens=10**5)} == {"tokens"}


@pytest.mark.parametrize("alpha", [1e-300, 1e-308, 5e-324])
def test_the_range_of_a_loss_is_a_number_for_every_weight(alpha: float) -> None:
    """V / α is no float, and its logarithm is."""
    expected = math.log(V) - math.log(alpha)
    assert loss_range(alpha, V) == pytest.approx(expected) and loss_ceiling(alpha, V) == pytest.approx(expected)
