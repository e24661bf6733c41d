"""`lengthwise shift`: tables, one object, pictures, and one sentence for what is wrong."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

QUICK = ["--resamples", "20"]


def lines(name: str, *texts: str) -> str:
    Path(name).write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    return name


@pytest.fixture
def files() -> list[str]:
    short, long = ["( )", "( ( ) )", "( ) ( )", "a ( )"], ["( ( ) ( ) )", "( ) ( ( ) ) a", "( ( ( ) ) ) a"]
    return [lines("a.jsonl", *short * 3), lines("b.jsonl", *long * 4)]


@pytest.mark.wording
@pytest.mark.parametrize("metric", ["features", "edit", "contour", "ngrams:n=1", "features:norm=cityblock"])
def test_two_files_as_a_table(cli, files, metric):
    answer = cli("shift", *files, "--metric", metric, *QUICK)
    assert answer.code == 0 and answer.err == ""
    assert max(map(len, answer.out.splitlines())) <= 80
    first = " ".join(answer.out.split("\n\n")[0].split())
    said = (
        r"The distance from a\.jsonl to b\.jsonl is [\d.]+ \(unit: .*; certified\); at 6 items each it is [\d.]+, where"
    )
    assert re.match(said, first)
    for part in ("null W1", "certified", "p-value", f"metric {metric}, in", "W1 of the distributions", "length"):
        assert part in answer.out


def test_a_task_at_two_sizes(cli):
    answer = cli("shift", "sort", "--from", "5", "--to", "8-10", "--items", "20", "--metric", "edit", *QUICK)
    assert answer.code == 0 and "sort at 8-10 is " in answer.out and max(map(len, answer.out.splitlines())) <= 80


def test_one_object(cli, files):
    answer = cli("shift", *files, "--json", *QUICK)
    found = json.loads(answer.out)
    assert (found["schema"], found["command"]) == (1, "shift")
    claims = {claim["key"]: claim for claim in found["claims"]}
    assert claims["transport.w1"]["kind"] == "certified" and claims["transport.w1"]["evidence"]["relative_gap"] <= 1e-7
    assert found["first"]["items"] == 12 and found["metric"]["facts"]["standardised_on"] == "a.jsonl"
    assert found["verdict"].startswith("The distance from a.jsonl to b.jsonl is ")


def test_the_same_seed_prints_the_same(cli, files):
    one, two, other = (cli("shift", *files, "--seed", seed, *QUICK).out for seed in (1, 1, 2))
    assert one == two != other


@pytest.mark.parametrize("ending, start", [("svg", b"<svg"), ("png", b"\x89PNG"), ("html", b"<!DOCTYPE html>")])
def test_a_picture(cli, files, ending, start):
    answer = cli("shift", *files, "--figure", f"shift.{ending}", *QUICK)
    drawn = Path(f"shift.{ending}").read_bytes()
    assert answer.code == 0 and answer.err == f"figure in shift.{ending}\n" and drawn.startswith(start)
    if ending == "svg":
        text = drawn.decode()
        assert all(part in text for part in ("W1 = ", "length in tokens", "potential", "first", "second"))


def test_a_picture_where_no_number_differs(cli):
    files = [lines("a.jsonl", "a b", "b a", "a c", "c a"), lines("b.jsonl", "b c", "c b")]
    assert cli("shift", *files, "--metric", "edit", "--figure", "x.svg", *QUICK).code == 0
    assert "potential, in the unit of W1" in Path("x.svg").read_text()


def test_names_of_trajectories_do_not_break_a_page(cli):
    files = [lines("a.jsonl", "</script> ( )", "b ( )"), lines("b.jsonl", "</script> ( ( ) )", "b")]
    assert cli("shift", *files, "--figure", "x.html", *QUICK).code == 0
    assert "</script> (" not in Path("x.html").read_text()


def test_a_ladder(cli):
    answer = cli("shift", "countdown", "--ladder", "--train-size", "3", "--items", "20", "--metric", "edit")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    rows = [line.split() for line in answer.out.splitlines() if line.startswith(("training", "depth", "bran", "cont"))]
    assert len(rows) == 19 and rows[0][0] == "training" and rows[6][:2] == ["depth", "9"]
    assert float(rows[6][4]) == pytest.approx(float(rows[6][2]) / float(rows[6][3]), abs=0.02)
    assert all(part in answer.out for part in ("metric edit", "certified", "95 % interval", "20 items"))


def test_a_ladder_as_one_object(cli):
    found = json.loads(cli("shift", "sort", "--ladder", "--train-size", "4", "--items", "20", "--json", "--quiet").out)
    assert (found["command"], found["train_size"], found["levels"][0]["axis"]) == ("shift", 4, "training")
    kinds = {claim["key"]: claim["kind"] for claim in found["claims"]}
    assert kinds["shift.level"] == "certified" and kinds["shift.level_null"] == "measured"


WRONG = {
    "ladder without size": (["sort", "--ladder"], ["--ladder needs --train-size"]),
    "ladder of files": (["a.jsonl", "b.jsonl", "--ladder"], ["a second file is not taken"]),
    "ladder and sizes": (["sort", "--ladder", "--train-size", "3", "--to", "4"], ["--to is not taken"]),
    "ladder and method": (["sort", "--ladder", "--train-size", "3", "--method", "dense"], ["--method is not taken"]),
    "ladder and resamples": (["sort", "--ladder", "--train-size", "3", *QUICK], ["--resamples is not taken"]),
    "ladder of few items": (["sort", "--ladder", "--train-size", "3", "--items", "5"], ["20 items or more", "not 5"]),
    "ladder from nothing": (["sort", "--ladder", "--train-size", "0"], ["at least 1, not 0"]),
    "ladder of no task": (["srt", "--ladder", "--train-size", "3"], ["did you mean 'sort'"]),
    "ladder too small": (["subset_sum", "--ladder", "--train-size", "1"], ["no items", "training"]),
    "ladder without depth": (["sort", "--ladder", "--train-size", "3", "--metric", "contour"], ["neither brackets"]),
    "size without ladder": (["sort", "--train-size", "3"], ["--train-size goes with --ladder"]),
    "nothing": ([], ["required: FIRST"]),
    "one file": (["a.jsonl"], ["give two files, or a task at two sizes"]),
    "one size": (["sort", "--from", "3"], ["--to", "--from 10 --to 40"]),
    "files and sizes": (["a.jsonl", "b.jsonl", "--from", "3"], ["go with a task"]),
    "files and items": (["a.jsonl", "b.jsonl", "--items", "3"], ["go with a task"]),
    "missing file": (["a.jsonl", "no.jsonl"], ["no.jsonl cannot be read"]),
    "empty file": (["a.jsonl", "empty.jsonl"], ["empty.jsonl is empty"]),
    "one trajectory": (["a.jsonl", "one.jsonl"], ["one.jsonl holds one trajectory", "two or more"]),
    "unknown task": (["srt", "--from", "3", "--to", "4"], ["did you mean 'sort'"]),
    "unknown size": (["sort", "--from", "3", "--to", "x"], ["range such as 5-20", "'x'"]),
    "beyond the alphabet": (["sort", "--from", "3", "--to", "500"], ["no items of size 500"]),
    "unknown metric": (["a.jsonl", "b.jsonl", "--metric", "edti"], ["did you mean 'edit'", "hidden"]),
    "unknown setting": (["a.jsonl", "b.jsonl", "--metric", "ngrams:m=3"], ["no setting 'm'"]),
    "hidden of nothing": (["a.jsonl", "b.jsonl", "--metric", "hidden:model=no"], ["no has no config.json"]),
    "unknown method": (["a.jsonl", "b.jsonl", "--method", "simplx"], ["'simplx'"]),
    "strange words": (["a.jsonl", "other.jsonl", "--metric", "edit"], ["share no token", "the metric `features`"]),
    "no depth": (["other.jsonl", "other.jsonl", "--metric", "contour"], ["neither brackets nor a 'depth'"]),
    "items 0": (["sort", "--from", "3", "--to", "4", "--items", "0"], ["--items must be at least 2, not 0"]),
    "few resamples": (["a.jsonl", "b.jsonl", "--resamples", "3"], ["--resamples must be at least 20, not 3"]),
    "picture.txt": (["a.jsonl", "b.jsonl", "--figure", "x.txt"], ["x.txt", "--figure takes", ".svg, .png or .html"]),
    "weights": (["a.jsonl", "heavy.jsonl"], ["sum to 3, not to 1"]),
    "not a number": (["a.jsonl", "nan.jsonl"], ["nan.jsonl, line 1", "finite number"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input(cli, files, name):
    Path("empty.jsonl").write_text("")
    lines("one.jsonl", "a b")
    Path("heavy.jsonl").write_text('{"text": "a b", "weight": 1}\n{"text": "b", "weight": 2}\n')
    Path("nan.jsonl").write_text('{"text": "a b", "features": {"x": NaN}}\n')
    lines("other.jsonl", "x y", "y x")
    arguments, parts = WRONG[name]
    answer = cli("shift", *arguments)
    assert answer.code == 2 and answer.out == "" and answer.err.count("\n") == 1, answer
    assert answer.err.startswith("lengthwise: ") and all(part in answer.err for part in parts), answer.err
    assert len(answer.err) < 400


def test_a_required_certificate_that_is_refused_has_exit_code_3(cli, files):
    answer = cli("shift", *files, "--method", "sliced", "--require", *QUICK)
    assert answer.code == 3 and "not certified" in answer.err
    assert cli("shift", *files, "--method", "sliced", *QUICK).code == 0
    assert cli("shift", *files, "--require", *QUICK).code == 0


@pytest.mark.system
def test_neither_torch_nor_scipy_stats_is_loaded():
    code = (
        "import sys\nfrom lengthwise.cli import main\n"
        "assert 0 == main(['shift', 'sort', '--from', '4', '--to', '8', '--items', '20', '--resamples', '20'])\n"
        "assert 0 == main(['shift', 'countdown', '--ladder', '--train-size', '3', '--items', '20'])\n"
        "assert not {'torch', 'altair', 'scipy.stats'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
