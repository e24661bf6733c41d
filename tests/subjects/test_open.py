"""One opener for every kind of subject: what each offers, what it refuses, and what it was read from."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

import lengthwise as lw
from lengthwise.errors import UnknownName, UsageError
from lengthwise.files import sha256
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.transformer import Transformer
from lengthwise.probes.curve.evaluate import measure_size
from lengthwise.subjects.open import open_subject
from lengthwise.subjects.run import NetworkAnswers
from lengthwise.tasks import tasks
from small_gguf import small_llama

SMALL = {"depth": 1, "width": 16, "heads": 2}


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "sort"
    lw.train("sort:alphabet=9", "rope", train_size=4, test_size=4, items=2, steps=3, batch=4, folder=folder, **SMALL)
    return folder


@pytest.fixture(scope="module")
def llama(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "llama"
    sizes = {"hidden_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        transformers.LlamaForCausalLM(transformers.LlamaConfig(vocab_size=31, **sizes)).save_pretrained(folder)
    return folder


def test_a_run_folder(run):
    subject = open_subject(run)
    assert subject.name == "sort" and dict(subject.facts)["trained"] == "sort:alphabet=9, sizes up to 4, 3 steps"
    stored = subject.capability("run")
    assert (stored.train_size, stored.seed, stored.steps, stored.recipe.batch) == (4, 0, 3, 4)
    assert stored.task == tasks.make("sort:alphabet=9") and stored.train_sizes == [1, 2, 3, 4]
    assert subject.capability("transformer") is subject.capability("transformer")
    assert subject.files() == {name: sha256(run / name) for name in ("config.json", "model.safetensors")}
    with pytest.raises(UsageError, match="does not offer"):
        subject.capability("tokenizer")


@pytest.mark.parametrize("task", ["sort:alphabet=9", "parity"])
def test_answers_are_those_of_the_measurement(run, task):
    model = open_subject(run).capability("transformer")
    asked = tasks.make(task)
    if task == "parity":
        vocabulary = len(asked.vocabulary)
        model = Transformer(Architecture(1, 8, 2, 2), Interface(vocabulary, asked.outputs, 40, 12)).eval()
    marked = open_subject(model).capability("answers").mark(asked.part("test"), 5, range(30), 0)
    point = measure_size(NetworkAnswers(model), asked.part("test"), 5, 30, 0)
    assert (marked.items.sum(), marked.tokens.sum(), len(marked.tokens)) == (
        point.right,
        point.tokens_right,
        point.tokens,
    )
    assert marked.losses.mean() == pytest.approx(point.loss, rel=1e-5)


def test_a_run_that_is_trained_and_not_yet_measured(run, tmp_path):
    import json

    from lengthwise.integrity import MODEL, digests, sealed

    folder = Path(shutil.copytree(run, tmp_path / "begun"))
    record = json.loads((folder / "run.json").read_text())
    (folder / "run.json").unlink()
    with pytest.raises(UsageError, match="does not offer"):
        open_subject(folder).capability("run")
    begun = {name: record[name] for name in ("digest", "plan", "history", "environment")}
    (folder / "plan.json").write_text(json.dumps(sealed({**begun, "files": digests(folder, MODEL)})))
    assert open_subject(folder).capability("run").steps == 3


def test_a_hub_folder(llama):
    subject = open_subject(llama)
    assert subject.name == "llama" and {"kind", "layers", "context"} <= set(dict(subject.facts))
    assert set(subject.files()) == {"config.json", "model.safetensors"}
    predictor = subject.capability("predictor")
    tokens = torch.arange(6)[None]
    states = subject.capability("states").read(tokens)
    assert states.shape == (1, 6, 24) and states.dtype == torch.float64
    single = predictor.states(tokens, torch.ones(1, 6, dtype=torch.bool)).detach()
    assert np.abs(states[0].numpy() - single.numpy()).max() < 1e-4
    for name in ("run", "transformer", "answers", "tokenizer", "gguf"):
        assert not subject.offers(name)
        with pytest.raises(UsageError, match="llama does not offer"):
            subject.capability(name)


def test_a_gguf_file(tmp_path):
    pytest.importorskip("gguf")
    model = small_llama(tmp_path / "small.gguf")
    for given in (tmp_path / "small.gguf", str(tmp_path)):
        subject = open_subject(given)
        assert subject.name == "small" and subject.capability("gguf") == tmp_path / "small.gguf"
        assert subject.files() == {"small.gguf": sha256(tmp_path / "small.gguf")}
        assert subject.capability("predictor").parameters == sum(one.numel() for one in model.parameters())
    assert not subject.offers("tokenizer")


BUILDS = """
import torch
from lengthwise.models.architecture import Architecture, Interface
from lengthwise.models.transformer import Transformer

