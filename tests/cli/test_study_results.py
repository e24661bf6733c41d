"""What the commands around a study print: status, show, export and rebuild, for people and for programs."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from lengthwise.studies.lock import locked
from lengthwise.studies.record import RunRecord, Summary
from lengthwise.studies.store import INDEX, RUNS, Store


def one_object(text: str) -> dict:
    assert text.count("\n") == 1
    return json.loads(text)


def run(task: str, position: str, seed: int, reach: int | None = None, in_range: float = 1.0, **more) -> RunRecord:
    """A run with these few numbers; without a reach it waits."""
    given = {"variant": "", "train_size": 20, "test_size": 60, "items": 200, **more}
    made = RunRecord(
        f"{task}-{position}-{given['variant']}-{given['train_size']}-{seed}", task, position, seed=seed, **given
    )
    if reach is None:
        return made
    thrice, learned = None if reach == 59 else 0.25, in_range >= 0.9
    holds = reach >= 60 if learned else None
    summary = Summary(reach, reach == 60, in_range, min(1.0, reach / 40), thrice, 0.1, learned, holds)
    return replace(made, state="done", seconds=1.0, summary=summary)


def stored(folder: Path, runs: list[RunRecord], keep: float = 0.9, question: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    with Store.open(folder, write=True) as store:
        store.note("study", {"name": folder.name, "keep": keep, "question": question})
        store.plan(runs)
        store.finish_all([one for one in runs if one.summary is not None])
    return folder


def lines(text: str, title: str) -> list[str]:
    """The lines of one table."""
    return text.split(f"{title}")[1].split("\n\n")[0].splitlines()[1:]


SMALL = [
    *(run("sort", "none", seed, reach) for seed, reach in enumerate((60, 60, 60))),
    *(run("sort", "rope", seed, reach) for seed, reach in enumerate((20, 30, 40))),
    *(run("copy", "none", seed, reach, 0.5) for seed, reach in enumerate((5, 6, 7))),
    run("copy", "rope", 0, 25),
    run("copy", "rope", 1, 10, 0.2),
    run("copy", "rope", 2),
]


def test_the_table_says_what_the_seeds_say(cli):
    folder = stored(Path("runs/small"), SMALL, question="Does it hold?")
    answer = cli("study", "show", "small")
    assert answer.code == 0 and answer.err == ""
    assert answer.out.startswith("small: Does it hold?\n11 of 12 runs done, 1 waiting, 3 of 4 cells learned;")
    assert "(4 discarded)" in answer.out
    reach = lines(answer.out, "reach, in sizes (measured)")
    assert reach[0].split() == ["none", "rope"]
    assert reach[1].split() == ["sort", "≥60", "[≥60]", "3/3", "30", "[20–40]", "3/3"]
    assert reach[2].split() == ["copy", "×6", "[5–7]", "0/3", "25", "1/3"]
    twice = lines(answer.out, "exact match at 2 x the training size, in % (measured)")
    assert twice[1].split() == ["sort", "100", "[100–100]", "3/3", "75", "[50–100]", "3/3"]
    assert "≥ at least" in answer.out and "× not learned" in answer.out and "no interval" in answer.out
    assert "failed" not in answer.out and cli("study", "show", folder).out == answer.out


def test_intervals_are_those_of_the_claims_rounded_outwards(cli):
    stored(Path("runs/odd"), [run("sort", "none", seed, reach) for seed, reach in enumerate((20, 21, 23, 26))])
    claim = one_object(cli("study", "show", "odd", "--json").out)["cells"][0]["claims"]["reach"]
    low, high = claim["interval"]["low"], claim["interval"]["high"]
    assert low % 1 and high % 1, "the ends are whole, so nothing is rounded"
    row = lines(cli("study", "show", "odd").out, "reach, in sizes")[1].split()
    assert row == ["sort", "22.5", f"[{int(low)}–{int(high) + 1}]", "4/4"] and claim["value"] == 22.5


def test_cells_that_are_missing_failed_unfinished_or_unmeasured(cli):
    runs = [run("sort", "none", 0, 59), run("sort", "rope", 0), run("copy", "none", 0)]
    with Store.open(stored(Path("runs/some"), runs), write=True) as store:
        store.mark(runs[2].key, "failed", "ValueError:\nbroke \x1b[31mred", attempts=2)
    answer = cli("study", "show", "some")
    assert lines(answer.out, "reach, in sizes")[1:] == ["sort      59 1/1     …", "copy      failed"]
    assert lines(answer.out, "3 x the training size")[1].split()[:3] == ["sort", "–", "1/1"]
    assert "– nothing was measured there" in answer.out and "… not finished yet" in answer.out
    assert "failed: 1\n  copy, position none, trained to 20, seed 0: ValueError: broke \ufffd[31mred\n" in answer.out
    assert "\x1b" not in answer.out


def test_many_encodings_long_names_and_variants_fit_80_columns(cli):
    names = [f"rope:scaling=yarn,factor={n},base=500000+randomized" for n in range(6)] + ["none", "t5", "<b>", "漢字"]
    long = "depth 2, width 64, weight decay 0.01, sizes increasing:share=0.5, attention log_length, steps 2000"
    runs = [
        run(task, name, seed, 30 + seed, variant=variant, train_size=size, test_size=3 * size)
        for task in ("sort", "a_rather_long_name_of_a_task")
        for name in names
        for variant in ("depth 1", long)
        for size in (20, 40)
        for seed in range(2)
    ]
    stored(Path("runs/wide"), runs)
    answer = cli("study", "show", "wide", "--measure", "reach")
    assert max(map(len, answer.out.splitlines())) <= 80
    joined = "".join(answer.out.split())
    assert all(name in joined for name in names[6:]) and joined.count("30.5[30–31]2/2") == len(runs) // 2
    for size in (20, 40):
        assert answer.out.count(f"sort, depth 1, to {size}") >= 2, "every block of columns has the rows' labels"
        assert f"attention log_length, steps 2000, to {size}" in " ".join(answer.out.split())


def test_measures_can_be_chosen(cli):
    stored(Path("runs/small"), SMALL)
    answer = cli("study", "show", "small", "--measure", "thrice, in-range")
    assert answer.out.index("at 3 x") < answer.out.index("in the training range, in %")
    assert "reach, in" not in answer.out and "at 2 x" not in answer.out
    cells = one_object(cli("study", "show", "small", "--measure", "in_range", "--json").out)["cells"]
    assert all(list(cell["claims"]) == ["in_range"] for cell in cells)


def test_show_as_an_object_has_claims(cli, synthetic_study):
    synthetic_study(Path("runs/study"))
    content = one_object(cli("study", "show", "study", "--json").out)
    assert content["command"] == "study show" and content["schema"] == 1 and len(content["cells"]) == 12
    assert content["failed"][0]["reason"].startswith("ValueError")
    for cell in content["cells"]:
        for claim in cell["claims"].values():
            assert claim["kind"] == "measured" and claim["evidence"]["rule"]
            assert claim["status"] in ("holds", "unknown") and set(claim["evidence"]["seeds"]) <= {0, 1, 2}


@pytest.fixture
def going(tmp_path) -> Path:
    """A study in the midst of its work."""
    folder = stored(tmp_path / "runs/going", [*SMALL, *(run("parity", "none", seed) for seed in range(5))])
    beats = [
        '{"done": "training: loss 0.25", "step": 50, "steps": 200}',
        '{"done": "size 31: 97% exact", "step": 31, "steps": 60}',
        '{"step": 5',
        '["no", "object"]',
    ]
    with Store.open(folder, write=True) as store:
        for seed, beat in enumerate([*beats, None]):
            key = run("parity", "none", seed).key
            store.mark(key, "running")
            (folder / RUNS / key).mkdir(parents=True)
            if beat is not None:
                (folder / RUNS / key / "beat.json").write_text(beat)
        store.mark(SMALL[0].key, "failed", "killed by SIGKILL", attempts=2)
        store.note("progress", {"seconds_left": 600.0, "at": time.time() - 100})
    return folder


def test_status_while_a_coordinator_is_at_work(cli, going):
    with locked(going, "the study"):
        answer = cli("study", "status", "going")
        content = one_object(cli("study", "status", "going", "--json").out)
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    assert "10 of 17 done, 5 running, 1 failed, 1 waiting" in answer.out
    assert f"at work: process {os.getpid()} on" in answer.out and re.search(r"about [89] min", answer.out)
    assert "seed 0: training: loss 0.25, step 50 of 200" in " ".join(answer.out.split())
    assert "seed 1: size 31: 97% exact, step 31 of 60" in " ".join(answer.out.split())
    assert answer.out.count("no sign of life yet") == 3
    assert "sort, position none, trained to 20, seed 0: killed by SIGKILL" in answer.out
    assert content["command"] == "study status" and 480 < content["seconds_left"] <= 500
    assert [one["beat"] for one in content["runs"]][2:] == [None, None, None]
    assert content["runs"][0]["beat"] == {"done": "training: loss 0.25", "step": 50, "steps": 200}
    assert (content["done"], content["running"], content["failed"], content["waiting"]) == (10, 5, 1, 1)
    assert content["failures"][0]["reason"] == "killed by SIGKILL" and content["coordinator"]


def test_status_when_nobody_is_at_work(cli, going):
    answer = cli("study", "status", going)
    assert "none is at work" in answer.out and "time left" not in answer.out
    content = one_object(cli("study", "status", "going", "--json").out)
    assert content["coordinator"] is None and content["seconds_left"] is None


@pytest.mark.parametrize("beat", ['{"step": NaN}', '{"loss": Infinity}', '{"step": true}', "[" * 3000, "\x00", "null"])
def test_status_bears_any_sign_of_life(cli, going, beat):
    (going / RUNS / run("parity", "none", 0).key / "beat.json").write_text(beat)
    assert one_object(cli("study", "status", "going", "--json").out)["runs"][0]["beat"] is None
    assert cli("study", "status", "going").code == 0


def test_export_writes_where_it_is_told(cli, synthetic_study):
    synthetic_study(Path("runs/study"), tasks=["sort"], seeds=1, failed=0)
    answer = cli("study", "export", "study", "points.csv")
    assert answer.code == 0 and answer.out == "" and answer.err.startswith("180 rows in points.csv, ")
    content = one_object(cli("study", "export", "study", "r.parquet", "--claims", "--json").out)
    assert content["rows"] == 3 and Path("r.parquet").stat().st_size > 1000
    assert cli("study", "export", "study", "r.parquet", "--quiet").err == "", "it replaces its own"
    again = cli("study", "export", "study", "points.csv")
    assert again.code == 2 and "cannot say who wrote it" in again.err


def test_rebuild_names_what_is_damaged_and_exits_with_4(cli, sorting_run):
    import shutil

    for name in ("one", "two", "three"):
        shutil.copytree(sorting_run, Path("runs/mine/runs") / name)
    os.truncate("runs/mine/runs/two/model.safetensors", 50)
    answer = cli("study", "rebuild", "mine")
    assert answer.code == 4 and answer.out == "" and "2 of 2 runs are done" in answer.err
    damaged = [line for line in answer.err.splitlines() if line.startswith("lengthwise: damaged: two: ")]
    assert len(damaged) == 1 and "SHA-256 differs" in damaged[0]
    assert cli("study", "show", "mine").code == 0
    shutil.rmtree("runs/mine/runs/two")
    again = cli("study", "rebuild", "mine", "--json")
    assert again.code == 0 and one_object(again.out)["counts"]["done"] == 2


def test_rebuild_of_an_index_that_is_garbage(cli, sorting_run):
    import shutil

    shutil.copytree(sorting_run, Path("runs/mine/runs/one"))
    Path("runs/mine", INDEX).write_bytes(b"garbage" * 1000)
    told = cli("study", "show", "mine")
    assert told.code == 2 and "`lengthwise study rebuild runs/mine`" in told.err
    assert cli("study", "rebuild", "mine").code == 0 and Path("runs/mine", f"{INDEX}.damaged").exists()
    assert "1 of 1 runs done" in cli("study", "show", "mine").out


BAD = {
    "no name": (["show"], ["required: NAME"]),
    "unknown study": (["show", "smal"], ["'smal'", "did you mean 'small'"]),
    "unknown measure": (["show", "small", "--measure", "reech"], ["'reech'", "did you mean 'reach'", "thrice"]),
    "no measure": (["show", "small", "--measure", ","], ["--measure is empty"]),
    "no output": (["export", "small"], ["required: OUT"]),
    "another ending": (["export", "small", "a.xlsx"], [".parquet", ".csv"]),
    "no folder": (["export", "small", "no/a.csv"], ["folder that exists"]),
    "no such probe": (["export", "small", "a.csv", "--probe", "curves"], ["no finished run", "'curves'"]),
    "two kinds of rows": (["export", "small", "a.csv", "--table", "x", "--claims"], ["--table and --claims"]),
    "summary of a probe": (["export", "small", "a.json", "--summary", "--claims"], ["--summary writes all records"]),
    "another summary": (["export", "small", "a.csv", "--summary"], [".json", ".json.gz"]),
    "no record": (["show", "small", "--probe", "curves"], ["no finished run", "'curves'"]),
    "nothing to rebuild": (["rebuild", "small"], ["no run folders"]),
    "unknown option": (["status", "small", "--jason"], ["did you mean --json?"]),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input_is_told_in_a_sentence(cli, name):
    stored(Path("runs/small"), SMALL[:1])
    words, parts = BAD[name]
    answer = cli("study", *words)
    assert answer.code == 2 and answer.out == "" and answer.err.count("\n") == 1
    assert all(part in answer.err for part in parts), answer.err


def test_reading_a_study_loads_no_torch(tmp_path):
    summary = SMALL[3].summary
    runs = [
        replace(run(f"task_{n // 50}", f"position_{n // 5 % 10}", n % 5), state="done", seconds=1.0, summary=summary)
        for n in range(500)
    ]
    stored(tmp_path / "many", [replace(one, summary=replace(summary, reach=n % 60)) for n, one in enumerate(runs)])
    code = (
        "import sys; from lengthwise.cli import main\n"
        "assert main(['study', 'show', 'many']) == main(['study', 'status', 'many']) == 0\n"
        "assert main(['study', 'export', 'many', 'a.csv', '--claims']) == 0\n"
        "assert not {'torch', 'altair', 'pyarrow'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= 80
