"""`lengthwise inspect`: text of 80 columns, one object, one page, and bad input in one sentence."""

import json
import shutil

import pytest

QUICK = ["--sections", "layers,shift,margins"]


def test_text_fits_80_columns(cli, sorting_run):
    answer = cli("inspect", sorting_run, "--quiet")
    assert answer.code == 0 and answer.err == ""
    assert max(map(len, answer.out.splitlines())) <= 80
    for title in ("Layers", "Lipschitz constants", "Shift gap", "Margins of attention"):
        assert f"\n{title}\n" in answer.out
    assert "an index shift is not a longer input" in " ".join(answer.out.split())


def test_one_object(cli, learned_run):
    answer = cli("inspect", learned_run, "--json", *QUICK)
    found = json.loads(answer.out)
    assert found["command"] == "inspect" and [s["name"] for s in found["sections"]] == QUICK[1].split(",")
    assert found["sections"][1]["claims"][-1]["value"] == "unbounded"
    assert answer.err.splitlines() == ["reading the model …", "layers …", "shift …", "margins …"]


def test_the_page_holds_all_it_needs(cli, learned_run, tmp_path):
    answer = cli("inspect", learned_run, "--page", "page.html", "--quiet", *QUICK)
    assert answer.code == 0 and answer.out.endswith("page.html\n")
    page = (tmp_path / "page.html").read_text()
    assert "<svg" in page and "<script" not in page and " style=" not in page
    assert "http://" not in page.replace("http://www.w3.org", "") and "https://" not in page
    for text in ("All matrices", "Margins by head", "unbounded", "an index shift is not a longer input"):
        assert text in page


@pytest.mark.parametrize("wrong", ["nowhere", "empty", "weights", "task", "page", "both", "section"])
def test_bad_input_is_one_sentence(cli, sorting_run, tmp_path, wrong):
    (tmp_path / "empty").mkdir()
    shutil.copytree(sorting_run, tmp_path / "weights")
    (tmp_path / "weights" / "model.safetensors").unlink()
    calls = {
        "nowhere": (["nowhere"], "there is no nowhere"),
        "empty": (["empty"], "is no model"),
        "weights": (["weights"], "model.safetensors cannot be read"),
        "task": ([sorting_run, "--task", "parity"], "another vocabulary"),
        "page": ([sorting_run, "--page", "no/such/page.html"], "a folder that exists"),
        "both": ([sorting_run, "--task", "sort", "--data", "x.jsonl"], "given twice"),
        "section": ([sorting_run, "--sections", "layer"], "did you mean 'layers'"),
    }
    call, sentence = calls[wrong]
    answer = cli("inspect", *call, "--quiet")
    assert answer.code == 2 and answer.out == "" and sentence in answer.err and answer.err.count("\n") == 1
