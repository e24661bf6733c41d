"""Bad input: one sentence on stderr that says what would be right, exit code 2, no traceback, and nothing lost."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from lengthwise.cli import COMMANDS


def refused(answer, *parts: str) -> str:
    """The sentence, after checking that it is alone and holds these parts."""
    assert answer.code == 2, answer
    assert answer.out == ""
    assert answer.err.startswith("lengthwise: ") and answer.err.count("\n") == 1 and answer.err.endswith("\n")
    for part in parts:
        assert part in answer.err
    assert "Traceback" not in answer.err and len(answer.err) < 400
    return answer.err


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# What is wrong in the options of `lengthwise train`, and what the sentence must hold: the fault, and what is right.
TRAIN = {
    "no task": ([], ["lengthwise tasks", "--regex", "--data"]),
    "unknown task": (["srt"], ["'srt'", "did you mean 'sort'"]),
    "empty task": ([""], ["TASK is empty"]),
    "two tasks": (["sort", "--regex", "(ab)*"], ["given twice", "TASK", "--regex"]),
    "two own tasks": (["--regex", "(ab)*", "--data", "x.jsonl"], ["given twice", "--regex", "--data"]),
    "two names": (["sort", "parity"], ["'parity'", "one argument too many"]),
    "unknown encoding": (["sort", "--position", "lerned"], ["'lerned'", "did you mean 'learned'"]),
    "unknown wrapper": (["sort", "--position", "learned+ofset"], ["'ofset'", "did you mean 'offset'"]),
    "unknown attention": (["sort", "--attention", "softmx"], ["'softmx'", "did you mean 'softmax'"]),
    "unknown schedule": (["sort", "--sizes", "unifrm"], ["'unifrm'", "did you mean 'uniform'"]),
    "unknown decay": (["sort", "--decay", "lin"], ["'lin'", "linear, cosine, constant"]),
    "unknown setting": (["sort:alphabt=3"], ["'alphabt'", "did you mean 'alphabet'"]),
    "unknown setting of an encoding": (["sort", "--position", "rope:bass=3"], ["'bass'", "did you mean 'base'"]),
    "setting of the wrong type": (["sort:alphabet=x"], ["alphabet takes a whole number, not 'x'"]),
    "setting without a key": (["sort:40"], ["key=value"]),
    "width and heads": (["sort", "--width", "10", "--heads", "3"], ["width 10", "3 heads", "9 or 12"]),
    "no depth": (["sort", "--depth", "0"], ["depth must be at least 1, not 0"]),
    "train size 0": (["sort", "--train-size", "0"], ["--train-size must be at least 1, not 0"]),
    "train size -3": (["sort", "--train-size", "-3"], ["--train-size must be at least 1, not -3"]),
    "test size 0": (["sort", "--test-size", "0"], ["--test-size must be at least 1, not 0"]),
    "test below train": (["sort", "--train-size", "20", "--test-size", "10"], ["10 is below the training size 20"]),
    "test beyond the alphabet": (["sort", "--test-size", "65"], ["ends at size 64", "test size 65", "alphabet="]),
    "test beyond a finite language": (["--regex", "(a|b){1,5}"], ["ends at size 5", "test size 6"]),
    "items 0": (["sort", "--items", "0"], ["--items must be at least 1, not 0"]),
    "not a whole number": (["sort", "--items", "many"], ["--items: 'many' is not a whole number"]),
    "not a number": (["sort", "--rate", "fast"], ["--rate: 'fast' is not a number"]),
    "no value": (["sort", "--items"], ["--items needs a value"]),
    "seeds 0": (["sort", "--seeds", "0"], ["--seeds must be at least 1, not 0"]),
    "steps 0": (["sort", "--steps", "0"], ["steps must be at least 1, not 0"]),
    "rate -1": (["sort", "--rate", "-1"], ["rate must be above 0, not -1"]),
    "rate nan": (["sort", "--rate", "nan"], ["rate must be above 0, not nan"]),
    "clip -1": (["sort", "--clip", "-1"], ["clip must be above 0", "-1"]),
    "weight decay -1": (["sort", "--weight-decay", "-1"], ["weight_decay", "-1"]),
    "warm-up 2": (["sort", "--warmup", "2"], ["warmup", "[0, 1)", "2"]),
    "stop at 3": (["sort", "--stop-at", "3"], ["stop_at", "(0, 1]", "3"]),
    "threads 0": (["sort", "--threads", "0"], ["--threads must be at least 1, not 0"]),
    "keep 2": (["sort", "--seeds", "2", "--keep", "2"], ["[0, 1]", "not 2"]),
    "keep of one seed": (["sort", "--keep", "0.5"], ["--keep", "--seeds 2"]),
    "both kinds of model": (["sort", "--encoder", "--decoder"], ["--decoder excludes --encoder"]),
    "broken regex": (["--regex", "(ab"], ["column 1", "never closed"]),
    "broken regex later on": (["--regex", "ab(c|*)"], ["column 6"]),
    "empty language": (["--regex", "a[]"], ["no word at all"]),
    "only the empty word": (["--regex", "()"], ["names no letter"]),
    "empty regex": (["--regex", ""], ["--regex is empty"]),
    "member of nothing": (["sort", "--member"], ["--member goes with --regex or --dfa"]),
    "member without a task": (["--member"], ["--member goes with --regex or --dfa"]),
    "axis without at": (["dyck_k", "--axis", "depth"], ["--axis and --at go together"]),
    "at without axis": (["dyck_k", "--at", "4"], ["--axis and --at go together"]),
    "axis without a task": (["--axis", "depth", "--at", "4"], ["--axis goes with a task"]),
    "unknown axis": (["dyck_k", "--axis", "dept", "--at", "4"], ["'dept'", "did you mean 'depth'"]),
    "missing data": (["--data", "no.jsonl"], ["no.jsonl", "No such file"]),
    "missing automaton": (["--dfa", "no.json"], ["no.json", "No such file"]),
    "missing Python file": (["no.py::Task"], ["no.py", "No such file"]),
    "column of no data": (["sort", "--size-column", "n"], ["--size-column goes with --data"]),
    "unknown size rule": (
        ["--data", "no.jsonl", "--size-rule", "length"],
        ['"input length" or "answer length"', "'length'"],
    ),
    "two size rules": (
        ["--data", "no.jsonl", "--size-rule", "answer length", "--size-column", "n"],
        ["exclude each other"],
    ),
    "unknown ending": (["sort", "--figure", "curve.txt"], ["curve.txt", ".svg, .png or .html"]),
    "figure in no folder": (["sort", "--figure", "no/curve.svg"], ["no/curve.svg", "a folder that exists"]),
    "unknown option": (["sort", "--stepps", "3"], ["no option --stepps", "did you mean --steps?"]),
    "shortened option": (["sort", "--step", "3"], ["no option --step;", "did you mean --steps?"]),
    "strange option": (["sort", "--colour"], ["no option --colour; `lengthwise train --help`"]),
}


@pytest.mark.parametrize("name", TRAIN)
def test_bad_options_of_train(cli, tiny, tmp_path, name):
    wrong, parts = TRAIN[name]
    refused(cli("train", *tiny, *wrong), *parts)
    assert files(tmp_path) == {}, "something was written before the mistake was told"


@pytest.mark.parametrize("name", TRAIN)
def test_a_sentence_names_only_commands_that_exist(cli, tiny, name):
    sentence = cli("train", *tiny, *TRAIN[name][0]).err
    assert set(re.findall(r"`lengthwise (\w+)", sentence)) <= set(COMMANDS)


# The same of the other commands. RUN stands for the folder of a finished run, LEARNED for one with a learned table.
OTHERS = {
    "unknown command": (["trian"], ["'trian'", "did you mean 'train'"]),
    "unknown command like nothing": (["xyzzy"], ["'xyzzy'", "`lengthwise --help`"]),
    "option before the command": (["--json", "tasks"], ["a command comes before options"]),
    "no subject": (["measure"], ["the folder of a run", "GGUF"]),
    "no folder": (["measure", "nowhere"], ["there is no nowhere", "the folder of a run"]),
    "a folder that is no run": (["measure", "."], [". is not a model", "the folder of a run"]),
    "measure items 0": (["measure", "RUN", "--items", "0"], ["--items must be at least 1, not 0"]),
    "measure size 0": (["measure", "RUN", "--test-size", "0"], ["--test-size must be at least 1, not 0"]),
    "measure size -4": (["measure", "RUN", "--test-size", "-4"], ["--test-size must be at least 1, not -4"]),
    "measure beyond the alphabet": (["measure", "RUN", "--test-size", "500"], ["ends at size 64", "test size 500"]),
    "measure beyond the table": (["measure", "LEARNED", "--test-size", "20"], ["learned table", "up to size 6"]),
    "measure another task": (["measure", "RUN", "parity"], ["symbols", "the task it was trained on"]),
    "measure unknown task": (["measure", "RUN", "srt"], ["'srt'", "did you mean 'sort'"]),
    "measure unknown encoding": (["measure", "RUN", "--position", "rop"], ["'rop'", "did you mean 'rope'"]),
    "measure with other parameters": (["measure", "RUN", "--position", "learned"], ["'learned'", "same parameters"]),
    "measure figure.txt": (["measure", "RUN", "--figure", "x.txt"], ["x.txt", ".svg, .png or .html"]),
    "measure figure in no folder": (["measure", "RUN", "--figure", "no/x.svg"], ["no/x.svg", "a folder that exists"]),
    "measure two arguments too many": (["measure", "RUN", "sort", "parity"], ["'parity'", "too many"]),
    "show unknown task": (["tasks", "srt"], ["'srt'", "did you mean 'sort'"]),
    "show without a task": (["tasks", "--show", "3"], ["go with a task"]),
    "show -1": (["tasks", "sort", "--show", "-1"], ["--show must be at least 0, not -1"]),
    "show 1.5": (["tasks", "sort", "--show", "1.5"], ["'1.5' is not a whole number"]),
    "size 0": (["tasks", "sort", "--size", "0"], ["no items of size 0", "begin 1, 2"]),
    "size beyond": (["tasks", "sort", "--size", "151"], ["no items of size 151"]),
    "setting needed": (["tasks", "jsonl"], ["needs path", "jsonl:path="]),
    "show unknown encoding": (["positions", "rop"], ["'rop'", "did you mean 'rope'"]),
    "show unknown rule": (["attentions", "ssmx"], ["'ssmx'", "did you mean 'ssmax'"]),
    "show no distances": (["positions", "rope", "--show", "0"], ["--show must be at least 1, not 0"]),
    "trained 1": (["positions", "rope", "--trained", "1"], ["--trained must be at least 2, not 1"]),
    "trained too long": (["positions", "rope", "--trained", "1000000000"], ["at most 1,000,000"]),
    "doctor with a task": (["doctor", "sort"], ["'sort'", "too many"]),
}


@pytest.mark.parametrize("name", OTHERS)
def test_bad_options_of_other_commands(cli, sorting_run, learned_run, tmp_path, name):
    words, parts = OTHERS[name]
    places = {"RUN": sorting_run, "LEARNED": learned_run}
    before = {place: files(place) for place in places.values()}
    refused(cli(*(places.get(word, word) for word in words)), *parts)
    assert files(tmp_path) == {} and before == {place: files(place) for place in places.values()}


def test_a_figure_below_a_file_is_refused_before_training(cli, tiny, tmp_path):
    (tmp_path / "file").write_text("mine")
    refused(cli("train", "sort", *tiny, "--figure", "file/curve.svg"), "file/curve.svg")
    assert files(tmp_path) == {"file": b"mine"}


@pytest.mark.parametrize("folder", ["file", "file/run"])
def test_a_folder_that_cannot_be_made(cli, tiny, tmp_path, folder):
    (tmp_path / "file").write_text("mine")
    refused(cli("train", "sort", *tiny, "--folder", folder), folder, "another folder")
    assert files(tmp_path) == {"file": b"mine"}


def test_a_folder_with_another_run(cli, tiny, sorting_run):
    before = files(sorting_run)
    refused(cli("train", "sort", *tiny, "--steps", "6", "--folder", sorting_run), "another run", "another folder")
    assert files(sorting_run) == before


def test_an_automaton_without_a_transition(cli, tiny, tmp_path):
    dfa = {"alphabet": ["a", "b"], "start": "p", "accepting": ["p"], "transitions": {"p": {"a": "p"}}}
    (tmp_path / "dfa.json").write_text(json.dumps(dfa))
    refused(cli("train", "--dfa", "dfa.json", *tiny), "dfa.json", "'p'", "'b'")


@pytest.mark.parametrize("line, part", [('{"input": 1 2', "line 2"), ('{"input": "1 2"}', "line 2"), ("3", "line 2")])
def test_a_bad_line_of_data_is_named(cli, tiny, tmp_path, line, part):
    (tmp_path / "items.jsonl").write_text('{"input": "1 2", "answer": "2"}\n' + line + "\n")
    refused(cli("train", "--data", "items.jsonl", *tiny), "items.jsonl", part)


@pytest.mark.parametrize("text, part", [("def (:", "line 1"), ("x = 1", "no subclass"), ("\n1 / 0", "line 2")])
def test_a_python_file_that_fails_is_named(cli, tmp_path, text, part):
    (tmp_path / "mine.py").write_text(text)
    refused(cli("tasks", "mine.py"), "mine.py", part)


def broken(run: Path, folder: Path, name: str, content: bytes | None) -> Path:
    """A copy of a run in which a file has another content, or is missing."""
    shutil.copytree(run, folder)
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize("kept", [0, 7, 500, -1])
def test_truncated_weights(cli, sorting_run, kept):
    weights = (sorting_run / "model.safetensors").read_bytes()[:kept]
    run = broken(sorting_run, Path("broken"), "model.safetensors", weights)
    refused(cli("measure", run), "broken/model.safetensors", "is not the file that was saved")


def test_tampered_weights(cli, sorting_run):
    weights = bytearray((sorting_run / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    run = broken(sorting_run, Path("broken"), "model.safetensors", bytes(weights))
    refused(cli("measure", run), "broken/model.safetensors", "is not the file that was saved")


@pytest.mark.parametrize("content", [b"", b'{"plan": ', b"[]", b"3", b"{}", b'{"plan": 3}', b"\xff\xfe\x00", None])
@pytest.mark.parametrize("name", ["run.json", "records/curve.json", "config.json"])
def test_broken_records(cli, sorting_run, name, content):
    run = broken(sorting_run, Path("broken"), name, content)
    refused(cli("measure", run))


@pytest.mark.parametrize("content", [b'{"plan": ', b"[]", b"{}", b"3", b'{"plan": 3}'])
def test_training_into_a_folder_with_a_broken_record(cli, sorting_run, tiny, content):
    run = broken(sorting_run, Path("broken"), "run.json", content)
    refused(cli("train", "sort", *tiny, "--folder", run), "broken")
    assert (run / "run.json").read_bytes() == content


def test_a_mistake_has_exit_code_2_and_no_traceback_in_a_process_of_its_own(shell):
    refused(shell("tasks", "srt"), "did you mean 'sort'")
    refused(shell("train", "sort", "--stepps", "3"), "did you mean --steps?")
