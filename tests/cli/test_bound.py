"""`lengthwise bound`: text of 80 columns, one object, a picture, exit codes, and bad input in one sentence."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from lengthwise.messages import sentence
from processes import PATIENCE, wait_until
from small_runs import trained

QUICK = ["--quantiser", "uniform:levels=16"]


@pytest.fixture(scope="module")
def prose_run(tmp_path_factory) -> Path:
    return trained(tmp_path_factory.mktemp("runs") / "prose")


@pytest.mark.wording
def test_text_fits_80_columns_and_says_every_term(cli, prose_run, tmp_path):
    answer = cli("bound", prose_run, *QUICK, "--held-out", "20", "--quiet")
    assert answer.code == 0 and answer.err == ""
    assert max(map(len, answer.out.splitlines())) <= 80
    told = " ".join(answer.out.split())
    for text in ("chance is 3.4340 nats (ln 31)", "complexity", "variation", "top10 freedman", "vacuous", "plain loss"):
        assert text in told
    titles = (
        "Loss on the data",
        "Fresh documents:",
        "Tokens in the contexts seen:",
        "Measured values:",
        "Message and losses:",
    )
    assert sorted(map(answer.out.index, titles)) == list(map(answer.out.index, titles))  # the result comes first
    folder = Path(answer.out.splitlines()[-1])
    assert sorted(path.name for path in folder.iterdir()) == [
        "bound.json", "losses-00000.npz", "message.bin", "message.json", "request.json"
    ]  # fmt: skip


def test_a_refused_folder_is_one_sentence(cli, prose_run, tmp_path):
    (tmp_path / "taken").write_text("a file")
    answer = cli("bound", prose_run, *QUICK, "--folder", "taken/bound", "--quiet")
    assert answer.code == 2 and answer.err.count("\n") == 1
    assert "cannot write to taken/bound" in answer.err and answer.err.endswith("choose another folder\n")


def test_one_object_and_narration(cli, prose_run):
    answer = cli("bound", prose_run, *QUICK, "--json")
    found = json.loads(answer.out)
    assert found["command"] == "bound" and found["vacuous"] in (True, False)
    assert sum(found["message"]["parts"].values()) == found["message"]["bits"]
    one = found["bounds"][0]
    assert sum(term["value"] for term in one["terms"]) == pytest.approx(one["value"])
    assert answer.err == ""


def test_a_required_bound_that_is_vacuous_is_exit_code_3(cli, prose_run):
    answer = cli("bound", prose_run, "--quantiser", "exact", "--require", "--quiet")
    assert answer.code == 3 and answer.err == "lengthwise: no bound is below chance\n"
    assert sentence("guarantee.vacuous") in answer.out


@pytest.mark.parametrize("ending", ["svg", *(pytest.param(other, marks=pytest.mark.slow) for other in ("png", "html"))])
def test_the_figure(cli, prose_run, tmp_path, ending):
    answer = cli("bound", prose_run, *QUICK, "--figure", f"terms.{ending}")
    assert answer.code == 0 and f"figure in terms.{ending}" in answer.err
    content = (tmp_path / f"terms.{ending}").read_bytes()
    assert content[:4] == b"\x89PNG" if ending == "png" else b"complexity" in content


WRONG = {
    "nowhere": (["nowhere"], "there is no nowhere"),
    "tokens": (["RUN", "--tokens", "5"], "leave out the numbers of tokens"),
    "amount": (["RUN", "--tokens", "many"], "is not a number above 0"),
    "quantiser": (["RUN", "--quantiser", "kmean"], "did you mean 'kmeans'"),
    "figure": (["RUN", "--figure", "terms.gif"], "--figure takes a file that ends in"),
    "data": (["RUN", "--data", "x.jsonl"], "leave out other data"),
    "held-out": (["RUN", "--held-out", "1"], "held-out must be at least 2"),
    "output": (["RUN", "--folder", "RUN"], "holds other files"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_bad_input_is_one_sentence(cli, prose_run, wrong):
    call, sentence = WRONG[wrong]
    answer = cli("bound", *[prose_run if word == "RUN" else word for word in call], "--quiet")
    assert answer.code == 2 and answer.out == "" and sentence in answer.err and answer.err.count("\n") == 1


def test_readout_numbers_is_refused(cli, tiny):
    assert cli("train", "simple_task", *tiny, "--folder", "numbers", "--quiet").code == 0
    answer = cli("bound", "numbers", "--quiet")
    assert answer.code == 2 and "are numbers; a bound of tokens needs answers or tags" in answer.err


COMMAND = """
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from lengthwise.probes.guarantee import bound, source
source.SMALLEST = source.LARGEST = 256
real = bound.losses_on
def held(*given):
    while pathlib.Path("part/losses-00001.npz").exists() and not pathlib.Path("go").exists():
        time.sleep(0.02)
    return real(*given)
bound.losses_on = held
from lengthwise.cli import main
sys.exit(main())
"""


@pytest.mark.system
@pytest.mark.parametrize("how", [signal.SIGINT, pytest.param(signal.SIGKILL, marks=pytest.mark.slow)])
def test_stopped_or_killed_it_goes_on(cli, prose_run, how):
    call = ["bound", str(prose_run), *QUICK, "--folder", "part", "--quiet"]
    process = subprocess.Popen([sys.executable, "-c", COMMAND, *call], stderr=subprocess.PIPE, text=True)
    try:
        wait_until(lambda: process.poll() is not None or Path("part/losses-00001.npz").exists())
        process.send_signal(how)
        Path("go").touch()
        _, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert not Path("part/bound.json").exists()
    if how == signal.SIGINT:
        assert process.returncode == 130 and err.count("\n") == 1 and "run the same command again" in err
    from lengthwise.probes.guarantee import source

    kept = Path("part/losses-00000.npz").stat().st_mtime_ns
    usual = source.SMALLEST, source.LARGEST
    try:
        source.SMALLEST = source.LARGEST = 256
        resumed, whole = (
            cli("bound", prose_run, *QUICK, "--folder", name, "--json", "--quiet") for name in ("part", "whole")
        )
    finally:
        source.SMALLEST, source.LARGEST = usual
    assert resumed.code == whole.code == 0
    assert resumed.out.replace('"part"', '"whole"') == whole.out
    assert Path("part/losses-00000.npz").stat().st_mtime_ns == kept
