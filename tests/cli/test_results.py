"""What the commands print when all is well: objects for programs, text for people, nothing where quiet was asked."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from lengthwise.cli.commands import doctor
from lengthwise.cli.commands.results import percent
from lengthwise.tasks import tasks
from processes import PATIENCE
from small_runs import curve_of, points_of


def one_object(text: str) -> dict:
    """The only thing printed is a JSON object on a line."""
    assert text.count("\n") == 1
    return json.loads(text)


@pytest.fixture
def calls(sorting_run, tiny) -> dict[str, list[list[str]]]:
    """Every command, in each of its forms."""
    return {
        "train": [
            ["train", "sort", *tiny],
            ["train", "sort", *tiny, "--seeds", "2", "--keep", "0.5"],
            ["train", "sort", *tiny, "--dry-run"],
        ],
        "measure": [
            ["measure", str(sorting_run), "--items", "5"],
            ["measure", str(sorting_run), "--items", "5", "--generate"],
        ],
        "tasks": [["tasks"], ["tasks", "sort", "--show", "3"], ["tasks", "dyck_k", "--show", "2"]],
        "positions": [["positions"], ["positions", "alibi"], ["positions", "learned+offset"]],
        "attentions": [["attentions"], ["attentions", "path"], ["attentions", "forgetting:start=2"]],
        "doctor": [["doctor", "--no-speed"]],
    }


@pytest.mark.parametrize("command", ["train", "measure", "tasks", "positions", "attentions", "doctor"])
def test_json_is_one_object_with_a_schema(cli, calls, command):
    for call in calls[command]:
        answer = cli(*call, "--json")
        content = one_object(answer.out)
        assert answer.code == 0
        assert content["schema"] == 1 and content["command"] == command


@pytest.mark.parametrize("command", ["train", "measure", "tasks", "positions", "attentions", "doctor"])
def test_text_fits_80_columns_and_quiet_is_quiet(cli, calls, command):
    for call in calls[command]:
        answer = cli(*call, "--quiet")
        assert answer.code == 0 and answer.err == ""
        listing = len(call) == 1  # `lengthwise tasks`, which is whole where a program reads it
        assert listing or max(map(len, answer.out.splitlines())) <= 80, call
        assert "Traceback" not in answer.out and "\x1b" not in answer.out


def test_narration_goes_to_stderr_and_leaves_stdout_alone(cli, calls):
    for call in (calls["train"][1], calls["tasks"][0], calls["positions"][0]):
        loud, quiet = cli(*call), cli(*call, "--quiet")
        assert loud.err and loud.out == quiet.out


def test_every_task_can_be_shown_in_80_columns(cli):
    for name in tasks.names():
        if name in ("jsonl", "layout", "regular", "regular_member", "along", "hinted"):  # these need a setting
            continue
        answer = cli("tasks", name, "--show", "2")
        assert answer.code == 0, answer.err
        assert max(map(len, answer.out.splitlines())) <= 80, name


def test_samples_follow_the_seed(cli):
    def samples(*seed: str) -> list:
        return one_object(cli("tasks", "sort", "--show", "4", "--json", *seed).out)["samples"]

    assert samples() == samples("--seed", "0") != samples("--seed", "1") == samples("--seed", "1")
    assert all(sorted(map(int, row["prompt"])) == list(map(int, row["answer"])) for row in samples())


def test_show_and_size_are_obeyed(cli):
    content = one_object(cli("tasks", "sort", "--show", "4", "--size", "7", "--json").out)
    assert [len(row["prompt"]) for row in content["samples"]] == [7, 7, 7, 7]
    assert one_object(cli("tasks", "sort", "--json").out)["samples"] == []


def test_logits_follow_the_seed_and_the_formula(cli):
    def logits(*more: str) -> list:
        return one_object(cli("positions", "learned", "--json", *more).out)["logits"]

    assert logits() == logits("--seed", "0") != logits("--seed", "1")
    rows = one_object(cli("positions", "alibi", "--json", "--trained", "100").out)["logits"]
    assert [row["distance"] for row in rows] == [0, 1, 2, 4, 8, 16, 32, 64]
    for row in rows:  # |q|^2 / sqrt(16) = 4, less the slope 2^-2, 2^-4, 2^-6, 2^-8 of a head times the distance
        assert row["heads"] == pytest.approx([4 - row["distance"] * 4.0**-head for head in (1, 2, 3, 4)])


def test_a_long_training_length_needs_little_memory(cli):
    assert cli("positions", "rope", "--trained", "200000", "--json").code == 0


def test_training_follows_the_seed(cli, tiny):
    def points(seed: int, folder: str) -> list[dict]:
        answer = cli("train", "parity", *tiny, "--seed", seed, "--folder", folder, "--json", "--quiet")
        return points_of(one_object(answer.out))

    assert points(0, "a") == points(0, "b") != points(1, "c")


def test_measuring_follows_the_seed(cli, sorting_run):
    def losses(*seed: str) -> list[float]:
        content = one_object(cli("measure", sorting_run, "--items", "5", "--json", *seed).out)
        return [point["loss"] for point in points_of(content)]

    assert losses() == losses("--seed", "0") != losses("--seed", "1")


def test_measuring_again_gives_what_training_gave(cli, sorting_run):
    again = curve_of(one_object(cli("measure", sorting_run, "--items", "80", "--json").out))
    assert again.plain() == json.loads((sorting_run / "records" / "curve.json").read_text())


def test_both_ways_to_judge_an_answer_agree(cli, sorting_run):
    content = one_object(cli("measure", sorting_run, "--items", "5", "--generate", "--json").out)
    claim = curve_of(content).claim("curve.generated")
    assert claim.value == 1 and claim.evidence == {"agree": 30, "items": 30}


def test_options_may_stand_between_run_and_task(cli, sorting_run):
    content = one_object(cli("measure", sorting_run, "--items", "5", "sort", "--json").out)
    assert len(points_of(content)) == 6


def test_the_same_command_finds_the_run(cli, tiny):
    first, second = cli("train", "sort", *tiny), cli("train", "sort", *tiny)
    assert first.out == second.out
    assert first.err.startswith("trained in runs/sort-none-s0-") and second.err.startswith(
        "found as trained earlier in "
    )


def test_seeds_are_kept_in_folders_of_their_own(cli, tiny):
    content = one_object(cli("train", "sort", *tiny, "--seeds", "2", "--seed", "7", "--folder", "f", "--json").out)
    folders = [run["folder"] for run in content["runs"]]
    assert folders == [os.path.join("f", "seed-7"), os.path.join("f", "seed-8")]
    assert all(os.path.isfile(os.path.join(folder, "run.json")) for folder in folders)


def test_discarded_seeds_are_named(cli, tiny):
    answer = cli("train", "sort", *tiny, "--seeds", "2", "--keep", "0.9")
    assert "0 of 2 seeds kept, 2 discarded" in answer.out
    assert sum(line.endswith("  not learned") for line in answer.out.splitlines()) == 2


def test_too_few_items_to_establish_the_standard_are_warned_of(cli, tiny, sorting_run, tmp_path):
    """Once, on stderr, by each command that measures; never where nothing is said about 95 %."""
    few = [*tiny, "--items", "50", "--folder", "few"]
    assert cli("train", "sort", *few).err.count("50 items per size") == 1
    assert cli("train", "sort", *few, "--quiet").err == ""
    assert "items per size" not in cli("train", "sort", *tiny).err
    assert "50 items per size" in cli("measure", sorting_run, "--items", "50").err
    assert "items per size" not in cli("measure", sorting_run, "--items", "73").err
    assert "items per size" not in cli("train", "prose", *few[:-1], "drawn").err, "exact match says nothing there"


def test_a_study_on_few_items_is_warned_of_once(cli, monkeypatch, tmp_path):
    from lengthwise.cli.commands import study

    def nothing(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "_carry_out", nothing)
    spec = 'tasks = ["sort", "parity"]\npositions = ["none", "rope"]\ntrain_size = 3\nitems = {}\n'
    for items, said in ((50, 1), (73, 0)):
        (tmp_path / "s.toml").write_text(spec.format(items))
        assert cli("study", "s.toml").err.count("items per size") == said


def test_dry_run_writes_nothing(cli, tiny, tmp_path):
    plan = one_object(cli("train", "sort", *tiny, "--rate", "0.5", "--encoder", "--dry-run", "--json").out)["plans"][0]
    assert plan["recipe"]["rate"] == 0.5 and plan["model"]["causal"] is False and plan["train_size"] == 4
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending, start", [(".svg", b"<svg"), (".png", b"\x89PNG"), (".html", b"<!")])
def test_a_figure_is_drawn(cli, sorting_run, tmp_path, ending, start):
    answer = cli("measure", sorting_run, "--items", "80", "--figure", f"curve{ending}")
    assert answer.code == 0 and answer.err == f"figure in curve{ending}\n"
    assert (tmp_path / f"curve{ending}").read_bytes().lstrip().startswith(start)


def test_a_share_is_rounded_to_nought_or_all_only_where_it_is():
    assert percent(1.0) == "100.0%" and percent(0.0) == "0.0%"
    assert percent(0.99999) == "99.9%" and percent(0.00001) == "<0.1%"
    assert percent(0.1234) == "12.3%"


def test_a_reader_that_goes_away_is_no_error():
    command = f"{sys.executable} -m lengthwise tasks --quiet | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=PATIENCE)
    assert done.stderr == "" and done.stdout.splitlines()[1] == "0"


def test_a_terminal_without_unicode_is_no_error(shell, sorting_run):
    answer = shell("tasks", "sort", "--show", "2", PYTHONIOENCODING="ascii")
    assert answer.code == 0 and answer.err == "" and "  ?  " in answer.out


def test_doctor_times_a_step_and_names_what_is_missing(cli, monkeypatch):
    monkeypatch.setattr(doctor, "TRIAL_SECONDS", 0.01)
    content = one_object(cli("doctor", "--json").out)
    assert 0.1 < content["speed"]["milliseconds_per_step"] < 10_000 and content["missing"] == []
    declared = ["torch>=2", "no-such-package>=1", "no-such-extra; extra == 'pdf'"]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: declared)
    answer = cli("doctor")
    assert answer.code == 2 and "MISSING: pip install no-such-package" in answer.out and "speed" not in answer.out
    assert "pip install 'lengthwise[pdf]'" in answer.out


def test_doctor_lists_all_that_the_package_declares(cli):
    """Read from pyproject.toml, which the doctor does not look at."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    project = tomllib.loads(text)["project"]

    def names(requirements):
        return sorted(re.split(r"[><=\[ ]", one)[0].lower() for one in requirements)

    content = one_object(cli("doctor", "--json", "--no-speed").out)
    assert sorted(map(str.lower, content["core"])) == names(project["dependencies"])
    declared = {extra: names(one) for extra, one in project["optional-dependencies"].items()}
    shown = {extra: sorted(map(str.lower, packages)) for extra, packages in content["extras"].items()}
    assert shown == {extra: one for extra, one in declared.items() if extra not in ("bench", "dev", "release")}


def test_doctor_without_an_installed_package_says_so(cli, monkeypatch):
    def missing(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("importlib.metadata.requires", missing)
    answer = cli("doctor", "--no-speed")
    assert answer.code == 2 and "not installed" in answer.err and answer.out == ""


@pytest.mark.parametrize(("task", "sign"), [("sort", ""), ("addition", "≈")])
def test_an_estimated_chance_is_marked_as_one(cli, tiny, task, sign):
    rows = cli("train", task, *tiny, "--quiet").out.splitlines()
    column = next(row for row in rows if "chance" in row).index("chance")
    shown = [row[column - 1 : column + 6].strip() for row in rows if row.startswith("   ") and "% –" in row]
    assert shown and all(text.startswith("≈") == bool(sign) for text in shown)
    assert ("≈" in cli("tasks", task).out) == bool(sign)
