"""A network of the user's in the place of our Transformer: its contract, training, resuming, measuring, studies."""

from __future__ import annotations

import functools
import json
import os
import re
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import lengthwise as lw
from lengthwise import trust
from lengthwise.cli import main
from lengthwise.errors import Interrupted, UntrustedCode, UsageError
from lengthwise.models.architecture import Architecture
from lengthwise.models.named import models, plain_model
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.studies.grid import planned_records, plans
from lengthwise.studies.spec import Study
from lengthwise.subjects.open import open_subject
from lengthwise.testing import check_model

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "own-models.md").read_text(encoding="utf-8")
FILE, *PROGRAMS = re.findall(r"```python\n(.*?)```", PAGE, re.S)
SMALL: dict[str, Any] = {"steps": 4, "batch": 4, "train_size": 3, "test_size": 4, "items": 4}


class Gated(nn.Module):
    """A network with dropout, tied weights and a batch norm, whose buffers are part of the state."""

    def __init__(self, vocabulary: int, outputs: int, hidden: int = 8, dropout: float = 0.3) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, hidden)
        self.twin = nn.Embedding(vocabulary, hidden)
        self.twin.weight = self.embedding.weight
        self.gru, self.dropout = nn.GRU(hidden, hidden, batch_first=True), nn.Dropout(dropout)
        self.norm, self.output = nn.BatchNorm1d(hidden), nn.Linear(hidden, outputs)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        states = self.gru(self.dropout(self.embedding(tokens) + self.twin(tokens)))[0]
        return self.output(self.norm(states.transpose(1, 2)).transpose(1, 2))


class Both(nn.Module):
    """An encoder that reads in both directions."""

    causal = False

    def __init__(self, vocabulary: int, outputs: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocabulary, 8)
        self.gru, self.output = nn.GRU(8, 8, batch_first=True, bidirectional=True), nn.Linear(16, outputs)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.output(self.gru(self.embedding(tokens))[0])


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the file of the page, in a process in which no file was named yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trust, "_allowed", set())
    (tmp_path / "my.py").write_text(FILE)
    return tmp_path


def weights(run: Any) -> dict[str, torch.Tensor]:
    return run.model().state_dict()


def same(one: Any, other: Any) -> bool:
    first, second = weights(one), weights(other)
    return first.keys() == second.keys() and all(torch.equal(first[name], second[name]) for name in first)


# --- the page -------------------------------------------------------------------------------------------------------


def test_the_programs_of_the_page_run(here):
    assert len(FILE.splitlines()) <= 25
    place: dict[str, Any] = {}
    for program in PROGRAMS:
        exec(compile(program, "page", "exec"), place)
    assert type(place["network"]).__name__ == "Net" and place["curve"].points[-1].size == 40


@pytest.mark.slow
def test_the_figure_of_the_page(here):
    """Parity, trained to 20, measured at 200."""
    run = lw.train("parity", model="my.py::Net", steps=4000, test_size=200)
    assert run.learned and run.curve.points[-1].size == 200 and run.curve.bins()[-1].exact >= 0.99


