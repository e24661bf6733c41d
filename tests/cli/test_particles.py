"""`lengthwise particles`: text of 80 columns, one object, files that are whole, and bad input in one sentence."""

import json
import signal
import subprocess
import sys

import numpy as np
import pytest
import torch

from lengthwise.cli import main
from lengthwise.cli.commands import particles
from lengthwise.errors import UsageError
from lengthwise.geometry.particles.integrate import simulate
from lengthwise.geometry.particles.starts import uniform
from lengthwise.geometry.particles.system import System
from processes import PATIENCE

QUICK = ["particles", "--n", "6", "--frames", "5", "--time", "4", "--tolerance", "1e-6"]


@pytest.mark.wording
def test_text_fits_80_columns(cli):
    answer = cli(*QUICK, "--quiet")
    assert answer.code == 0 and answer.err == ""
    assert max(map(len, answer.out.splitlines())) <= 80
    assert answer.out.startswith("6 tokens in 3 dimensions, SA, β = 9\n")
    for title in ("What theory predicts for this start", "What the simulation did"):
        assert f"\n{title}\n" in answer.out
    words = " ".join(answer.out.split())
    assert "one cluster in the end" in words and "the energy never falls: True (measured)" in words
    assert "estimated error of a point" in words and "geshkovski2023" in words


def test_one_object(cli):
    answer = cli(*QUICK, "--json", "--seed", "3")
    found = json.loads(answer.out)
    assert found["command"] == "particles" and found["files"] == {} and "seed 3" in found["facts"]["start"]
    assert found["moments"]["time"] == [0, 1, 2, 3, 4] and len(found["moments"]["N_beta"]) == 5
    assert found["error"] < 1e-3 and found["steps"] > 0
    assert {claim["kind"] for claim in found["theory"]} >= {"proved"}
    assert "measured" in {claim["kind"] for claim in found["measured"]}
    assert answer.err.splitlines() == [f"simulated to t = 4 in {found['steps']} steps"]


def test_the_same_seed_gives_the_same_points(cli):
    outs = [cli(*QUICK, "--json", "--quiet", "--seed", seed).out for seed in (1, 1, 2)]
    assert outs[0] == outs[1] != outs[2]


def test_an_orthogonal_start_follows_gamma(cli):
    found = json.loads(cli("particles", "--n", "8", "--d", "8", "--beta", "1", "--start", "orthogonal", "--time", "4",
                           "--frames", "9", "--json", "--quiet").out)  # fmt: skip
    # N_1 = n / (1 + (n - 1) e^(gamma - 1)) with gamma(1) = .362587 and gamma(4) = .995902
    for moment, gamma in ((2, 0.362587), (8, 0.995902)):
        assert found["moments"]["time"][moment] in (1, 4)
        assert found["moments"]["N_beta"][moment] == pytest.approx(8 / (1 + 7 * np.exp(gamma - 1)), abs=1e-5)
    assert any(c["key"] == "particles.common_angle.simulated" and c["status"] == "holds"
               for c in found["measured"])  # fmt: skip


def test_repelling_tokens_do_not_gather(cli):
    found = json.loads(cli(*QUICK, "--beta", "1", "--value", "negative", "--json", "--quiet").out)
    assert found["moments"]["N_20"][-1] > found["moments"]["N_20"][0]
    assert not any(claim["key"] == "simulation.energy_rises" for claim in found["measured"])


