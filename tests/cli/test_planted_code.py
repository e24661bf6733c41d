"""Planted code never runs: every command is given records, studies, summaries and models that lead to code, with
nothing on its input and with a yes on it. It refuses in one sentence, or does its work without that code."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import lengthwise as lw
from lengthwise.errors import UsageError
from lengthwise.studies.store import Store
from own_tasks import REPEAT
from planted import (
    CANARY,
    REFUSED_MODELS,
    SETTINGS_OF_RUNS,
    STAND_IN,
    TASKS_OF_RUNS,
    planted_file,
    planted_model,
    planted_run,
    planted_setting,
    planted_study,
    without,
)
from small_gguf import small_llama
from small_hub import small_gpt2

pytestmark = pytest.mark.system  # a campaign of hundreds of commands
ASKED = [pytest.param("", id="closed"), pytest.param("y\n" * 20, id="yes")]
WORDS = '{"text": "a b c"}\n{"text": "b a"}\n{"text": "c c a"}\n'

OF_RUN = {
    "inspect": "inspect RUN --items 1 --probes layers,margins",
    "measure": "measure RUN --items 2",
    "measure recursively": "measure RUN --items 2 --probe recursion",
    "bound": "bound RUN --sample 4 --folder kept",
    "contexture": "contexture RUN --items 8 --twins 1",
    "shift": "shift one.jsonl two.jsonl --metric hidden:model=RUN --resamples 20",
    "train": "train sort --folder RUN --steps 5 --train-size 4 --test-size 6 --items 5",
    "show": "study show RUN",
    "export": "study export RUN out.csv",
    "report": "report RUN",
}
OF_STUDY = {
    "show": "study show STUDY",
    "show json": "study show STUDY --json",
    "status": "study status STUDY",
    "export points": "study export STUDY out.csv",
    "export ladder": "study export STUDY out.csv --probe ladder",
    "export summary": "study export STUDY out.json.gz --summary",
    "rebuild": "study rebuild STUDY",
    "report": "report STUDY --out out.html",
    "figures": "report STUDY --out out.html --figures drawn",
    "study": "study STUDY/study.toml --folder again",
    "dry run": "study STUDY/study.toml --dry-run",
    "study in its folder": "study STUDY/study.toml --folder STUDY",
}
OF_MODEL = {
    "inspect": "inspect MODEL --items 1 --probes layers",
    "bound": "bound MODEL --data words.jsonl --folder kept",
    "shift": "shift one.jsonl two.jsonl --metric hidden:model=MODEL --resamples 20",
}


@pytest.fixture(scope="session")
def gpt2(tmp_path_factory) -> Path:
    return small_gpt2(tmp_path_factory.mktemp("hub"))


@pytest.fixture
def attempt(tmp_path, cli, monkeypatch):
    """Run a command and see that the planted code did not; a refusal is one sentence."""
    (tmp_path / "one.jsonl").write_text(WORDS)
    (tmp_path / "two.jsonl").write_text(WORDS.replace("a", "b"))
    (tmp_path / "words.jsonl").write_text(WORDS)

    def run(command: str, answer: str = "", **places: Path):
        monkeypatch.setattr(sys, "stdin", io.StringIO(answer))
        words = command.split()
        for name, place in places.items():
            words = [word.replace(name, str(place)) for word in words]
        said = cli(*words)
        assert not (tmp_path / CANARY).exists(), "planted code ran"
        assert "Traceback" not in said.out + said.err
        if said.code == 2:
            assert said.err.splitlines()[-1].startswith("lengthwise: ") and said.err.count("lengthwise: ") == 1
        return said

    return run


@pytest.mark.parametrize("answer", ASKED)
@pytest.mark.parametrize("task", TASKS_OF_RUNS)
@pytest.mark.parametrize("command", OF_RUN)
def test_the_record_of_a_run_does_not_run_code(command, task, answer, sorting_run, tmp_path, attempt):
    said = attempt(OF_RUN[command], answer, RUN=planted_run(sorting_run, tmp_path, task))
    if command in ("measure", "measure recursively", "bound", "contexture"):
        assert said.code == 2
    elif command == "inspect":  # it looks at what needs no task
        assert said.code == 0


@pytest.mark.parametrize("answer", ASKED)
@pytest.mark.parametrize("command", OF_RUN)
def test_the_plan_of_an_unfinished_run_does_not_run_code(command, answer, sorting_run, tmp_path, attempt):
    attempt(OF_RUN[command], answer, RUN=planted_run(sorting_run, tmp_path, "class", "plan.json"))


@pytest.mark.parametrize("answer", ASKED)
@pytest.mark.parametrize("plant", SETTINGS_OF_RUNS)
@pytest.mark.parametrize("command", OF_RUN)
def test_the_settings_of_a_run_do_not_run_code(command, plant, answer, sorting_run, tmp_path, attempt):
    said = attempt(OF_RUN[command], answer, RUN=planted_setting(sorting_run, tmp_path, plant))
    if command == "measure" or (command in ("measure recursively", "bound", "contexture") and plant != "probes"):
        assert said.code == 2 and "evil.py" in said.err and "--trust" in said.err


@pytest.mark.parametrize("plant", SETTINGS_OF_RUNS)
@pytest.mark.parametrize("command", OF_RUN)
def test_the_settings_of_an_unfinished_run_do_not_run_code(command, plant, sorting_run, tmp_path, attempt):
    attempt(OF_RUN[command], "", RUN=planted_setting(sorting_run, tmp_path, plant, "plan.json"))


@pytest.mark.parametrize("command", OF_STUDY)
def test_the_encoding_of_a_study_does_not_run_code(command, synthetic_study, sorting_run, tmp_path, attempt):
    study = planted_study(synthetic_study, tmp_path, True, plant="alibi")
    if command == "rebuild":
        shutil.move(planted_setting(sorting_run, tmp_path, "position"), study / "runs" / "one")
        (study / "index.sqlite").unlink()
    said = attempt(OF_STUDY[command], "", STUDY=study)
    if "study.toml" in OF_STUDY[command]:
        assert said.code == 2 and "evil.py" in said.err and "--trust" in said.err
    elif command != "rebuild":
        assert said.code == 0


@pytest.mark.parametrize(
    "line",
    [
        'positions = ["PATH::Slope"]',
        'positions = ["rope+PATH::Slope"]',
        '[model]\nattention = "PATH::Sharp"',
        '[training]\nsizes = "PATH::Ends"',
        '[training]\nform = ["full", "PATH::Biases"]',
        'probes = ["curve", "PATH::Nothing"]',
        '[[exclude]]\nattention = "PATH::Sharp"',
        '[[exclude]]\nposition = "PATH::Slope"',
        '[[override]]\ntask = "sort"\nmodel = { attention = "PATH::Sharp" }',
        '[[override]]\nposition = "PATH::Slope"\nseeds = 2',
    ],
)
@pytest.mark.parametrize("command", ["study FILE --dry-run", "study FILE --folder kept"])
def test_a_study_file_does_not_run_code(command, line, tmp_path, attempt):
    text = line.replace("PATH", str(planted_file(tmp_path)))
    (tmp_path / "mine.toml").write_text(f'tasks = ["sort"]\ntrain_size = 4\n{text}\n')
    said = attempt(command, "", FILE=tmp_path / "mine.toml")
    assert said.code == 2 and "evil.py" in said.err


@pytest.mark.parametrize("answer", ASKED)
@pytest.mark.parametrize("shifts", [True, False], ids=["measured", "distances missing"])
@pytest.mark.parametrize("command", OF_STUDY)
def test_a_study_does_not_run_code(command, shifts, answer, synthetic_study, sorting_run, tmp_path, attempt):
    study = planted_study(synthetic_study, tmp_path, shifts)
    if command == "rebuild":
        shutil.move(planted_run(sorting_run, tmp_path, "class"), study / "runs" / "one")
        (study / "index.sqlite").unlink()
    said = attempt(OF_STUDY[command], answer, STUDY=study)
    if "study.toml" in OF_STUDY[command]:
        assert said.code == 2 and "evil.py" in said.err and "--trust" in said.err
    elif command != "rebuild":
        assert said.code == 0
    if command == "report" or (command == "show" and shifts):
        assert "evil.py" in said.err and "--trust" in said.err  # what is left out is said


@pytest.mark.parametrize("answer", ASKED)
@pytest.mark.parametrize("command", ["study show FILE", "study show FILE --json"])
def test_a_summary_does_not_run_code(command, answer, synthetic_study, tmp_path, attempt, cli):
    study = planted_study(synthetic_study, tmp_path, True)
    assert cli("study", "export", study, "planted.json.gz", "--summary").code == 0
    said = attempt(command, answer, FILE=tmp_path / "planted.json.gz")
    assert said.code == 0 and "evil.py" in said.err


@pytest.mark.parametrize("answer", ASKED)
@pytest.mark.parametrize("plant", REFUSED_MODELS)
@pytest.mark.parametrize("command", OF_MODEL)
def test_a_model_that_asks_for_more_than_plain_weights_is_refused(command, plant, answer, gpt2, tmp_path, attempt):
    said = attempt(OF_MODEL[command], answer, MODEL=planted_model(gpt2, tmp_path, plant))
    assert said.code == 2 and said.out == "" and len(said.err) < 600


@pytest.mark.parametrize("answer", ASKED)
@pytest.mark.parametrize("command", OF_MODEL)
def test_the_code_of_a_tokenizer_is_not_needed(command, answer, gpt2, tmp_path, attempt):
    assert attempt(OF_MODEL[command], answer, MODEL=planted_model(gpt2, tmp_path, "tokenizer code")).code == 0


@pytest.mark.parametrize("answer", ASKED)
@pytest.mark.parametrize("command", ["inspect", "bound"])
def test_what_lies_beside_a_gguf_file_is_not_read(command, answer, gpt2, tmp_path, attempt):
    beside = planted_model(gpt2, tmp_path, "tokenizer code")
    planted_model(gpt2, tmp_path / "other", "adapter")
    shutil.copy(tmp_path / "other" / "model" / "adapter_config.json", beside)
    small_llama(beside / "model.gguf", vocabulary=9)
    assert attempt(OF_MODEL[command], answer, MODEL=beside / "model.gguf").code == 0


@pytest.mark.parametrize("command", OF_MODEL)
def test_a_sound_model_is_read(command, gpt2, tmp_path, attempt):
    """What the refusals above are held against."""
    assert attempt(OF_MODEL[command], MODEL=gpt2).code == 0


def test_missing_weights_are_named(gpt2, tmp_path, attempt):
    model = planted_model(gpt2, tmp_path, "missing weights")
    said = attempt(OF_MODEL["shift"], MODEL=model)
    assert "weights are missing (h.1." in " ".join(said.err.split())


def test_one_missing_weight_is_named(gpt2, tmp_path, attempt):
    model = Path(shutil.copytree(gpt2, tmp_path / "model"))
    without(model, "h.0.mlp.c_fc.weight")
    said = attempt(OF_MODEL["shift"], MODEL=model)
    assert said.code == 2 and "h.0.mlp.c_fc.weight is missing" in " ".join(said.err.split())


def test_a_model_without_a_tokenizer_is_told_so(gpt2, tmp_path, attempt):
    model = Path(shutil.copytree(gpt2, tmp_path / "model"))
    (model / "tokenizer.json").unlink()
    said = attempt(OF_MODEL["shift"], MODEL=model)
    assert said.code == 2 and "no tokenizer" in said.err


def test_a_task_that_the_user_names_runs(sorting_run, tmp_path, cli):
    """The same file, named on the command line: the refusals above are not for want of a working file."""
    path = planted_file(tmp_path)
    assert cli("tasks", f"{path}::Repeat").code == 0
    assert (tmp_path / CANARY).exists()


@pytest.mark.parametrize("command", ["inspect RUN --items 1 --probes margins", "measure RUN --items 2"])
def test_trust_runs_the_file_of_a_run(command, sorting_run, tmp_path, cli):
    run = planted_run(sorting_run, tmp_path, "class")
    cli(*command.replace("RUN", str(run)).split(), "--trust")
    assert (tmp_path / CANARY).exists()


def test_load_run_trusts_when_told_to(sorting_run, tmp_path):
    run = planted_run(sorting_run, tmp_path, "class")
    with pytest.raises(UsageError, match=r"evil\.py is named by stored data"):
        lw.load_run(run)
    assert not (tmp_path / CANARY).exists()
    lw.load_run(run, trust=True)
    assert (tmp_path / CANARY).exists()


@pytest.mark.parametrize("answer", ["", "y\n"], ids=["closed", "yes"])
@pytest.mark.parametrize("command", ["measure RUN", "inspect RUN --items 1", "shift one.jsonl two.jsonl MODEL"])
def test_in_a_process_of_its_own(command, answer, sorting_run, gpt2, tmp_path):
    """With a real input, as a pipe gives it."""
    (tmp_path / "one.jsonl").write_text(WORDS)
    (tmp_path / "two.jsonl").write_text(WORDS.replace("a", "b"))
    run = planted_run(sorting_run, tmp_path, "class")
    model = planted_model(gpt2, tmp_path, "code for an unknown model")
    words = command.replace("RUN", str(run)).replace("MODEL", f"--metric hidden:model={model}").split()
    done = subprocess.run(
        [sys.executable, "-m", "lengthwise", *words],
        input=answer,
        capture_output=True,
        text=True,
        timeout=120,
        env=dict(os.environ),
    )
    assert not (tmp_path / CANARY).exists() and "Traceback" not in done.stderr
    assert done.returncode == (0 if words[0] == "inspect" else 2)


def test_the_stand_in_is_exchanged_everywhere(synthetic_study, tmp_path):
    """Otherwise the tests of studies would test nothing."""
    study = planted_study(synthetic_study, tmp_path, True)
    with Store.open(study) as store:
        assert {run.task for run in store.runs("done")} == {f"{tmp_path / 'evil.py'}::Repeat"}
    assert STAND_IN not in (study / "study.toml").read_text()


def test_a_trusted_study_runs_its_tasks_in_workers_and_in_its_report(tmp_path, cli):
    (tmp_path / "mine.py").write_text(REPEAT)
    (tmp_path / "mine.toml").write_text(
        'tasks = ["mine.py::Repeat"]\ntrain_size = 3\ntest_size = 4\nitems = 4\n'
        "[model]\ndepth = 1\nwidth = 16\nheads = 1\n[training]\nsteps = 3\nbatch = 4\n"
    )
    command = ("study", "mine.toml", "--executor", "local:workers=1")
    assert cli(*command).code == 2
    trusted = cli(*command, "--trust")
    assert trusted.code == 0 and "--trust runs it" not in trusted.err
    with Store.open(Path("runs/mine")) as store:
        assert "--trust" in str(store.fact("command"))
