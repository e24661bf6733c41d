"""`lengthwise measure` of a language model: which probe, which sizes, what is written, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import fake_completions
from lengthwise.subjects import open as opening

HERE = Path(fake_completions.__file__).parent


@pytest.fixture
def model(monkeypatch) -> fake_completions.FakeCompletions:
    """What `openai:…` opens here: a model that sorts."""
    completions = fake_completions.FakeCompletions(fake_completions.sorts)
    monkeypatch.setattr(opening, "open_endpoint", lambda spec: fake_completions.FakeSubject(completions))
    return completions


SUBJECT = "openai:http://127.0.0.1:1/v1,model=parrot"


def objects(answer) -> list[dict]:
    assert answer.code == 0, answer.err
    return json.loads(answer.out)["records"]


def test_a_subject_without_symbols_is_asked_by_prompt(cli, model):
    answer = cli("measure", SUBJECT, "--task", "sort", "--sizes", "2-16", "--items", 3)
    assert answer.code == 0 and len(model.asked) == 12
    assert max(map(len, answer.out.splitlines())) <= 80
    assert "by prompt" in answer.out and "measured/parrot/sort-" in answer.out


def test_the_task_may_stand_without_an_option_and_there_may_be_several(cli, model):
    call = ("measure", SUBJECT, "sort", "--task", "copy_unique", "--sizes", "2,4", "--items", 3, "--json")
    records = objects(cli(*call))
    assert [record["data"]["task"] for record in records[:2]] == ["sort", "copy_unique"]
    assert [record["source"] for record in records] == ["prompted", "prompted", "prompted_tasks"]
    assert [row[:3] for row in records[2]["tables"][0]["rows"]] == [["sort", 4, 4], ["copy_unique", 0, 0]]
    assert len(model.asked) == 12
    assert len(list(Path("measured/parrot").iterdir())) == 2


def test_options_are_the_settings_of_the_probe(cli, model):
    Path("mine.txt").write_text("{instruction}\n\nQ: {input}\nA: {answer}\n")
    call = ("--shots", 1, "--plain", "--template", "mine.txt", "--budget", 9, "--reasoning", 4, "--folder", "here")
    records = objects(cli("measure", SUBJECT, "sort", "--sizes", "2", "--items", 2, *call, "--json"))
    settings = {"shots": 1, "chat": "plain", "budget": 9, "reasoning": 4, "rendering": "mine.txt", "folder": "here"}
    assert records[0]["settings"] == settings and Path(records[0]["data"]["folder"]).parts[0] == "here"
    assert model.calls == [{"chat": False, "budget": 9, "reasoning": 4, "stop": ("\nQ:",)}]


def test_without_sizes_they_double_up_to_the_test_size(cli, model):
    records = objects(cli("measure", SUBJECT, "sort", "--test-size", 8, "--items", 1, "--json"))
    assert [row[0] for row in records[0]["tables"][0]["rows"]] == [1, 2, 4, 8]


def test_the_same_command_resumes(cli, model):
    call = ("measure", SUBJECT, "sort", "--sizes", "2-8", "--items", 4, "--json")
    assert objects(cli(*call)) == objects(cli(*call)) and len(model.asked) == 12


def test_ctrl_c_has_its_exit_code(cli, model):
    def reply(question: str) -> str:
        if len(model.asked) > 5:
            raise KeyboardInterrupt
        return fake_completions.sorts(question)

    model.reply = reply
    answer = cli("measure", SUBJECT, "sort", "--sizes", "2-8", "--items", 4)
    assert answer.code == 130 and "5 of 12" in answer.err and not answer.out


def test_a_dry_run_asks_a_trial_and_keeps_nothing(cli, model):
    records = objects(cli("measure", SUBJECT, "sort", "--sizes", "2-8", "--dry-run", "--price", "1,2", "--json"))
    assert records[0]["data"]["price"] > 0 and not Path("measured").exists() and len(model.asked) == 9
    answer = cli("measure", SUBJECT, "sort", "--sizes", "2-8", "--dry-run")
    assert answer.code == 0 and "300 items" in answer.out


def test_a_page_and_a_figure(cli, model):
    call = ("measure", SUBJECT, "sort", "--task", "needle", "--sizes", "2,4", "--items", 9)
    said = fake_completions.Completion("", "refused", None, None, said="<blink>")
    model.reply = lambda question: said if len(model.asked) == 1 else "7 8"
    answer = cli(*call, "--page", "it.html", "--figure", "it.svg")
    assert answer.code == 0, answer.err
    page = Path("it.html").read_text()
    assert (
        "Of 2 tasks" in page
        and "prompted.heat" in page
        and "prompted.tasks" in page
        and "<blink>" not in page
        and "blink" in page
    )
    assert Path("it.svg").read_text().startswith("<svg")


def test_answers_are_untrusted_text(cli, model):
    """What a server says is shown with its control characters written out."""
    said = fake_completions.Completion("", "refused", None, None, said="\x1b[2Jno")
    model.reply = lambda question: said
    answer = cli("measure", SUBJECT, "sort", "--sizes", "2", "--items", 2)
    assert answer.code == 0 and "\x1b" not in answer.out and "\\x1b[2Jno" in answer.out


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (["sort", "--chat", "--plain"], ["--chat", "--plain"]),
        (["sort", "--export", "csv", "x.eval"], ["--export", "csv"]),
        (["sort", "--export", "eval", "x.json"], [".eval"]),
        (["sort", "--task", "addition", "--sizes", "2,4"], ["addition: ", "no items of size 2"]),
        (["sort", "--price", "1"], ["--price", "0.15,0.6"]),
        (["sort", "--sizes", "70-90"], ["sort", "70 to 90"]),
        (["sort", "--sizes", "9-"], ["--sizes", "9-"]),
        (["sort", "--template", "no.txt"], ["no.txt"]),
        (["prose", "--sizes", "20"], ["language model"]),
        (["sort", "--task", "prose", "--sizes", "20"], ["language model"]),
        ([], ["say which task"]),
        (["sort", "--probe", "curve"], ["answers"]),
        (["sort", "--probe", "curve", "--shots", "2"], ["--shots", "--probe prompted"]),
        (["sort", "--position", "rope"], ["--position"]),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_before_anything_is_asked(cli, model, call, words):
    answer = cli("measure", SUBJECT, *call)
    assert answer.code == 2 and answer.err.count("\n") == 1 and not answer.out and not model.asked
    assert all(word in answer.err for word in words), answer.err


def test_a_run_is_not_asked_by_prompt(cli, sorting_run):
    answer = cli("measure", sorting_run, "--shots", 2)
    assert answer.code == 2 and "--shots" in answer.err
    answer = cli("measure", sorting_run, "--probe", "prompted")
    assert answer.code == 2 and "completions" in answer.err


def test_ranges_and_several_tasks_of_a_run(cli, sorting_run):
    call = ("measure", sorting_run, "--task", "sort", "--task", "sort", "--sizes", "2-4,6", "--items", 2, "--json")
    records = objects(cli(*call))
    for record in records:
        points = next(table for table in record["tables"] if table["key"] == "curve.points")
        assert [row[0] for row in points["rows"]] == [2, 3, 4, 6]
    assert len(records) == 2


# --- the log of inspect_ai ------------------------------------------------------------------------------------------


def test_a_log_has_every_item_of_the_measurement_and_is_replaced(cli, model):
    import zipfile

    for items in (3, 2):  # the second time fewer than are kept
        call = ("measure", SUBJECT, "sort", "--sizes", "2,4", "--items", items, "--export", "eval", "log.eval")
        assert cli(*call).code == 0
        with zipfile.ZipFile("log.eval") as file:
            header, summaries = json.loads(file.read("header.json")), json.loads(file.read("summaries.json"))
        assert header["results"]["scores"][0]["metrics"]["accuracy"]["value"] == 1
        assert len(summaries) == header["eval"]["dataset"]["samples"] == 2 * items


@pytest.mark.system
def test_inspect_ai_reads_the_log(cli, model):
    import inspect_ai.log as log

    cuts = fake_completions.Completion("1", "length", 5, 5, reasoning="hm")
    model.reply = lambda question: cuts if len(model.asked) % 4 == 0 else fake_completions.sorts(question)
    call = ("measure", SUBJECT, "sort", "--task", "copy_unique", "--sizes", "2,4", "--items", 10)
    assert cli(*call, "--export", "eval", "log.eval").code == 0
    files = sorted(Path().glob("log-*.eval"))
    assert len(files) == 2
    read = log.read_eval_log(str(files[1]))
    assert (read.status, read.eval.task, read.eval.model) == ("success", "sort", "lengthwise/parrot")
    assert len(read.samples) == 20
    values = [sample.scores["lenient"].value for sample in read.samples]
    assert (values.count("C"), values.count("N")) == (15, 5)
    first = read.samples[0]
    assert first.messages[0].role == "system" and first.messages[-1].text == first.output.completion
    assert {sample.output.stop_reason for sample in read.samples} == {"stop", "max_tokens"}
    assert len(log.read_eval_log_sample_summaries(str(files[1]))) == 20
