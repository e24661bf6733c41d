"""`lengthwise bound plan`: figures on the terminal, as JSON and as a picture; bad values in one sentence."""

from __future__ import annotations

import json
import math

import pytest

from lengthwise.cli.commands.bound_plan import short
from lengthwise.cli.options import amount
from lengthwise.figures.plan_chart import plan_chart

USUAL = ("bound", "plan", "--params", "7B", "--tokens", "1.4e11", "--loss", "2.2")


@pytest.mark.wording
def test_the_terms_are_shown_in_nats_and_bits_and_sum_up(cli):
    answer = cli(*USUAL)
    assert answer.code == 0 and "(predicted)" in answer.out and "fresh documents" in answer.out
    rows = {line.split()[0]: line.split()[1:3] for line in answer.out.splitlines() if len(line.split()) > 2}
    found = {name: [float(cell) for cell in rows[name]] for name in ("loss", "description", "variation", "smoothing")}
    total = [float(cell) for cell in rows["bound"]]
    assert [sum(cells[i] for cells in found.values()) for i in (0, 1)] == pytest.approx(total, rel=2e-3)
    assert total[1] == pytest.approx(total[0] / math.log(2), rel=1e-3)
    assert max(map(len, answer.out.splitlines())) <= 80


def test_json_holds_the_published_seven_billion_case(cli):
    more = ("--bits", 1.95e9 * 8 / 7e9, "--vocabulary", 32000, "--method", "azuma", "--alpha", 0.1)
    answer = cli(*USUAL[:2], "--params", "7e9", "--tokens", "1.2T", "--loss", "2.87bits", *more,
                 "--sample", "1e4", "--smoothed", "--json")  # fmt: skip
    found = json.loads(answer.out)
    assert found["bound"] / math.log(2) == pytest.approx(4.31, abs=0.1) and found["status"] == "holds"
    assert found["claim"]["kind"] == "predicted" and len(found["line"]["rows"]) == 8


@pytest.mark.wording
def test_what_is_left_out_is_found(cli):
    tokens = json.loads(cli("bound", "plan", "--params", "7B", "--loss", 2.2, "--json").out)
    assert tokens["found"] == "tokens" and tokens["bound"] == pytest.approx(math.log(50_000))
    params = json.loads(cli("bound", "plan", "--tokens", tokens["tokens"], "--loss", 2.2, "--json").out)
    assert params["found"] == "params" and params["params"] == pytest.approx(7e9, rel=1e-6)
    said = cli("bound", "plan", "--params", "7B", "--gap", 1).out
    assert "(found)" in said and "if the loss is below" in said


@pytest.mark.wording
def test_vacuous_is_said(cli):
    assert "Vacuous" in cli("bound", "plan", "--params", "1.7T", "--tokens", "1T", "--loss", 2).out
    assert "Vacuous" in cli("bound", "plan", "--params", "1.7T", "--tokens", "1T").out
    assert "violated  1.7e+12" in cli("bound", "plan", "--params", "1.7T", "--tokens", "1T").out


def test_a_picture_is_drawn(cli, tmp_path):
    assert cli(*USUAL, "--figure", tmp_path / "map.svg").code == 0
    drawn = (tmp_path / "map.svg").read_text(encoding="utf-8")
    assert all(word in drawn for word in ("7B on 140B tokens:", "vacuous", "20 tokens per parameter", ">parameters<"))


def test_bands_of_the_map_lie_on_each_other_and_fill_it():
    rows = [{"params": n, "level": level, "ratio": r} for n in (1e8, 1e9) for level, r in ((8.0, 3.0), (1.0, None))]
    chart = plan_chart(rows, {"params": 2e8, "ratio": 30.0, "label": "own"}, 20.0, "title", [])
    plain = chart.to_dict()
    areas = [inner for layer in plain["layer"] for inner in layer.get("layer", [layer]) if "y2" in inner["encoding"]]
    values = [
        plain["datasets"][area["data"]["name"]] if "name" in area["data"] else area["data"]["values"] for area in areas
    ]
    edges = [(band[0]["low"], band[0]["high"]) for band in values]
    assert edges[0] == (1.0, 3.0) and edges[1][0] == 3.0 and edges[-1][0] == edges[1][1]


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ("", "--params"),
        ("--params 7B", "--loss"),
        ("--params 7B --tokens 0", "above 0"),
        ("--params 7,5B --tokens 1", "above 0"),
        ("--params nan --tokens 1", "above 0"),
        ("--params 7B --tokens 1T --gap 1", "--gap"),
        ("--params 7B --loss 12", "chance"),
        ("--params 7B --tokens 1T --loss 12 --figure map.png", "chance"),
        ("--params 7B --tokens 1T --method foo", "freedman or azuma"),
        ("--params 7B --tokens 1T --alpha .1", "azuma"),
        ("--params 7B --tokens 1T --smoothed", "azuma"),
        ("--params 7B --tokens 1T --method azuma --variation 1", "freedman"),
        ("--params 7B --tokens 1T --vocabulary 1", "2 tokens or more"),
        ("--params 7B --tokens 1T --vocabulary 2.5", "whole"),
        ("--params 7B --tokens 1T --delta 1", "delta"),
        ("--params 7B --tokens 1T --bits 0", "bits"),
        ("--params 7B --tokens 1T --loss -1", "nats"),
        ("--params 7B --tokens 1T --figure map.pdf", ".svg"),
    ],
)
def test_bad_values_get_one_sentence(cli, options, word):
    answer = cli("bound", "plan", *options.split())
    assert answer.code == 2 and answer.out == "" and word in answer.err and answer.err.count("\n") == 1


def test_amounts_are_read_as_people_write_them_and_written_as_they_read_them():
    texts = {"7B": 7e9, "1.4e11": 1.4e11, "2T": 2e12, "135m": 1.35e8, "50k": 5e4, "12": 12.0, " 3G ": 3e9}
    assert {text: amount(text) for text in texts} == pytest.approx(texts)
    assert [short(n) for n in (7e9, 1.4e11, 999.6, 999_600, 2e12, 12, 3.2e17)] == [
        "7B", "140B", "1k", "1M", "2T", "12", "3.2e+17"
    ]  # fmt: skip
