"""Arguments and files as an attacker would give them: one sentence, exit code 2, no waiting."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from lengthwise.tasks import tasks
from own_tasks import UNFINISHED

HUGE = "9" * 5_000


def refused(answer) -> str:
    """The sentence, after checking that it is alone."""
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("lengthwise: ") and answer.err.count("\n") == 1
    return answer.err


@pytest.mark.parametrize(
    "arguments",
    [
        "train sort --train-size 9223372036854775808 --dry-run",
        "train sort --train-size 922337203685477580 --dry-run",
        f"train sort --test-size {HUGE} --dry-run",
        "train sort --items 1000000000000 --dry-run",
        "train sort --mlp-ratio 1000000000 --dry-run",
        "train sort --width 1000000000 --dry-run",
        "train sort --batch 1000000000 --dry-run",
        "train sort --steps 100000000000000000 --dry-run",
        "train sort --seeds 1000000000 --dry-run",
        "train sort --threads 1000000000 --dry-run",
        "train sort:alphabet=1000000000 --dry-run",
        f"train sort:alphabet={HUGE} --dry-run",
        "tasks sort:alphabet=1000000000",
        "tasks sort --size 1000000000000",
        "tasks sort --show 1000000000000",
        "check sort:alphabet=1000000000",
        "check sort --test-size 1000000000000",
        "forecast parity --train-size 1000000000000",
        "advise parity --test-size 1000000000000",
        "inspect run --size 1000000000000",
        "particles --time 1e18",
        "inspect run --items 100000",
        "inspect run --probes layers:items=1000000000",
        "particles --frames 1000000000",
        "particles --n 1000000000000",
        "particles phases --starts 2147483648",
        "particles phases --time 1e300",
        "train sort --seed \udcff",
        "tasks \ud800",
        "tasks prose:path=\udcff.txt",
        "tasks a\0b",
    ],
)
def test_arguments(cli, arguments: str) -> None:
    answer = cli(*arguments.split(" "))
    assert len(refused(answer)) < 400


def test_yes_lifts_an_estimate(cli) -> None:
    slow = ["train", "sort", "--steps", "1000000000", "--dry-run"]
    assert "--yes" in refused(cli(*slow))
    assert cli(*slow, "--yes").code == 0


def hostile_files(folder: Path) -> dict[str, str]:
    deep, pipe = "[" * 100_000, folder / "pipe"
    os.mkfifo(pipe)
    (folder / "loop").symlink_to("loop")
    texts = {
        "deep": deep,
        "deep_object": '{"input": ' + deep + "]" * 100_000 + "}",
        "digits": '{"input": [' + "9" * 400 + '], "x": ' + "9" * 400 + "}",
        "more_digits": '{"alphabet": ' + HUGE + "}",
        "surrogate": json.dumps({"input": "a\ud800", "answer": "a", "text": "\ud800", "x": "\ud800"}),
        "long_line": '{"input": "' + "ab" * 2_200_000,
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "bytes").write_bytes(b"\xff\xfe\x00")
    return {"pipe": str(pipe), "device": "/dev/zero", **{n: str(folder / n) for n in (*texts, "bytes", "loop")}}


READERS = [
    "tasks --dfa FILE",
    "tasks --data FILE",
    "tasks prose:path=FILE",
    "check --data FILE",
    "check --formulation FILE",
    "check sort --program FILE",
    "shift FILE FILE",
    "contexture FILE",
    "study FILE --dry-run",
    "limit simulate FILE --word ab",
]


@pytest.mark.parametrize("reader", READERS)
def test_files(cli, tmp_path: Path, reader: str) -> None:
    for kind, place in hostile_files(tmp_path).items():
        if "prose" in reader and kind not in ("pipe", "device", "bytes", "loop"):
            continue  # any text is prose
        ending = ".toml" if reader.startswith("study") else ".jsonl"
        path = tmp_path / f"{kind}{ending}"
        path.symlink_to(place)
        answer = cli(*(str(path) if word == "FILE" else word.replace("FILE", str(path)) for word in reader.split(" ")))
        assert len(refused(answer)) < 600, kind


@pytest.mark.parametrize("reader", ["inspect RUN --data FILE", "bound RUN --data FILE"])
def test_files_that_a_run_is_shown(cli, tmp_path: Path, sorting_run: Path, reader: str) -> None:
    for kind, place in hostile_files(tmp_path).items():
        path = tmp_path / f"{kind}.jsonl"
        path.symlink_to(place)
        words = reader.replace("RUN", str(sorting_run)).replace("FILE", str(path)).split(" ")
        assert len(refused(cli(*words))) < 600, kind


@pytest.mark.parametrize(
    "reader",
    [
        *("tasks FILE::T", "positions FILE::P", "attentions FILE::A", "models FILE::M", "inspect FILE::build"),
        *("check --formulation FILE", "train sort --model FILE::Net --dry-run", "train sort --executor FILE::E"),
    ],
)
def test_files_of_code(cli, tmp_path: Path, reader: str) -> None:
    for kind, place in hostile_files(tmp_path).items():
        path = tmp_path / f"{kind}.py"
        path.symlink_to(place)
        assert len(refused(cli(*reader.replace("FILE", str(path)).split(" ")))) < 600, kind


@pytest.mark.parametrize("command", ["tasks", "check"])
@pytest.mark.parametrize(
    "expression",
    [
        "(" * 5_000,
        "(" * 5_000 + "a" + ")" * 5_000,
        "a" * 20_000,
        "a{1000000}",
        "(a|" * 3_000,
        "[" * 3_000,
        "a" * 3_000 + "(",
    ],
    ids=lambda text: text[:6],
)
def test_regular_expressions_of_thousands_of_characters(cli, command: str, expression: str) -> None:
    assert len(refused(cli(command, "--regex", expression))) < 600


RIGHT = {"SYMBOLS": "('a', 'b')", "ANSWERS": "prompts", "SOLVED": "tuple(prompt)"}


@pytest.mark.parametrize(
    "mark, wrong",
    [
        ("SYMBOLS", "(-1, float('nan'))"),
        ("SYMBOLS", "iter(int, 1)"),
        ("SYMBOLS", "exit(7)"),
        ("ANSWERS", "prompts - 9"),
        ("ANSWERS", "prompts * float('nan')"),
        ("SOLVED", "__import__('sys').exit(0)"),
    ],
)
def test_tasks_of_a_user(cli, tmp_path: Path, mark: str, wrong: str) -> None:
    """An exit code of the user's code does not pass through, not even 0."""
    text = UNFINISHED
    for name, value in {**RIGHT, mark: wrong}.items():
        text = text.replace(name, value)
    (tmp_path / "own.py").write_text(text)
    refused(cli("tasks", "own.py"))


