"""The text of a guarantee: the result first, 80 columns whatever the numbers, and no verdict that it cannot keep."""

import dataclasses

import numpy as np
import pytest
from lengthwise.cli.bound_tables import _number
from lengthwise.cli.bound_text import result, write_guarantee

from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.bounds.tokens.make import bounds_for
from lengthwise.probes.guarantee.message import Description
from lengthwise.probes.guarantee.result import Guarantee, Losses


def made(bits: float, vocabulary: int = 31, tokens: int | None = None, surprise: float = 1.0) -> Guarantee:
    """A guarantee of 200 documents of 20 tokens that were not looked at by any model."""
    rng, n = np.random.default_rng(0), 4000
    losses = TokenLosses(
        surprise=surprise * rng.exponential(size=n),
        entropy=np.full(n, surprise),
        rank=rng.geometric(0.4, size=n) - 1,
        mass=np.tile([0.4, 0.9, 0.99], (n, 1)),
        documents=np.arange(n) // 20,
        vocabulary=vocabulary,
    )
    description = Description("a source", int(bits), {"symbols": int(bits)}, 10, 1.0, 1.0, n)
    means = Losses(n, 200, float(losses.surprise.mean()), surprise, ((1, 0.6),))
    bounds = bounds_for(losses, bits, delta=0.05, tokens=tokens)
    return Guarantee("name", "a model", vocabulary, "some data", description, means, bounds, 0.05, None)


def told(found: Guarantee, capsys) -> str:
    write_guarantee(found)
    return capsys.readouterr().out


def rows_of(text: str) -> list[list[str]]:
    rows = [line.split() for line in text.splitlines() if line.startswith(("loss ", "top"))]
    return [row for row in rows if row[1] in ("hoeffding", "product", "freedman")]


def test_a_row_is_below_chance_or_vacuous(capsys):
    """A verdict is about the column beside it; whether a bound holds depends on what it rests on, and is said there."""
    rows = rows_of(told(made(bits=150), capsys))
    assert len(rows) == 20 and {row[-1] for row in rows} == {"below", "vacuous"}
    for row in rows:
        bound, chance = float(row[-4 if row[0] == "loss" else -3]), float(row[-2])
        assert (row[-1] == "below") == (bound < chance)


@pytest.mark.parametrize("bits", [10, 1e4, 1e7, 1e12])
@pytest.mark.parametrize("tokens", [None, 10**12])
def test_text_has_80_columns_whatever_the_numbers(capsys, bits, tokens):
    text = told(made(bits, vocabulary=49_152, tokens=tokens, surprise=20.0), capsys)
    assert max(map(len, text.splitlines())) <= 80


@pytest.mark.parametrize("value", [0.0, 9.99994, 9.99996, 99.9996, 999.994, 999.996, 99_999.6, 1e12, 1e300])
def test_numbers_take_six_characters_and_stay_what_they_are(value):
    text = _number(value)
    assert len(text) <= 6 and float(text) == pytest.approx(value, rel=0.5 if value > 99_999 else 1e-3)


def test_the_result_has_a_line_for_each_quantity():
    found = made(bits=50)
    lines = result(found)
    fresh, seen = (found.best("loss", level) for level in ("documents", "tokens"))
    assert fresh is not None and seen is not None
    assert lines[0].startswith(f"fresh documents: at most {fresh.total:.4f} nats")
    assert lines[1].startswith(f"tokens in the contexts seen: at most {seen.total:.4f} nats")
    assert lines[2].startswith("the smallest of 5: each holds") and "all at once with 0.75" in lines[2]


def test_the_result_says_what_is_vacuous():
    assert result(made(bits=1e9)) == ["Every bound is vacuous: none says more than a uniform guess would."]
    found = made(bits=50)
    worse = [dataclasses.replace(one.risk, ceiling=0.0) if one.target == "loss" else one.risk for one in found.bounds]
    bounds = tuple(dataclasses.replace(one, risk=risk) for one, risk in zip(found.bounds, worse, strict=True))
    assert "nothing of the loss; top-1 error at most" in result(dataclasses.replace(found, bounds=bounds))[0]


@pytest.mark.parametrize(("kind", "holds"), [("heuristic", "each would hold"), ("predicted", "each holds")])
def test_what_is_not_certified_is_said_beside_the_result(capsys, kind, holds):
    found = made(bits=50)
    bounds = tuple(dataclasses.replace(one, risk=dataclasses.replace(one.risk, kind=kind)) for one in found.bounds)
    text = told(dataclasses.replace(found, bounds=bounds), capsys)
    assert f"{kind}, not certified" in text and holds in " ".join(text.split())
    assert not any(row[-1] == "holds" for row in rows_of(text))


def test_a_bound_that_is_exceeded_is_the_first_thing():
    broken = dataclasses.replace(made(bits=50), broken=("the loss is above its bound",))
    assert result(broken)[0] == "NOT AS IT SHOULD BE: the loss is above its bound"
