"""`lengthwise inspect`: text of 80 columns, one object, one page, and bad input in one sentence."""

import json
import shutil

import pytest

QUICK = ["--probes", "layers,shift_gap,margins"]


@pytest.mark.wording
def test_text_fits_80_columns(cli, sorting_run):
    answer = cli("inspect", sorting_run, "--quiet")
    assert answer.code == 0 and answer.err == ""
    assert max(map(len, answer.out.splitlines())) <= 80
    for title in ("Layers", "Lipschitz constants", "Shift gap", "Margins of attention"):
        assert f"\n{title}\n" in answer.out
    facts = answer.out.index("\nkind ")
    assert "sizes up to" in answer.out[:facts] and "Lipschitz" in answer.out[:facts]  # the answer comes first


def test_one_object(cli, learned_run):
    answer = cli("inspect", learned_run, "--json", *QUICK)
    found = json.loads(answer.out)
    assert found["command"] == "inspect" and [r["source"] for r in found["records"]] == QUICK[1].split(",")
    assert found["records"][1]["claims"][-1]["value"] == "unbounded" and len(found["headline"]) == 3
    assert answer.err == ""


def test_the_page_holds_all_it_needs(cli, learned_run, tmp_path):
    answer = cli("inspect", learned_run, "--page", "page.html", "--quiet", *QUICK)
    assert answer.code == 0 and answer.out.endswith("page.html\n")
    page = (tmp_path / "page.html").read_text()
    assert 'data-figure="0"' in page and page.count("<script") == 3 and "src=" not in page.partition("<main>")[0]
    for text in ("All matrices", "Margins by head", "unbounded", 'data-key="shift_gap.largest"'):
        assert text in page


@pytest.mark.parametrize("wrong", ["nowhere", "empty", "weights", "task", "page", "both", "probe", "setting"])
def test_bad_input_is_one_sentence(cli, sorting_run, tmp_path, wrong):
    (tmp_path / "empty").mkdir()
    shutil.copytree(sorting_run, tmp_path / "weights")
    (tmp_path / "weights" / "model.safetensors").unlink()
    calls = {
        "nowhere": (["nowhere"], "there is no nowhere"),
        "empty": (["empty"], "is not a model"),
        "weights": (["weights"], "model.safetensors cannot be read"),
        "task": ([sorting_run, "--task", "parity"], "another vocabulary"),
        "page": ([sorting_run, "--page", "no/such/page.html"], "a folder that exists"),
        "both": ([sorting_run, "--task", "sort", "--data", "x.jsonl"], "given twice"),
        "probe": ([sorting_run, "--probes", "layer"], "did you mean 'layers'"),
        "setting": ([sorting_run, "--probes", "margins:items=0"], "items must be at least 1"),
    }
    call, sentence = calls[wrong]
    answer = cli("inspect", *call, "--quiet")
    assert answer.code == 2 and answer.out == "" and sentence in answer.err and answer.err.count("\n") == 1


def test_probes_take_settings_and_a_failure_is_told_in_its_place(cli, sorting_run):
    answer = cli("inspect", sorting_run, "--probes", "margins:items=3,size=2, geometry:size=1", "--json", "--quiet")
    margins, geometry = json.loads(answer.out)["records"]
    assert margins["settings"] == {"items": 3, "size": 2} and not margins["failed"]
    assert geometry["settings"]["size"] == 1 and answer.code == 0