def test_query_and_key_are_those_of_the_scores(cli):
    """Scores are beta <Qx, Ky>: the command gives the points of the simulation with the same matrices."""
    drawn = {name: np.random.default_rng(seed).normal(size=(3, 3)) for seed, name in enumerate(("query", "key"))}
    for name, matrix in drawn.items():
        np.save(f"{name}.npy", matrix)
    both = ["--query", "query.npy", "--key", "key.npy"]
    answer = cli(*QUICK, *both, "--out", "both.npz", "--json", "--quiet")
    found = json.loads(answer.out)
    assert found["facts"]["query"] == "`query.npy`" and found["facts"]["key"] == "`key.npy`"
    assert found["facts"]["value"].startswith("V = I")
    assert not any(claim["key"] == "simulation.energy_rises" for claim in found["measured"]), (
        "the energy is that of Q = K = I"
    )
    assert any(each["key"] == "particles.plain_scores" and each["check"] == "violated"
               for claim in found["theory"] for each in claim["assumptions"])  # fmt: skip
    query, key = (torch.from_numpy(matrix) for matrix in drawn.values())
    same = simulate(System("SA", 9.0, query, key), uniform(6, 3, 0), [0.0, 4.0], 1e-6)
    with np.load("both.npz") as data:
        assert np.allclose(data["points"][-1], same.final, atol=1e-4)
    cli(*QUICK, "--query", "key.npy", "--key", "query.npy", "--out", "swapped.npz", "--quiet")
    with np.load("swapped.npz") as data:
        assert not np.allclose(data["points"][-1], same.final, atol=1e-2)


def test_only_the_product_of_query_and_key_counts(cli):
    plain, turned = (json.loads(cli(*QUICK, *more, "--json", "--quiet").out)
                     for more in ([], ["--query", "negative", "--key", "negative"]))  # fmt: skip
    assert turned["facts"]["query"] == "Q = −I" and "query" not in plain["facts"]
    assert turned["moments"]["N_20"] == pytest.approx(plain["moments"]["N_20"], rel=1e-9)


def test_random_matrices_are_drawn_apart(cli):
    chosen = [cli(*QUICK, f"--{name}", "random", "--json", "--quiet").out for name in ("query", "key", "value")]
    assert len({json.dumps(json.loads(out)["moments"]) for out in chosen}) == 3


