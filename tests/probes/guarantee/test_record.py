"""A guarantee as a record: the result first, no verdict that it cannot keep, and text of 80 columns."""

import dataclasses

import numpy as np
import pytest

from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.bounds.tokens.make import bounds_for
from lengthwise.cli.commands.records import write_record
from lengthwise.messages import sentence
from lengthwise.probes.guarantee.message import ChargedMessage
from lengthwise.probes.guarantee.result import Guarantee, MeanLosses, result


def made(bits: float, vocabulary: int = 31, tokens: int | None = None, surprise: float = 1.0) -> Guarantee:
    """A guarantee of 200 documents of 20 tokens that no model has read."""
    rng, n = np.random.default_rng(0), 4000
    losses = TokenLosses(
        surprise=surprise * rng.exponential(size=n),
        entropy=np.full(n, surprise),
        rank=rng.geometric(0.4, size=n) - 1,
        mass=np.tile([0.4, 0.9, 0.99], (n, 1)),
        documents=np.arange(n) // 20,
        vocabulary=vocabulary,
    )
    message = ChargedMessage("a source", int(bits), {"symbols": int(bits)}, 10, 1.0, 1.0, n)
    means = MeanLosses(n, 200, float(losses.surprise.mean()), surprise, ((1, 0.6),))
    bounds = bounds_for(losses, bits, delta=0.05, tokens=tokens)
    return Guarantee("name", "a model", vocabulary, "some data", message, means, bounds, 0.05, None)


def rows(found: Guarantee) -> list[dict]:
    tables = found.record().tables
    return [row for table in tables for row in table.records() if "inequality" in row]


def test_a_row_is_below_chance_or_vacuous():
    """A verdict compares two columns; whether a bound holds depends on what it rests on, and is said there."""
    found = rows(made(bits=150))
    assert len(found) == 20 and {row["verdict"] for row in found} == {"below", "vacuous"}
    for row in found:
        assert (row["verdict"] == "below") == (row["bound"] < row["chance"])


@pytest.mark.parametrize("bits", [10, 1e4, 1e7, 1e12])
@pytest.mark.parametrize("tokens", [None, 10**12])
def test_text_has_80_columns_whatever_the_numbers(capsys, bits, tokens):
    write_record(made(bits, vocabulary=49_152, tokens=tokens, surprise=20.0).record())
    assert max(map(len, capsys.readouterr().out.splitlines())) <= 80


@pytest.mark.wording
def test_the_result_has_a_line_for_each_quantity():
    found = made(bits=50)
    lines = result(found)
    fresh, seen = (found.best("loss", level) for level in ("documents", "tokens"))
    assert fresh is not None and seen is not None and len(lines) == 3
    assert f"{fresh.total:.4f} nats" in lines[0] and f"{seen.total:.4f} nats" in lines[1]
    assert "smallest of 5" in lines[2] and "0.75" in lines[2]


@pytest.mark.wording
def test_the_result_says_what_is_vacuous():
    assert result(made(bits=1e9)) == [sentence("guarantee.vacuous")]
    found = made(bits=50)
    worse = [dataclasses.replace(one.risk, ceiling=0.0) if one.target == "loss" else one.risk for one in found.bounds]
    bounds = tuple(dataclasses.replace(one, risk=risk) for one, risk in zip(found.bounds, worse, strict=True))
    assert "top-1 error at most" in result(dataclasses.replace(found, bounds=bounds))[0]


@pytest.mark.wording
@pytest.mark.parametrize(("kind", "holds"), [("heuristic", "each would hold"), ("predicted", "each holds")])
def test_what_is_not_certified_is_said_with_the_result(kind, holds):
    found = made(bits=50)
    bounds = tuple(dataclasses.replace(one, risk=dataclasses.replace(one.risk, kind=kind)) for one in found.bounds)
    told = result(dataclasses.replace(found, bounds=bounds))
    assert told[-1] == sentence(f"guarantee.{kind}") and holds in told[-2]


@pytest.mark.wording
def test_a_bound_that_is_exceeded_is_the_first_thing():
    broken = dataclasses.replace(made(bits=50), broken=("the loss is above its bound",))
    assert "the loss is above its bound" in result(broken)[0]