def test_the_file_on_the_command_line(here, capsys):
    call = "train parity --model my.py::Net:hidden=8 --steps 3 --batch 4 --train-size 3 --test-size 4 --items 4"
    assert main([*call.split(), "--folder", "run", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["plan"]["model"] == {"name": "my.py::Net", "hidden": 8}
    trust._allowed.clear()
    assert main(["measure", "run"]) == 2 and "--trust" in " ".join(capsys.readouterr().err.split())
    with pytest.raises(UntrustedCode):
        open_subject("run")
    assert main(["measure", "run", "--trust", "--items", "4", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["records"][0]["tables"][0] == found["records"][0]["tables"][0]
    trust._allowed.clear()
    assert main(["ask", "run", "1 0 1", "--trust"]) == 0
    assert main(["train", "parity", "--model", "my.py::Net:hidden=8", "--dry-run"]) == 0
    assert "my.py-Net-hidden=8-s0" in capsys.readouterr().out


# --- training -------------------------------------------------------------------------------------------------------


BUILT_IN = [
    "lstm:width=8",
    "ssm:width=8,heads=2,convolution=2",
    "delta:width=8,heads=2,order=2,gate=true",
    "looped:width=8,heads=2,position=learned+offset",
]


@pytest.mark.parametrize("model", [*BUILT_IN, Gated, functools.partial(Gated, hidden=4), Both])
def test_a_run_is_resumed_exactly(model, tmp_path):
    given: dict[str, Any] = {**SMALL, "steps": 12, "check_every": 5}
    whole = lw.train("parity", model=model, folder=tmp_path / "whole", **given)

    def stop(_: str, step: int, steps: int) -> None:
        if (step, steps) == (5, 12):
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(Interrupted):
        lw.train("parity", model=model, folder=tmp_path / "cut", progress=stop, **given)
    cut = lw.train("parity", model=model, folder=tmp_path / "cut", **given)
    assert same(whole, cut) and whole.curve == cut.curve
    other = lw.train("parity", model=model, folder=tmp_path / "other", seeds=[1], **given)
    assert not same(whole, other)


def test_a_class_that_no_name_leads_to_is_given_again(tmp_path):
    run = lw.train("parity", model=Gated, folder=tmp_path / "run", **SMALL)
    assert run.plan.plain()["model"] == {"name": "Gated", "unregistered": True, "hidden": 8, "dropout": 0.3}
    for folder in (run.folder, str(run.folder)):
        with pytest.raises(UsageError, match=r"pass it again, as in load_run\(folder, model=...\)"):
            lw.load_run(folder)
    assert same(lw.load_run(run.folder, model=Gated), run)
    with pytest.raises(UsageError, match="is not the one that is stored"):
        lw.load_run(run.folder, model=functools.partial(Gated, hidden=4))
    assert lw.measure(run, items=4) == run.curve


def test_training_begins_with_the_weights_of_a_network(tmp_path):
    task = lw.make_task("parity")
    net = Gated(len(task.vocabulary), task.outputs)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    run = lw.train(task, model=net, folder=tmp_path / "run", **SMALL)
    assert all(torch.equal(value, before[name]) for name, value in net.state_dict().items()), "it is a copy"
    assert not torch.equal(weights(run)["module.output.weight"], before["output.weight"])
    assert same(lw.train(task, model=net, folder=tmp_path / "run", **SMALL), run)
    with torch.no_grad():
        net.output.bias += 1
    with pytest.raises(UsageError, match="its model differs"):
        lw.train(task, model=net, folder=tmp_path / "run", **SMALL)


@pytest.mark.parametrize("task", ["sort", "aa_star", "simple_task"])
def test_all_readouts(task, tmp_path):
    run = lw.train(task, model="lstm:width=8", folder=tmp_path / "run", **{**SMALL, "train_size": 4, "test_size": 5})
    assert run.curve.points and run.failures(run.curve.points[-1].size, 1, 4) is not None


def test_a_model_of_the_users_with_settings_of_its_own(here, tmp_path):
    (here / "own.py").write_text(
        "from dataclasses import dataclass\nimport lengthwise as lw\nfrom my import Net\n\n\n"
        '@dataclass(frozen=True)\nclass Wide(lw.Model):\n    """A wide one."""\n\n    times: int = 2\n\n'
        "    def build(self, interface):\n        return Net(interface.vocabulary, interface.outputs, 4 * self.times)\n"
    )
    import sys

    sys.path.insert(0, str(here))
    try:
        model = models.make("own.py::Wide:times=1")
        check_model(model)
        run = lw.train("parity", model=model, folder="run", **SMALL)
    finally:
        sys.path.remove(str(here))
    assert run.plan.plain()["model"] == {"name": "own.py::Wide", "times": 1} and run.plan == lw.load_run("run").plan


# --- plans ----------------------------------------------------------------------------------------------------------


def test_the_plan_of_a_transformer_is_as_it_was():
    plain = plan_for("sort", "rope", {"depth": 4})
    assert plain == plan_for("sort", "rope", {"model": "transformer:depth=4"})
    assert plain == plan_for("sort", "rope", {"model": Architecture(depth=4, heads=2)})
    assert plain == plan_for("sort", settings={"model": "transformer:depth=2,position=rope", "depth": 4})
    assert "name" not in plain.plain()["model"] and plain.digest() == plan_for("sort", "rope", {"depth": 4}).digest()


def test_a_plan_goes_round(here):
    plan = plan_for("parity", settings={"model": "my.py::Net:hidden=16"})
    assert Plan.from_plain(json.loads(json.dumps(plan.plain()))) == plan
    assert plan.digest() != plan_for("parity", settings={"model": "my.py::Net:hidden=17"}).digest()
    assert plan.digest() == plan_for("parity", settings={"model": f"{'my.py'}::Net:hidden=16"}).digest()
    assert plain_model(models.make("lstm")) == {"name": "lstm", "depth": 1, "width": 64}


@pytest.mark.parametrize(
    ("settings", "position", "sentence"),
    [
        ({"heads": 3}, "none", "lstm is another network and takes no setting heads of our Transformer"),
        ({}, "rope", "takes no position encoding of ours"),
        ({"form": "lora"}, "none", "only our Transformer is trained in a form"),
        ({"model": "lstm:width=0"}, "none", "width must be at least 1"),
        ({"model": "lstm:widht=1"}, "none", "did you mean 'width'"),
        ({"model": "lstn"}, "none", "did you mean 'lstm'"),
        ({"model": 3}, "none", "a class of torch.nn.Module or a network, not 3"),
    ],
)
def test_what_cannot_be_is_refused_in_one_sentence(settings, position, sentence):
    with pytest.raises(UsageError) as error:
        plan_for("parity", position, {"model": "lstm", **settings})
    assert sentence in str(error.value) and "--" not in str(error.value) and "\n" not in str(error.value)


def test_probes_of_a_transformer_are_refused_before_training():
    with pytest.raises(UsageError, match=r"the probe ladder needs .*, and lstm is another"):
        plan_for("parity", settings={"model": "lstm"}, probes=["ladder"])


# --- the contract ---------------------------------------------------------------------------------------------------

BAD = {
    "arguments": (FILE.replace("outputs, hidden", "classes, hidden"), "must accept outputs, .* no such argument"),
    "shape": (
        FILE.replace("self.output(states)", "self.output(states[:, -1])"),
        r"gives a tensor of shape \[3, 7\] where \[items, tokens, outputs\] = \[3, 12, 7\] is expected",
    ),
    "no tensor": (FILE.replace("return self.output(states)", "return states, 1"), "gives a tuple where a tensor"),
    "whole numbers": (FILE.replace("(states)", "(states).long()"), "torch.int64 where floating-point"),
    "look-ahead": (
        FILE.replace("batch_first=True", "batch_first=True, bidirectional=True").replace(
            "nn.Linear(hidden,", "nn.Linear(2 * hidden,"
        ),
        "it looks ahead: an output before token .* which causal = False declares",
    ),
    "length": (
        FILE.replace("self.output(states)", "self.output(states / tokens.shape[1])"),
        "it looks ahead: .* when nothing stands behind it",
    ),
    "batch": (FILE.replace("batch_first=True", "batch_first=False"), "with the items that are read together with it"),
    "chance": (FILE.replace("(states)", "(states * torch.rand(1))"), "when it reads the same tokens again"),
    "infinite": (FILE.replace("(states)", "(states / (tokens.shape[1] < 20))"), "not finite when it reads 24 tokens"),
    "no gradient": (FILE.replace("(states)", "(states.detach())"), "no gradient reaches its parameter embedding"),
    "exception": (FILE.replace("self.output(states)", "self.outputs(states)"), r"AttributeError: .* \(line 15\)"),
    "state": (
        FILE + "\n    def step(self, tokens, state):\n        return self(tokens), None\n",
        "the outputs of `step` at token 1 differ by .* from those of `forward`",
    ),
    "no state": (FILE + "\n    def step(self, tokens, state):\n        return self(tokens)\n", "`step` gives a Tensor"),
    "setting": (FILE.replace("hidden=64", "build=64").replace("hidden", "build"), "has an argument 'build'"),
}


@pytest.mark.parametrize("what", BAD)
def test_a_network_that_breaks_the_contract_is_refused_in_one_sentence(what, here):
    text, sentence = BAD[what]
    (here / "bad.py").write_text(text.replace("from torch import nn", "import torch; from torch import nn"))
    with pytest.raises(UsageError, match=sentence) as error:
        models.make("bad.py::Net")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("model", ["lstm", "lstm:depth=2", "transformer"])
def test_built_in_models_keep_the_contract(model):
    check_model(models.make(model))


def test_a_network_given_as_an_object_is_tried_before_training(tmp_path):
    with pytest.raises(UsageError, match=r"Gated: .* of shape \[3, 6, 5\] where .* \[3, 6, 8\] is expected"):
        lw.train("parity", model=Gated(8, 5), folder=tmp_path / "run", **SMALL)
    with pytest.raises(UsageError, match=r"failed when it was given tokens 0 to 7, .* IndexError"):
        lw.train("parity", model=Gated(5, 8), folder=tmp_path / "run", **SMALL)


# --- measuring ------------------------------------------------------------------------------------------------------


def test_a_network_that_was_trained_elsewhere(here, capsys):
    run = lw.train("parity", model="my.py::Net:hidden=8", folder="run", **SMALL)
    module = run.model().module.train()
    curve = lw.measure(module, "parity", sizes=[3, 4], items=4)
    points = [point for point in run.curve.points if point.size >= 3]
    assert list(curve.points) == points and curve.position == "" and module.training
    (here / "elsewhere.py").write_text(
        FILE + "\n\ndef build():\n    from safetensors.torch import load_file\n\n    net = Net(8, 8, 8)\n"
        "    stored = load_file('run/model.safetensors')\n"
        "    net.load_state_dict({name.removeprefix('module.'): one for name, one in stored.items()})\n    return net\n"
    )
    call = ["measure", "elsewhere.py::build", "--task", "parity", "--sizes", "3,4", "--items", "4"]
    assert main([*call, "--json"]) == 0
    assert (
        lw.Curve.from_record(lw.records.Record.from_plain(json.loads(capsys.readouterr().out)["records"][0])) == curve
    )
    with pytest.raises(UsageError, match="the model failed when it was given tokens 0 to"):
        lw.measure(module, "sort", sizes=[4])
    with pytest.raises(UsageError, match="say which task to ask"):
        lw.measure(module)
    with pytest.raises(UsageError, match="only a run can be read with another encoding"):
        lw.measure(module, "parity", position="rope")


def test_a_network_that_sees_the_answers_is_not_measured():
    peeks = Both(8, 8)
    peeks.causal = True
    with pytest.raises(UsageError, match="the model: it looks ahead"):
        lw.measure(peeks, "parity", sizes=[4], items=4)
    assert lw.measure(Both(8, 8), "parity", sizes=[4], items=4).points[0].items == 4


def test_what_a_run_offers(here):
    run = lw.train("parity", model="lstm:width=8", folder="run", **SMALL)
    subject = open_subject("run")
    assert dict(subject.facts)["network"].startswith("lstm:width=8,")
    assert [name for name in ("answers", "weights", "predictor", "run") if not subject.offers(name)] == []
    with pytest.raises(UsageError, match=r"does not offer .*: its network is lstm:width=8"):
        subject.capability("transformer")
    with pytest.raises(UsageError, match="only our Transformer can be read with another encoding"):
        lw.measure(run, position="rope")
    found = lw.inspect("run")
    assert found.model == "run"


# --- studies --------------------------------------------------------------------------------------------------------


def test_models_are_an_axis_of_a_study(here):
    (here / "mine.toml").write_text(
        'tasks = ["parity"]\npositions = ["none", "rope"]\ntrain_size = 4\nseeds = 2\n'
        'model = ["transformer:depth=1", "lstm", "my.py::Net:hidden=8"]\n'
        '[[exclude]]\nmodel = ["lstm", "my.py::Net:hidden=8"]\nposition = "rope"\n'.replace(
            'my.py::Net:hidden=8"]\nposition', f'{here / "my.py"}::Net:hidden=8"]\nposition'
        )
    )
    study = Study.read(here / "mine.toml")
    assert Study.from_plain(study.plain()) == study
    with pytest.raises(UntrustedCode):
        plans(study)
    with lw.trusting():
        found = plans(study)
        assert [Plan.from_plain(plan.plain()) for plan in found] == found
    own = f"{here / 'my.py'}::Net:hidden=8"
    seen = [(plan.position_name, plan.model_name) for plan in found[::2]]
    assert seen == [("none", "none"), ("none", "lstm"), ("none", own), ("rope", "rope")]
    variants = [record.variant for record in planned_records(found)[::2]]
    assert variants == ["model transformer", "model lstm", f"model {own}", ""]
    assert len({record.key for record in planned_records(found)}) == 8


def test_a_study_that_multiplies_what_does_not_fit():
    with pytest.raises(UsageError, match=r"the run with .* is not possible: lstm is another network"):
        plans(Study("x", "parity", model={"model": ["transformer", "lstm"], "heads": 2}))
    both = plans(Study("x", "parity", model={"model": ["transformer", "lstm"], "depth": 3}))
    assert [getattr(plan.architecture, "depth", 0) for plan in both] == [3, 3]


@pytest.mark.system
def test_a_study_with_two_models(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = Study(
        "both", "parity", train_size=3, test_size=9, items=4, model=["transformer:depth=1,width=16", "lstm:width=8"],
        training={"steps": 3, "batch": 4},
    )  # fmt: skip
    results = lw.run_study(study, progress=lambda *_: None)
    assert [run.state for run in results.runs] == ["done", "done"]
