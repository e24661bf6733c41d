"""A short campaign against certificates; that it sees violations."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from attack import certificates, coverage, stretching
from attack.attempt import Attempts, exact_ratio
from attack.certificates import ATTACKS, MARKS, Tally, campaign, rounds, write_page


def test_what_exceeds_a_certificate() -> None:
    found = Attempts("a bound", [1.0, np.nextafter(2.0, 3.0), np.nan, 0.0], 2.0)
    ratios = found.ratios()
    assert len(ratios) == 3 and (ratios > 1).tolist() == [False, True, False]  # what was not evaluated does not count
    assert not len(Attempts("a bound", [1.0], np.inf).ratios())
    assert Attempts("a bound", [1e-300, 1.0], [0.0, np.nan]).ratios().min() > 1
    assert Attempts("a bound", [0.0], 0.0).ratios().tolist() == [0.0]


def test_ratios_of_fractions_are_on_the_right_side_of_one() -> None:
    tiny = Fraction(1, 10**40)
    assert exact_ratio(1 + tiny, Fraction(1)) > 1 >= exact_ratio(1 - tiny, Fraction(1))
    assert exact_ratio(tiny, Fraction(0)) > 1 and exact_ratio(Fraction(0), Fraction(0)) == 0


def test_more_draws_than_allowed_are_a_violation() -> None:
    tally = Tally()
    tally.count(Attempts("a bound", np.r_[np.full(50, 2.0), np.zeros(950)], 1.0, 0.05), 0.0)
    assert not tally.violated
    tally.count(Attempts("a bound", np.full(60, 2.0), 1.0, 0.05), 0.0)
    assert tally.violated


@pytest.mark.parametrize(
    "module, function, attack, factor",
    [
        (stretching, "spectral_norm", "matrix_norms", 0.99),
        (stretching, "l2_attention_bound", "l2_attention", 0.02),
        (coverage, "risk_deviation", "means", 0.5),
    ],
)
def test_a_bound_that_is_too_small_is_found_out(
    monkeypatch: pytest.MonkeyPatch, module: object, function: str, attack: str, factor: float
) -> None:
    honest = getattr(module, function)

    def smaller(*given):
        bound = honest(*given)
        if isinstance(bound, float):
            return factor * bound
        object.__setattr__(bound, "constant", factor * bound.constant)
        return bound

    monkeypatch.setattr(module, function, smaller)
    monkeypatch.setattr(certificates, "ATTACKS", {attack: ATTACKS[attack]})
    assert any(one.violated for one in campaign(0, 4000, told=False).values())


def test_a_round_follows_from_seed_and_number() -> None:
    first, again, other = (next(next(rounds(3, "means", number))[1]) for number in (4, 4, 5))
    assert np.array_equal(first.certified, again.certified) and not np.array_equal(first.certified, other.certified)


@pytest.mark.system
def test_a_short_campaign(tmp_path: Path) -> None:
    """Some thousand attempts of a fixed seed, every attack among them; and its page."""
    tallies = campaign(0, 8000, told=False)
    assert sum(one.attempts for one in tallies.values()) >= 8000
    assert [name for name, one in tallies.items() if one.violated] == []
    page = tmp_path / "page.md"
    page.write_text("\n".join(("before", *MARKS, "after")))
    write_page(page, tallies, 0)
    text = page.read_text()
    assert text.startswith("before") and text.endswith("after") and all(f"| {name} |" in text for name in tallies)


def test_the_page_tells_of_a_million_attempts_without_a_violation() -> None:
    text = (Path(__file__).parents[2] / "docs" / "findings" / "attacks.md").read_text(encoding="utf-8")
    found = re.search(r"([\d,]+) attempts, seed .*: (\d+) bounds violated", text)
    assert found and int(found[1].replace(",", "")) >= 1_000_000 and found[2] == "0"