def test_a_formulation_that_exits(cli, tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text("def starts(size):\n    return [['1'] * size]\ndef step(state):\n    exit(0)\n")
    refused(cli("check", "--formulation", "own.py"))


def test_a_formulation_that_raises_no_exception(cli, tmp_path: Path) -> None:
    """What is raised need not be one that `except Exception` holds."""
    code = "def starts(size):\n    return [['1'] * size]\ndef step(state):\n    raise GeneratorExit\n"
    (tmp_path / "own.py").write_text(code)
    refused(cli("check", "--formulation", "own.py"))


def test_a_formulation_that_loops(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lengthwise.tasks.formulations.functions.SECONDS", 0.2)
    (tmp_path / "own.py").write_text("def starts(size):\n    return [['1']]\ndef step(state):\n    while True: pass\n")
    answer = cli("check", "--formulation", "own.py")
    assert "took more than 0.2 s" in refused(answer) and "--yes" in answer.err


def test_a_file_that_loops(cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lengthwise.trust.USER_SECONDS", 0.2)
    (tmp_path / "own.py").write_text("while True: pass\n")
    assert "own.py took more than 0.2 s" in refused(cli("tasks", "own.py"))


def test_an_empty_argument_too_many(cli) -> None:
    refused(cli("limit", "simulate", "majority", "--word", "0101", ""))


def test_a_run_whose_plan_is_none(cli, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "run.json").write_text(json.dumps({"plan": [], "files": {}, "sha256": ""}))
    (tmp_path / "run" / "config.json").write_text("{}")
    refused(cli("train", "--from", "run", "--dry-run"))


def test_a_start_whose_config_lacks_a_setting(cli, tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    config = {"weights_sha256": "0", "depth": 1, "width": 16, "heads": 1}
    (tmp_path / "run" / "config.json").write_text(json.dumps(config))
    said = refused(cli("train", "sort", "--from", "run", "--dry-run"))
    assert "run/config.json is not the config of a lengthwise model: 'mlp_ratio' is missing" in said


def test_a_large_automaton_is_stopped(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lengthwise.cli.commands.check.THINKING_SECONDS", 0.2)
    assert "the check took more than 0.2 s" in refused(cli("check", "--regex", "(a|b)*a" + "(a|b)" * 11))


@pytest.mark.parametrize("command", ["train --from NAME --dry-run", "limit NAME", "inspect NAME", "study rebuild NAME"])
def test_names_that_no_file_system_takes(cli, command: str) -> None:
    refused(cli(*command.replace("NAME", "9" * 5_000).split(" ")))


@pytest.mark.parametrize(
    "command",
    [
        "measure RUN --sizes DIGITS",
        "measure RUN --sizes 1-DIGITS",
        "limit RUN --sizes DIGITS",
        "shift sort --from 1 --to DIGITS",
        "shift sort --from 1 --to 1-1000000000",
        f"bound shift RUN --to {'9' * 200}",
    ],
)
def test_sizes_of_thousands_of_digits(cli, sorting_run: Path, command: str) -> None:
    words = command.replace("RUN", str(sorting_run)).replace("DIGITS", HUGE).split(" ")
    assert "a size" in refused(cli(*words))


def test_a_number_of_a_program_of_thousands_of_digits(cli, tmp_path: Path) -> None:
    (tmp_path / "mine.crasp").write_text(f'next["$"] := count("a") == {HUGE}\n')
    assert "mine.crasp, line 1, column" in refused(cli("check", "sort", "--program", "mine.crasp"))


def test_a_text_without_end_for_prose(cli, tmp_path: Path) -> None:
    with (tmp_path / "large.txt").open("wb") as file:
        file.truncate(1 << 40)  # which takes no room on the disk
    assert "large.txt has more than 32 MB" in refused(cli("tasks", "prose:path=large.txt"))


def test_a_simulation_whose_pace_is_out_of_reach(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lengthwise.limits.PACED_SECONDS", 0.0)
    answer = cli("particles", "--time", "1e6", "--n", "4", "--frames", "2", "--quiet")
    assert "the simulation to t = 1e+06 would take about" in refused(answer) and "--yes" in answer.err


def test_a_look_that_no_memory_holds(cli, sorting_run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lengthwise.limits.machine_memory", lambda: 10**6)
    answer = cli("inspect", sorting_run, "--items", "10000")
    assert "a look at 10,000 sequences of" in refused(answer) and "of memory" in answer.err


NETWORK = """import torch
class Net(torch.nn.Module):
    def forward(self, tokens):
        assert tokens.shape[1] < 9, "too long for me"
        return torch.zeros(*tokens.shape, OUTPUTS)
class Sorter:
    def answer(self, prompts):
        raise KeyError("what I forgot")
"""


@pytest.mark.parametrize("name, said", [("Net", "AssertionError"), ("Sorter", "KeyError")])
def test_a_model_of_a_user_that_fails_later(cli, tmp_path: Path, name: str, said: str) -> None:
    outputs = str(tasks.make("copy_unique").outputs)
    (tmp_path / "own.py").write_text(NETWORK.replace("OUTPUTS", outputs))
    words = ["measure", f"own.py::{name}", "--task", "copy_unique", "--sizes", "2,40", "--items", "2", "--quiet"]
    answer = refused(cli(*words))
    assert f"own.py::{name} failed" in answer and said in answer and "(line " in answer


@pytest.mark.parametrize("arguments", ["train sort --position=--", "inspect run --probes=--", "check sort --regex=--"])
def test_two_dashes_are_no_value(cli, arguments: str) -> None:
    assert "needs a value" in refused(cli(*arguments.split(" ")))


@pytest.mark.parametrize("option", ["weight-decay", "clip", "rate"])
@pytest.mark.parametrize("value", ["inf", "nan", HUGE])
def test_settings_of_training_are_numbers(cli, option: str, value: str) -> None:
    refused(cli("train", "sort", f"--{option}={value}"))


@pytest.mark.parametrize("command", ["particles", "particles --noise 0.1", "particles phases --betas 2 --starts 1"])
def test_tokens_whose_pairs_take_too_long(cli, command: str) -> None:
    assert "--yes" in refused(cli(*command.split(" "), "--n", "100000", "--d", "2", "--frames", "3", "--time", "1"))


def test_a_matrix_that_no_machine_holds(cli) -> None:
    assert "--yes" in refused(cli("particles", "--d", "1000000", "--frames", "2", "--value", "negative"))


@pytest.mark.parametrize("beta", ["100000", "701", "1e308"])
def test_betas_at_which_tokens_hardly_ever_meet(cli, beta: str) -> None:
    few = ["--n", "3", "--d", "2", "--starts", "1", "--betas", "2", "--frames", "3", "--time", "1"]
    refused(cli("particles", "phases", *few, "--most-beta", beta))
    assert cli("particles", "phases", *few, "--most-beta", "700", "--json").code == 0