def test_files_are_written(cli, tmp_path):
    pytest.importorskip("PIL")
    files = ["--page", "a.html", "--gif", "a.gif", "--out", "a.npz"]
    answer = cli(*QUICK, *files, "--json")
    assert answer.code == 0 and json.loads(answer.out)["files"] == {"page": "a.html", "gif": "a.gif", "out": "a.npz"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.gif", "a.html", "a.npz"]
    with np.load("a.npz") as found:
        assert found["points"].shape == (5, 6, 3) and np.allclose(np.linalg.norm(found["points"], axis=2), 1)
    assert "6 tokens in 3 dimensions" in (tmp_path / "a.html").read_text()


def test_points_as_csv_begin_again_as_a_start(cli, tmp_path):
    assert cli(*QUICK, "--out", "a.csv", "--quiet").code == 0
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert rows[0] == "time,token,group,x1,x2,x3" and len(rows) == 1 + 5 * 6
    first = np.loadtxt("a.csv", delimiter=",", skiprows=1)
    np.savetxt("start.csv", first[:6, 3:], delimiter=",")
    assert cli(*QUICK, "--start", "start.csv", "--out", "b.csv", "--quiet").code == 0
    second = np.loadtxt("b.csv", delimiter=",", skiprows=1)
    assert np.allclose(first, second, atol=1e-6)


@pytest.mark.parametrize("ending", [".npy", ".csv", ".jsonl"])
def test_points_of_other_lengths_are_normalised_with_a_warning(cli, tmp_path, ending):
    points = np.array([[3.0, 4.0], [0.0, 1.0], [-2.0, 0.0]])
    path = tmp_path / f"start{ending}"
    if ending == ".npy":
        np.save(path, points)
    elif ending == ".csv":
        np.savetxt(path, points, delimiter=",")
    else:
        path.write_text("\n".join(map(json.dumps, points.tolist())) + "\n")
    quick = ["particles", "--frames", "2", "--time", "1", "--out", "a.npz"]
    answer = cli(*quick, "--start", path.name)
    assert answer.code == 0 and "warning: 2 of 3 tokens" in answer.err and "3 tokens in 2 dimensions" in answer.out
    with np.load("a.npz") as found:
        assert np.allclose(found["points"][0], [[0.6, 0.8], [0, 1], [-1, 0]])


WRONG = {
    "d 1": (["--d", "1"], "--d must be at least 2"),
    "n 0": (["--n", "0"], "--n must be at least 1"),
    "beta": (["--beta", "-1"], "--value negative"),
    "beta nan": (["--beta", "nan"], "--beta must be a number of at least 0"),
    "time": (["--time", "0"], "--time must be a number above 0"),
    "time infinite": (["--time", "inf"], "--time must be a number above 0"),
    "frames": (["--frames", "1"], "--frames must be at least 2"),
    "too much": (["--n", "100000", "--d", "1000"], "take fewer --frames"),
    "tolerance": (["--tolerance", "0"], "--tolerance must be above 0"),
    "dynamics": (["--dynamics", "softmax"], "sa, usa or kuramoto"),
    "start": (["--start", "unifrm"], "--start must be uniform"),
    "orthogonal": (["--start", "orthogonal"], "give --d 64 or more"),
    "caps": (["--caps", "3"], "--caps goes with --start caps"),
    "many caps": (["--start", "caps", "--caps", "9"], "caps"),
    "no file": (["--start", "no.npy"], "no.npy cannot be read"),
    "text": (["--start", "text.csv"], "not a table of numbers"),
    "lines": (["--start", "text.jsonl"], "not a table of numbers"),
    "pickle": (["--start", "object.npy"], "not a table of numbers"),
    "header": (["--start", "header.npy"], "not a table of numbers"),
    "zero": (["--start", "zero.csv"], "row 2 of zero.csv has length 0"),
    "not finite": (["--start", "nan.csv"], "row 1 of nan.csv holds a number that is not finite"),
    "other n": (["--start", "two.csv", "--n", "3"], "holds 2 tokens in 2 dimensions, not --n 3"),
    "line": (["--start", "line.csv"], "1 dimension"),
    "value": (["--value", "minus"], "--value must be identity"),
    "value shape": (["--value", "two.csv"], "is 2 x 2, and must be 3 x 3"),
    "query": (["--query", "minus"], "--query must be identity"),
    "query shape": (["--query", "two.csv"], "the query matrix in two.csv is 2 x 2, and must be 3 x 3"),
    "key shape": (["--key", "two.csv"], "the key matrix in two.csv is 2 x 2, and must be 3 x 3"),
    "no key": (["--key", "no.npy"], "no.npy cannot be read"),
    "page": (["--page", "no/page.html"], "a folder that exists"),
    "page ending": (["--page", "page.pdf"], "ends in .html"),
    "gif": (["--gif", "no/a.gif"], "a folder that exists"),
    "data": (["--out", "a.txt"], "ends in .npz or .csv"),
    "usa": (["--dynamics", "usa", "--beta", "1000"], "smaller beta"),
}


@pytest.mark.parametrize("name", WRONG)
def test_bad_input_is_one_sentence(cli, tmp_path, name):
    (tmp_path / "text.csv").write_text("a,b\nc,d\n")
    (tmp_path / "text.jsonl").write_text("[1, 2]\n[1]\n")
    np.save(tmp_path / "object.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.save(tmp_path / "header.npy", np.eye(2))
    header = (tmp_path / "header.npy").read_bytes()
    (tmp_path / "header.npy").write_bytes(header.replace(b"}", b"{", 1))  # NumPy reads it as Python without an end
    (tmp_path / "zero.csv").write_text("1,0\n0,0\n")
    (tmp_path / "nan.csv").write_text("nan,0\n1,0\n")
    (tmp_path / "two.csv").write_text("1,0\n0,1\n")
    (tmp_path / "line.csv").write_text("1\n-1\n")
    before = sorted(tmp_path.iterdir())
    call, sentence = WRONG[name]
    answer = cli("particles", *call, "--quiet")
    assert answer.code == 2 and answer.out == "" and answer.err.count("\n") == 1, answer
    assert sentence in answer.err and sorted(tmp_path.iterdir()) == before


SPEEDS = {
    "usa": (["--dynamics", "usa"], True),
    "sa": ([], False),
    "sa of large scores": (["--beta", "100"], False),
    "smaller beta": (["--dynamics", "usa", "--beta", "7"], False),
    "short": (["--dynamics", "usa", "--time", "1"], False),
    "large matrices": (["--dynamics", "usa", "--beta", "1", "--query", "five.csv", "--key", "five.csv"], True),
    "one large, one small": (["--dynamics", "usa", "--beta", "1", "--query", "five.csv", "--key", "fifth.csv"], False),
    "no value": (["--dynamics", "usa", "--value", "nought.csv"], False),
    "beyond numbers": (["--dynamics", "usa", "--beta", "1e5"], True),
}


@pytest.mark.parametrize("name", SPEEDS)
def test_very_many_steps_are_foretold(cli, tmp_path, monkeypatch, name):
    def refused(*_):
        raise UsageError("it would have begun")

    for file, factor in (("five", 5.0), ("fifth", 0.2), ("nought", 0.0)):
        np.savetxt(tmp_path / f"{file}.csv", factor * np.eye(3), delimiter=",")
    monkeypatch.setattr(particles, "_simulated", refused)
    call, is_told = SPEEDS[name]
    lines = cli("particles", *call).err.splitlines()
    assert lines[-1] == "lengthwise: it would have begun" and len(lines) == 1 + is_told
    assert not is_told or lines[0].startswith("warning: USA moves tokens at speeds up to")


def test_places_are_checked_before_the_work(cli, monkeypatch):
    monkeypatch.setattr(particles, "_simulated", lambda *_: pytest.fail("it simulated"))
    assert cli(*QUICK, "--page", "no/page.html").code == 2


@pytest.mark.system
def test_ctrl_c_leaves_nothing(tmp_path):
    code = (
        "import signal, sys\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from lengthwise.geometry.particles import integrate\n"
        "before = integrate.simulate\n"
        "def slow(*given): print('begun', flush=True); return before(*given)\n"
        "integrate.simulate = slow\n"
        "from lengthwise.cli import main\n"
        "sys.exit(main(['particles', '--n', '400', '--time', '1e6', '--page', 'a.html', '--quiet']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        assert process.stdout is not None and process.stdout.readline() == "begun\n"
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 130 and out == "" and err == "lengthwise: stopped; nothing was changed\n"
    assert list(tmp_path.iterdir()) == []


def test_progress_is_for_terminals(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert main([*QUICK, "--json"]) == 0
    told = capsys.readouterr().err
    assert "simulating" in told and "t = " in told
    assert main([*QUICK, "--json", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


PHASES = ["particles", "phases", "--d", "2,3", "--n", "5", "--starts", "2", "--betas", "3", "--frames", "4"]


def test_the_phase_diagram(cli, tmp_path):
    answer = cli(*PHASES, "--time", "9", "--figure", "a.svg", "--out", "a.csv")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    assert "d = 2: share of pairs in one place" in answer.out and "d = 3" in answer.out
    assert "d = 3 (below n): " in " ".join(answer.out.split())
    picture = (tmp_path / "a.svg").read_text()
    assert "d = 3" in picture and "β" in picture and "share of pairs" in picture
    rows = (tmp_path / "a.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 3 * 4 and rows[0].startswith("d,beta,time,share_pairs")


def test_the_phase_diagram_as_an_object(cli):
    found = json.loads(cli(*PHASES, "--time", "9", "--json", "--quiet").out)
    claims = found["claims"]
    assert len(claims) == 3 and {claim["kind"] for claim in claims} == {"measured"}
    assert claims[0]["status"] == "unknown" and claims[1]["evidence"]["d_at_least_n"] is False  # 2 and 3 are below 5
    assert len(found["rows"]) == 24 and len(found["line"]) == 17
    times = [row["time"] for row in found["line"]]
    assert times == sorted(times)  # a larger beta takes longer
    last = [row["share_pairs"] for row in found["rows"] if row["beta"] == 0 and row["time"] == 9]
    first = [row["share_pairs"] for row in found["rows"] if row["beta"] == 0 and row["time"] == 0]
    assert min(last) > max(first)


@pytest.mark.parametrize(
    "call, sentence",
    [
        (["--d", "1,2"], "--d must be at least 2"),
        (["--d", "two"], "is not a whole number"),
        (["--d", "2,9223372036854775808"], "64 bits"),
        (["--d", "3,3000000000"], "at most 1,000,000"),
        (["--d", "1000000", "--n", "100000"], "of memory"),
        (["--show", "all"], "--show must be pairs, one or clusters"),
        (["--figure", "no/a.svg"], "a folder that exists"),
        (["--out", "a.npz"], "ends in .csv"),
        (["--delta", "1"], "--delta must lie between 0 and 1"),
        (["--time", "-1"], "--time must be a number above 0"),
    ],
)
def test_bad_input_of_the_phase_diagram(cli, tmp_path, call, sentence):
    answer = cli("particles", "phases", *call)
    assert answer.code == 2 and answer.out == "" and sentence in answer.err and answer.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


# Kuramoto, noise and several heads

KURAMOTO = ["particles", "--dynamics", "kuramoto", "--n", "12", "--frames", "5", "--time", "4", "--tolerance", "1e-6"]


@pytest.mark.wording
def test_kuramoto_as_text(cli):
    answer = cli(*KURAMOTO, "--quiet")
    assert answer.code == 0 and max(map(len, answer.out.splitlines())) <= 80
    assert answer.out.startswith("12 tokens in 2 dimensions, Kuramoto, K = 2\n")
    assert "critical coupling" in answer.out and "docs/explanation/theorems-particles.md" in answer.out


def test_kuramoto_as_an_object(cli):
    found = json.loads(cli(*KURAMOTO, "--coupling", "3", "--width", "0.25", "--json", "--quiet").out)
    theory = {claim["key"]: claim for claim in found["theory"]}
    assert theory["kuramoto.critical"]["value"] == 0.5
    assert theory["kuramoto.order"]["value"] == pytest.approx((1 - 0.5 / 3) ** 0.5)
    assert "kuramoto.order.simulated" in {claim["key"] for claim in found["measured"]}
    assert found["moments"]["N_beta"] is None and found["moments"]["energy_share"] is None
    assert len(found["moments"]["order"]) == 5


def test_kuramoto_writes_all_files(cli, tmp_path):
    pytest.importorskip("PIL")
    files = ["--page", "a.html", "--gif", "a.gif", "--out", "a.npz"]
    assert cli(*KURAMOTO, *files, "--noise", "0.2", "--step", "0.02", "--quiet").code == 0
    with np.load("a.npz") as found:
        assert found["points"].shape == (5, 12, 2) and np.allclose(np.linalg.norm(found["points"], axis=2), 1)
        assert found["frequencies"].shape == (12,) and found["order"].shape == (5,)
    page = (tmp_path / "a.html").read_text()
    assert "Kuramoto" in page and "Energy in time" not in page
    assert cli(*KURAMOTO, "--out", "a.csv", "--quiet").code == 0
    np.savetxt("own.csv", np.linspace(-1, 1, 12))
    found = json.loads(cli(*KURAMOTO, "--frequencies", "own.csv", "--json", "--quiet").out)
    status = {claim["key"]: claim["status"] for claim in found["theory"]}
    assert status["kuramoto.critical"] == "unknown" and status["kuramoto.locking"] == "holds"


def test_noise_changes_the_path_and_is_judged(cli):
    plain, shaken, other = (
        json.loads(cli(*QUICK, *more, "--json", "--quiet").out)
        for more in ([], ["--noise", "0.1"], ["--noise", "0.1", "--seed", "1"])
    )
    assert plain["moments"] != shaken["moments"] != other["moments"]
    (step,) = [claim for claim in shaken["measured"] if claim["key"] == "simulation.step_check"]
    assert step["value"] <= 0.01 and step["status"] == "holds"
    theory = {claim["key"]: claim["status"] for claim in shaken["theory"]}
    assert theory["particles.noise_onset"] == "holds" and theory["particles.one_cluster"] == "unknown"
    assert not any(claim["key"] == "simulation.energy_rises" for claim in shaken["measured"])


def test_a_step_that_is_too_long_is_told(cli):
    call = ["particles", "--dynamics", "kuramoto", "--frequencies", "equal", "--coupling", "9", "--n", "30"]
    answer = cli(*call, "--noise", "0.5", "--step", "0.3", "--time", "3", "--frames", "4")
    assert answer.code == 0 and "warning: with double steps" in answer.err


def test_several_heads(cli):
    """Three equal heads are one head that lives three times as long."""
    one = json.loads(cli(*QUICK, "--beta", "2", "--json", "--quiet").out)
    three = json.loads(cli(*[*QUICK[:-3], str(4 / 3), *QUICK[-2:]], "--beta", "2,2,2", "--json", "--quiet").out)
    assert three["moments"]["N_20"] == pytest.approx(one["moments"]["N_20"], rel=1e-3)
    assert three["facts"]["heads"].startswith("3")
    drawn = json.loads(cli(*QUICK, "--heads", "2", "--value", "random", "--json", "--quiet").out)
    single = json.loads(cli(*QUICK, "--value", "random", "--json", "--quiet").out)
    assert drawn["moments"]["N_20"] != single["moments"]["N_20"]
    mixed = json.loads(cli(*QUICK, "--beta", "1,4", "--value", "identity,negative", "--json", "--quiet").out)
    assert mixed["moments"]["N_beta"] is None and "repel" in mixed["facts"]["value"]


WRONG_HERE = {
    "coupling": (["--coupling", "2"], "--coupling goes with --dynamics kuramoto"),
    "beta of kuramoto": (["--dynamics", "kuramoto", "--beta", "2"], "--beta goes with --dynamics sa or usa"),
    "heads of kuramoto": (["--dynamics", "kuramoto", "--heads", "2"], "--heads goes with"),
    "sphere": (["--dynamics", "kuramoto", "--d", "3"], "--d must be 2"),
    "frequencies": (["--dynamics", "kuramoto", "--frequencies", "cauchy"], "--frequencies must be lorentzian"),
    "file": (["--dynamics", "kuramoto", "--frequencies", "three.csv"], "one frequency for each of 64"),
    "width": (["--dynamics", "kuramoto", "--frequencies", "equal", "--width", "1"], "--width goes with"),
    "width 0": (["--dynamics", "kuramoto", "--width", "0"], "--width must be a number above 0"),
    "infinite": (["--dynamics", "kuramoto", "--coupling", "inf"], "--coupling must be a finite number"),
    "noise": (["--noise", "-1"], "--noise must be a number of at least 0"),
    "step": (["--step", "0.1"], "--step goes with --noise"),
    "heads": (["--heads", "3", "--beta", "1,2"], "one for each of --heads heads"),
    "one head": (["--heads", "1", "--beta", "1,2"], "one for each of --heads heads"),
    "lists": (["--beta", "1,2", "--value", "identity,random,random"], "one for each of --heads heads"),
    "words": (["--beta", "cold"], "--beta must be a number"),
}


@pytest.mark.parametrize("name", WRONG_HERE)
def test_bad_input_of_the_new_dynamics(cli, tmp_path, name):
    (tmp_path / "three.csv").write_text("1\n2\n3\n")
    call, sentence = WRONG_HERE[name]
    answer = cli("particles", *call, "--quiet")
    assert answer.code == 2 and answer.out == "" and answer.err.count("\n") == 1 and sentence in answer.err, answer
