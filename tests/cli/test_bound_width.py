"""`lengthwise bound width`: errors and widths of Barron's bound."""

import json

import pytest


def test_units_give_an_error_and_a_share_of_wrong_answers(cli):
    answer = json.loads(cli("bound", "width", "--constant", "2", "--units", "6400", "--json").out)
    claims = {claim["key"]: claim for claim in answer["claims"]}
    assert claims["width.error"]["value"] == pytest.approx(0.05)
    assert claims["width.wrong"]["value"] == pytest.approx(0.01)
    assert claims["width.wrong"]["kind"] == "proved"
    assert "width.no_floor" in [one["key"] for one in claims["width.wrong"]["assumptions"]]


def test_an_error_gives_units_and_the_order_at_depth(cli):
    call = ("bound", "width", "--constant", "2", "--error", "0.1", "--smoothness", "0.1", "--layers", "4", "--json")
    enough, deep = json.loads(cli(*call).out)["claims"]
    assert (enough["value"], deep["evidence"]["exponent"]) == (1600, pytest.approx(2.5))


@pytest.mark.parametrize(
    "call", [(), ("--constant", "2"), ("--constant", "2", "--units", "4", "--error", "1"), ("--units", "5")]
)
def test_what_is_missing_is_said(cli, call):
    assert cli("bound", "width", *call).code == 2


def test_a_text_that_fits(cli):
    out = cli("bound", "width", "--constant", "3", "--units", "16").out
    assert max(map(len, out.splitlines())) <= 80
