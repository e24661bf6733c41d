"""Every tensor follows its model: training, measuring and every probe on a device that is not the processor."""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import lengthwise as lw
from devices import NAME, MixedDevices, another_device
from lengthwise.errors import UsageError
from lengthwise.hardware import computing, current
from lengthwise.models import placed as placing
from lengthwise.models.placed import device_of, devices, home, placed
from lengthwise.probes import probes
from lengthwise.probes.probe import Context, ask
from lengthwise.runs import run
from lengthwise.runs.plan import plan_for
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.scaled import scaled
from lengthwise.tasks import make_task
from lengthwise.training.loop import train_model
from small_hub import small_bert, small_gpt2
from small_language_models import small_decoder

SMALL = {"steps": 4, "batch": 4, "depth": 1, "width": 16, "heads": 2, "check_every": 2}
SIZES = {"train_size": 6, "test_size": 8, "items": 4}
POSITIONS = ("none", "learned+offset", "sinusoidal", "alibi", "kerple", "kerple:variant=power", "t5", "fire+randomized")
ROPES = ("rope", "rope:scaling=yarn,factor=2", "rope:scaling=dynamic")
RULES = ("sinkhorn", "window:size=3", "log_length", "hardmax")
NETWORKS = ("ssmax", "adaptive_temperature", "entmax", "asentmax", "stick_breaking", "forgetting", "path", "selective")
FORMS = ("lora:rank=1", "subspace:dimensions=20", "sublora:rank=1,dimensions=20")
ASKED = {"shift_bound": "shift_bound:target=8,items=8"}  # probes that do not say by themselves what to ask
# probes of models of their own
OF_TASKS = {"recursion": "parity_columns", "horizon": "sort", "errors": "simple_task", "prompted": ""}


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Inside, "cuda" is the device that is not the processor."""
    for module in (placing, run):
        monkeypatch.setattr(module, "device_of", lambda asked: torch.device("cpu" if asked == "cpu" else NAME))
    with another_device(), computing("cuda"):
        yield


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run") / "sort"
    return lw.train("sort", "rope", folder=folder, **SIZES, **SMALL).folder


# --- every tensor follows ---------------------------------------------------------------------------------------------


def test_the_other_device_refuses_what_a_gpu_refuses():
    with another_device() as there:
        one = torch.ones(3, device=there)
        assert one.device.type == NAME and (one * torch.tensor(2.0)).sum() == 6, "single numbers may come from here"
        for wrong in (
            lambda: one + torch.ones(3),
            lambda: one[torch.tensor([0, 1])],
            lambda: torch.cat([one, torch.ones(3)]),
            lambda: one.numpy(),
            lambda: one.normal_(generator=torch.Generator()),
            lambda: torch.nn.Linear(3, 3)(one),
        ):
            with pytest.raises(MixedDevices):
                wrong()
        assert one.cpu().numpy().tolist() == [1, 1, 1] and one.to("cpu").device.type == "cpu"


def test_an_arange_that_loses_its_device_is_found(tmp_path, elsewhere, monkeypatch):
    plain = torch.arange
    monkeypatch.setattr(torch, "arange", lambda *args, device=None, **more: plain(*args, **more))
    with pytest.raises(MixedDevices):
        lw.train("sort", "rope", folder=tmp_path / "run", **SIZES, **SMALL)


@pytest.mark.parametrize("task", ["sort", "parity_columns", "simple_task"])
def test_training_and_measuring_give_the_same_numbers_there(task, tmp_path, elsewhere):
    there = lw.train(task, "rope", folder=tmp_path / "there", **SIZES, **SMALL)
    with computing():
        here = lw.train(task, "rope", folder=tmp_path / "here", **SIZES, **SMALL)
    assert there.environment["device"] == f"{NAME}:0" and here.environment["device"] == "cpu"
    assert there.plan.digest() == here.plan.digest()
    losses = [[loss for _, loss in run.history.losses] for run in (there, here)]
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert home(there.model()).type == NAME
    with computing():
        ours, theirs = here.model().state_dict(), there.model().state_dict()
        assert all(torch.allclose(ours[name], theirs[name], atol=1e-3) for name in ours)


@pytest.mark.parametrize("position", [*POSITIONS, *ROPES])
def test_every_encoding_is_trained_and_measured_there(position, tmp_path, elsewhere):
    lw.train("sort", position, folder=tmp_path / "run", probes=["sparsity:items=4"], **SIZES, **SMALL)


@pytest.mark.parametrize("rule", [*RULES, *(pytest.param(rule, marks=pytest.mark.system) for rule in NETWORKS)])
def test_every_attention_rule_is_trained_and_measured_there(rule, tmp_path, elsewhere):
    lw.train("sort", "t5", attention=rule, folder=tmp_path / "run", probes=["sparsity:items=4"], **SIZES, **SMALL)


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_trained_there(form, tmp_path, elsewhere):
    made = lw.train("sort", form=form, folder=tmp_path / "run", **SIZES, **SMALL)
    predictor = open_subject(made.folder).capability("predictor")
    again = predictor.with_weights(predictor.tensors())
    assert home(again.network).type == NAME


class Net(torch.nn.Module):
    def __init__(self, vocabulary: int, outputs: int) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(vocabulary, 8)
        self.output = torch.nn.Linear(8, outputs)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.output(self.embedding(tokens).cumsum(dim=1))


OTHERS = [
    "lstm:width=8",
    "ssm:width=8,heads=2,negative=true,convolution=2",
    "delta:width=8,heads=2,order=2,gate=true",
    "looped:width=8,heads=2,position=rope",
]


@pytest.mark.parametrize(
    "model", [Net, OTHERS[0], *(pytest.param(one, marks=pytest.mark.system) for one in OTHERS[1:])]
)
def test_another_network_is_trained_and_measured_there(model, tmp_path, elsewhere):
    made = lw.train("parity", model=model, folder=tmp_path / "run", steps=4, batch=4, **SIZES)
    assert home(made.model()).type == NAME
    with computing():  # without a device it stays where it is
        assert lw.measure(made.model().module.to(NAME), "parity", sizes=[4], items=4)


def test_training_resumes_there(tmp_path, elsewhere):
    from lengthwise.runs.run import build_model
    from lengthwise.training import loop

    plan = plan_for("sort", "rope", SMALL, **SIZES)
    whole = train_model(build_model(plan), plan.task, plan.recipe, plan.train_size, 0)
    model, half = build_model(plan), tmp_path / "half.safetensors"
    optimiser = loop._optimiser(model, plan.recipe)
    history, batches = loop.History(), loop.Batches(plan.task, plan.recipe, plan.train_sizes, 0, True)
    for _ in range(2):
        loop._step(model, optimiser, batches, history)
    loop._check(model, batches, history)
    loop.save_checkpoint(half, model, optimiser, vars(history))
    resumed = train_model(build_model(plan), plan.task, plan.recipe, plan.train_size, 0, half)
    assert [step for step, _ in resumed.losses] == [2, 4]
    assert resumed.losses[-1][1] == pytest.approx(whole.losses[-1][1], rel=1e-5)


OF_LANGUAGE_MODELS = {"prompted", "perplexity", "conformance"}


@pytest.mark.parametrize("name", sorted({*probes.names()} - OF_LANGUAGE_MODELS))
def test_every_probe_is_put_to_a_model_there(name, run_folder, tmp_path, elsewhere):
    folder, probe = run_folder, probes.make(ASKED.get(name, name))
    if name in OF_TASKS:
        encoding = "alibi" if name == "horizon" else "rope"
        folder = lw.train(OF_TASKS[name], encoding, folder=tmp_path / "run", **SIZES, **SMALL).folder
    subject = open_subject(folder)
    assert home(subject.model).type == NAME
    task = subject.run.task
    with contextlib.chdir(tmp_path):  # bounds keep their work below the current folder
        record = ask(probe, subject, Context(task, 6, tuple(probe.sizes(task, 6, 8)), 4, 0))
    assert record.source == name


@pytest.mark.parametrize("name", sorted(OF_LANGUAGE_MODELS))
def test_every_probe_is_put_to_a_language_model_there(name, tmp_path, elsewhere):
    pytest.importorskip("transformers")
    subject = open_subject(small_decoder(tmp_path / "model"))
    assert home(subject.loaded[0]).type == NAME
    sizes = (8, 16, 32) if name == "conformance" else (2,)
    assert ask(probes.make(name), subject, Context(make_task("sort"), None, sizes, 3)).source == name


@pytest.mark.parametrize("name", ["yarn", "dynamic"])
def test_scalings_of_rope_are_applied_there(name, tmp_path, elsewhere):
    pytest.importorskip("transformers")
    subject = scaled(open_subject(small_decoder(tmp_path / "model")), f"{name}:factor=4")
    assert ask(probes.make("perplexity"), subject, Context()).source == "perplexity"


@pytest.mark.parametrize("make", [small_gpt2, small_bert])
def test_models_of_transformers_are_inspected_there(make, tmp_path, elsewhere):
    pytest.importorskip("transformers")
    model = make(tmp_path / "model")
    asked = ("layers", "shift_gap", "margins", "attention", "geometry", "description")
    found = lw.inspect(model, items=2, probes=asked)
    assert not found.broken, found.broken
    subject = open_subject(model)
    assert home(subject.loaded[0]).type == NAME
    assert subject.capability("states").read(torch.tensor([[2, 3, 4]])).device.type == "cpu"


def test_a_bound_of_a_model_of_transformers_is_made_there(tmp_path, elsewhere):
    pytest.importorskip("transformers")
    data = tmp_path / "data.jsonl"
    data.write_text('{"tokens": [2, 3, 4, 5, 6, 2, 3]}\n' * 4)
    found = lw.bound(small_gpt2(tmp_path / "model"), "guarantee:quantiser=exact", data=data, folder=tmp_path / "bound")
    assert found.bounds


def test_prompts_are_completed_there(tmp_path, elsewhere):
    pytest.importorskip("transformers")
    from lengthwise.prompts.prompt import Prompt

    completions = open_subject(small_gpt2(tmp_path / "model")).capability("completions")
    prompts = [Prompt("a b", (), "c"), Prompt("a b", (), "c ( b")]
    assert len([*completions.complete(prompts, chat=False, budget=3)]) == 2


def test_answers_are_written_there(run_folder, elsewhere):
    made = lw.load_run(run_folder)
    assert isinstance(made.answer("3 1 2"), str)
    assert made.failures(6, count=1, items=4)
    assert lw.measure(made, sizes=[6], items=4)


# --- which device, which precision ------------------------------------------------------------------------------------


def test_a_device_that_is_not_here_is_said_in_one_sentence(monkeypatch, tmp_path):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert device_of("auto") == device_of("cpu") == torch.device("cpu")
    for asked in ("cuda", "cuda:1", "mps"):
        with pytest.raises(UsageError, match=f"{asked} here; there is cpu$"), computing(asked):
            lw.train("sort", folder=tmp_path / "run", **SIZES, **SMALL)
    assert not (tmp_path / "run").exists(), "nothing was written"
    with pytest.raises(UsageError), computing("gpu"):
        pass


def test_gpus_are_found_and_the_first_is_the_automatic_one(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda number: f"card {number}")
    assert devices() == {"cpu": "the processor", "cuda:0": "card 0", "cuda:1": "card 1"}
    assert device_of("auto") == device_of("cuda") == torch.device("cuda:0")
    assert device_of("cuda:1") == torch.device("cuda:1")
    with pytest.raises(UsageError, match="cpu, cuda:0, cuda:1"):
        device_of("cuda:2")


def test_what_decides_the_numbers_is_part_of_the_plan(monkeypatch):
    plain = plan_for("sort").digest()
    with computing("cuda", compile=True):
        assert plan_for("sort").digest() == plain
    rounded = plan_for("sort", settings={"precision": "bf16"})
    assert rounded.digest() != plain and plan_for("sort", settings={"precision": "float32"}).digest() == plain
    assert type(rounded).from_plain(rounded.plain()) == rounded
    with pytest.raises(UsageError):
        plan_for("sort", settings={"precision": "float16"})
    assert current().device is None, "what a block sets ends with it"


def test_training_in_bf16_rounds_and_keeps_weights_in_float32(tmp_path):
    kinds = {"folder": tmp_path / "bf16", **SIZES, **SMALL}
    rounded = lw.train("sort", "rope", precision="bf16", **kinds)
    plain = lw.train("sort", "rope", **{**kinds, "folder": tmp_path / "float32"})
    gap = abs(rounded.history.losses[-1][1] - plain.history.losses[-1][1])
    assert 0 < gap < 0.05
    assert {one.dtype for one in rounded.model().parameters()} == {torch.float32}
    assert lw.load_run(tmp_path / "bf16").plan.recipe.precision == "bf16"
    with computing(precision="bf16"):  # the precision of training is a setting; records of a run are in float32
        again = lw.train("sort", "rope", **{**kinds, "folder": tmp_path / "again"})
    assert again.history.losses == plain.history.losses
    assert again.curve.plain() == plain.curve.plain()


def test_measuring_in_bf16_rounds_the_products_of_a_model_and_of_its_copies(run_folder):
    tokens = torch.tensor([[1, 5, 6, 7, 8]])
    plain = lw.load_run(run_folder).model()
    with computing(precision="bf16"):
        model = lw.load_run(run_folder).model()
        assert lw.measure(run_folder, sizes=[6], items=4)
        assert placed(model) is model
    with torch.no_grad():
        gap = (model(tokens) - plain(tokens)).abs().max()
        assert 0 < gap < 0.1 and model(tokens).dtype == torch.float32
        other = copy.deepcopy(model)
        for parameter in other.parameters():
            parameter.zero_()
        assert not other(tokens).any() and model(tokens).any(), "a copy computes with its own weights"
        exact = copy.deepcopy(model).double()
        assert torch.equal(exact(tokens), copy.deepcopy(plain).double()(tokens)), "float64 is not rounded"


def test_models_of_transformers_in_bf16(tmp_path):
    pytest.importorskip("transformers")
    model, tokens = small_gpt2(tmp_path / "model"), torch.tensor([[2, 3, 4]])
    asked = torch.ones_like(tokens, dtype=torch.bool)
    plain = open_subject(model).capability("predictor")
    with computing(precision="bf16"):
        rounded = open_subject(model).capability("predictor")
    gap = np.abs((rounded.states(tokens, asked) - plain.states(tokens, asked)).detach().numpy()).max()
    assert 0 < gap < 0.1
    assert rounded.header() == {**plain.header(), "precision": "bf16"}, "a decoder must know it"
    copied = rounded.with_weights(rounded.tensors())
    assert torch.equal(copied.states(tokens, asked), rounded.states(tokens, asked))


def test_a_model_in_a_form_stays_in_bf16_when_it_is_decoded(tmp_path):
    made = lw.train("sort", form="lora:rank=1", folder=tmp_path / "run", **SIZES, **SMALL)
    with computing(precision="bf16"):
        predictor = open_subject(made.folder).capability("predictor")
    assert predictor.header()["precision"] == "bf16"
    assert predictor.with_weights(predictor.tensors()).header() == predictor.header()


def test_compiling_is_asked_of_torch_once(run_folder, monkeypatch):
    asked = []
    monkeypatch.setattr(torch, "compile", lambda function, **how: asked.append(how) or function)
    with computing(compile=True):
        model = lw.load_run(run_folder).model()
        placed(model)
    assert asked == [{"dynamic": True}]
    assert model(torch.tensor([[1, 5, 6]])).shape[1] == 3
