"""`lengthwise particles density`: text, one object, pictures that are whole, and bad input in one sentence."""

import json

import numpy as np
import pytest

QUICK = ["particles", "density", "--cells", "60", "--frames", "13"]
BALL = ["particles", "density", "--d", "3", "--level", "2", "--beta", "4", "--frames", "9"]


def claims_of(answer):
    return {claim["key"]: claim for claim in json.loads(answer.out)["claims"]}


@pytest.mark.wording
def test_text_and_picture_of_the_circle(cli, tmp_path):
    answer = cli(*QUICK, "--figure", "a.svg", "--out", "a.npz")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    words = " ".join(answer.out.split())
    assert "A density on the circle" in words and "crests of the wave that grows fastest: 4 (predicted)" in words
    assert "the energy never falls: True (measured)" in words and "figure in a.svg" in answer.err
    picture = (tmp_path / "a.svg").read_text()
    assert "linear theory: 4" in picture and "angle, degrees" in picture and "per unit of time" in picture
    with np.load("a.npz") as found:
        assert found["density"].shape == (13, 60)
        assert np.allclose(found["density"] @ found["areas"], 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "a.svg"]


def test_peaks_come_as_linear_theory_expects_and_then_merge(cli):
    """At beta 9 the wave of 4 crests grows fastest, 3 and 5 nearly as fast."""
    found = claims_of(cli(*QUICK, "--json", "--quiet"))
    assert found["density.crests"]["value"] == 4
    assert 2 <= found["density.most_peaks"]["value"] <= 5
    assert found["density.mass"]["value"] < 1e-12
    one = claims_of(cli(*QUICK, "--beta", "0", "--json", "--quiet"))
    assert one["density.crests"]["value"] == one["density.most_peaks"]["value"] == 1


def test_the_sphere_names_a_degree_and_what_its_mesh_does(cli, tmp_path):
    answer = cli(*BALL, "--figure", "a.png", "--out", "a.csv", "--json")
    found = claims_of(answer)
    assert "density.degree" in found and found["density.energy_rises"]["value"] is True
    assert 1e-4 < found["density.drift"]["value"] < 1e-2
    assert found["density.most_peaks"]["value"] >= 1
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert rows[0] == "time,x1,x2,x3,density" and len(rows) == 1 + 9 * 162


@pytest.mark.parametrize(
    "call, sentence",
    [
        (["--d", "4"], "--d must be 2, a circle, or 3, a sphere"),
        (["--beta", "-1"], "--beta must be a number from 0"),
        (["--beta", "nan"], "--beta must be a number from 0"),
        (["--dynamics", "both"], "sa or usa"),
        (["--time", "0"], "--time must be a number above 0"),
        (["--noise", "0"], "the noise must be above 0"),
        (["--frames", "1"], "--frames must be at least 2"),
        (["--cells", "3"], "--cells must be from 16"),
        (["--level", "2"], "--level goes with --d 3"),
        (["--d", "3", "--level", "9"], "a level from 0 to 5"),
        (["--dynamics", "usa", "--beta", "20", "--time", "9"], "a shorter --time"),
        (["--figure", "no/a.svg"], "a folder that exists"),
        (["--out", "a.txt"], "ends in .npz or .csv"),
    ],
)
def test_bad_input_is_one_sentence(cli, tmp_path, call, sentence):
    answer = cli("particles", "density", *call)
    assert answer.code == 2 and answer.out == "" and answer.err.count("\n") == 1 and sentence in answer.err
    assert list(tmp_path.iterdir()) == []