class Sorter:
    def answer(self, prompts):
        return [" ".join(sorted(prompt, key=int)) for prompt in prompts]

class Short:
    def answer(self, prompts):
        return prompts[:1]

def build():
    return Sorter()

def transformer():
    return Transformer(Architecture(1, 8, 2, 2), Interface(13, 13, 40, 12))

def module():
    return torch.nn.Linear(2, 3)

def number():
    return 3

def breaks():
    return 1 / 0
"""


@pytest.fixture
def mine(tmp_path) -> Path:
    (tmp_path / "mine.py").write_text(BUILDS)
    return tmp_path / "mine.py"


def test_an_object_that_answers(mine):
    subject = open_subject(f"{mine}::build")
    task = tasks.make("sort:alphabet=9")
    marked = subject.capability("answers").mark(task, 5, range(20), 0)
    assert marked.items.all() and marked.tokens is None and marked.losses is None
    assert open_subject(str(mine)).name == subject.name == "mine.py::build"
    assert subject.files() == {"mine.py": sha256(mine)}
    assert not subject.capability("answers").mark(tasks.make("reverse_string"), 5, range(20), 0).items.all()
    with pytest.raises(UsageError, match="did not return a list of as many"):
        open_subject(f"{mine}::Short").capability("answers").mark(task, 5, range(4), 0)
    with pytest.raises(UsageError, match=r"mine\.py::build does not offer"):
        subject.capability("anatomy")


def test_modules_of_a_file(mine):
    assert open_subject(f"{mine}::transformer").capability("anatomy").parameters > 0
    module = open_subject(f"{mine}::module")
    assert dict(module.facts)["parameters"] == "9"
    with pytest.raises(UsageError, match="the layout of the class Linear is not known"):
        module.capability("anatomy")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("number", "not a int"),
        ("breaks", r"mine\.py, line 27: breaks\(\) failed, ZeroDivisionError"),
        ("buidl", "build"),
    ],
)
def test_a_file_that_builds_nothing_is_one_sentence(mine, name, sentence):
    with pytest.raises((UsageError, UnknownName), match=sentence):
        open_subject(f"{mine}::{name}")


def test_a_path_never_runs_code(mine):
    with pytest.raises(UsageError, match="is not a GGUF file"):
        open_subject(mine).capability("anatomy")


def test_what_is_no_subject_is_one_sentence(tmp_path):
    for given, sentence in ((tmp_path / "nowhere", "there is no"), (tmp_path, "is not a model"), (3, "not a int")):
        with pytest.raises(UsageError, match=sentence):
            open_subject(given)
    (tmp_path / "config.json").write_text("[]")
    with pytest.raises(UsageError, match="does not contain an object"):
        open_subject(tmp_path)


@pytest.mark.wording
@pytest.mark.parametrize(("heads", "said"), [(1, "1 of width 8 with 1 head"), (2, "1 of width 8 with 2 heads")])
def test_one_head_is_one_head(heads, said):
    subject = open_subject(Transformer(Architecture(1, 8, heads, 2), Interface(13, 13, 40, 12)))
    assert dict(subject.facts)["layers"] == said
