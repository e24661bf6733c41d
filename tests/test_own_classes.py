"""Classes that a user brings in a file: found in every registry, stored by their path, held to their contract."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import Any

import pytest

import lengthwise as lw
from lengthwise import trust
from lengthwise.bounds.compression.quantisers import quantisers
from lengthwise.cli import main
from lengthwise.errors import UntrustedCode, UsageError
from lengthwise.executors import executors
from lengthwise.models.attention import attentions
from lengthwise.models.forms import forms
from lengthwise.models.named import models
from lengthwise.positions import positions, wrappers
from lengthwise.probes.probe import Context, ask, probes
from lengthwise.prompts.rendering import renderings
from lengthwise.registry import Registry
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.subjects.subject import Subject
from lengthwise.tasks import tasks
from lengthwise.training.lengths import schedules
from lengthwise.transport.metrics import metrics
from own_classes import (
    ENCODING,
    EVERYTHING,
    EXECUTOR,
    FORM,
    HEAD,
    LEARNED_RULE,
    METRIC,
    NETWORK,
    PROBE,
    RENDERING,
    RULE,
    SCHEDULE,
    WRAPPER,
)
from own_tasks import REPEAT
from planted import CANARY, mark

OWN: dict[str, tuple[Registry[Any], str, str]] = {
    "task": (tasks, REPEAT, "Repeat:letters=3"),
    "position": (positions, ENCODING, "Slope:rate=0.5"),
    "wrapped position": (positions, ENCODING, "Slope:rate=0.5+offset"),
    "attention rule": (attentions, RULE, "Sharp:times=3.0"),
    "attention rule that learns": (attentions, LEARNED_RULE, "Salient:start=2.0"),
    "model": (models, NETWORK, "Net:hidden=4"),
    "form": (forms, FORM, "Biases"),
    "size schedule": (schedules, SCHEDULE, "Ends"),
    "metric": (metrics, METRIC, "Lengths"),
    "probe": (probes, PROBE, "Nothing:times=2"),
    "rendering": (renderings, RENDERING, "Shouted:marks=2"),
    "executor": (executors, EXECUTOR, "Here:workers=1"),
}
SMALL = {"depth": 1, "width": 16, "heads": 1, "steps": 2, "batch": 4, "train_size": 3, "test_size": 4, "items": 4}


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, in a process in which no file was named yet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(trust, "_allowed", set())
    return tmp_path


def test_every_registry_takes_files():
    found = [thing for thing in gc.get_objects() if isinstance(thing, Registry) and thing.room.startswith("lengthwise")]
    assert {id(one) for one in found} >= {id(registry) for registry, *_ in OWN.values()} | {id(wrappers)}
    assert [one.kind for one in found if one.base is None] == [quantisers.kind]


@pytest.mark.parametrize("kind", OWN)
def test_a_class_in_a_file_is_found_and_restored(kind, here):
    registry, text, spec = OWN[kind]
    (here / "mine.py").write_text(text)
    made = registry.make(f"mine.py::{spec}")
    stored = registry.text_of(made)
    assert stored.startswith("mine.py::" + spec.partition(":")[0].partition("+")[0])
    again = registry.restore(stored)
    assert type(again) is type(made) and (kind == "executor" or again == made)


@pytest.mark.parametrize("kind", OWN)
def test_a_class_that_data_name_is_refused_unless_trusted(kind, here):
    registry, text, spec = OWN[kind]
    (here / "mine.py").write_text(mark(here) + text)
    with pytest.raises(UntrustedCode, match=r"mine\.py is named by stored data"):
        registry.restore(f"mine.py::{spec}")
    assert not (here / CANARY).exists()
    with lw.trusting():
        registry.restore(f"mine.py::{spec}")
    assert (here / CANARY).exists()


def test_a_wrapper_of_the_users(here):
    (here / "mine.py").write_text(WRAPPER)
    (here / "enc.py").write_text(ENCODING)
    made = positions.make("sinusoidal:base=99.0+mine.py::Doubled")
    assert positions.text_of(made) == "sinusoidal:base=99+mine.py::Doubled"
    assert positions.text_of(positions.restore("rope+mine.py")) == "rope+mine.py::Doubled"
    assert positions.text_of(positions.make("enc.py::Slope+mine.py::Doubled")) == "enc.py::Slope+mine.py::Doubled"
    with pytest.raises(UsageError, match="wraps nothing"):
        positions.make("rope+enc.py::Slope")


BAD = {
    "shape of a bias": (
        positions, ENCODING.replace("expand(-1, self.heads,", "expand(-1, 2 * self.heads,"), "Slope",
        r"mine\.py::Slope does not keep its contract: `bias` gives a tensor of shape \[1, 8, 14, 24\] "
        r"where \[items or 1, heads, queries, keys\] = \[1, 4, 14, 24\] is expected$",
    ),
    "shape of an embedding": (
        positions, ENCODING.replace("bias(self, queries_at, keys_at):", "embed(self, keys_at, queries_at=None):")
        .replace("(queries_at[:", "(keys_at[:"),
        "Slope", r"`embed` gives a tensor of shape .* where \[items or 1, tokens, width\] = .* is expected$",
    ),
    "declaration": (
        positions, ENCODING.replace("shift_invariant = True", "shift_invariant = False"), "Slope", "no shift changes",
    ),
    "not a network": (
        positions, ENCODING.replace("(lw.Encoder)", ""), "Slope", "`build` gives a lengthwise.Encoder, not a Slope",
    ),
    "an exception": (
        attentions, RULE.replace("logits).softmax", "logits).softmaxx"), "Sharp",
        r"failed when it was tried: AttributeError: .* \(line 13\)",
    ),
    "shape of weights": (
        attentions, RULE.replace("softmax(dim=-1)", "softmax(dim=-1).mean(dim=1)"), "Sharp",
        r"`weights` gives a tensor of shape \[2, 12, 12\] where .* = \[2, 3, 12, 12\], is expected",
    ),
    "rows": (attentions, RULE.replace("dim=-1", "dim=-2"), "Sharp", "sum to 1|finite"),
    "not softmax": (attentions, RULE.replace("fused = False", "fused = True"), "Sharp", "fused = False"),
    "shape of features": (
        attentions, LEARNED_RULE.replace("transpose(1, 2)[..., None]", "transpose(1, 2)"), "Salient",
        r"`features` gives a tensor of shape \[2, 3, 12\] where \[items, heads, tokens, any number\] = .* is expected",
    ),
    "a parameter of no use": (
        attentions, LEARNED_RULE.replace("self.sharpness[:, None, None] * ", ""), "Salient", "no gradient reaches the",
    ),
    "form": (forms, FORM.replace("w + coordinates[name]", "w + 1"), "Biases", "is not the initial one at 0"),
    "size": (schedules, SCHEDULE.replace("sizes[-1]", "9"), "Ends", r"one of the sizes, not 9 out of \[1\]"),
    "metric": (metrics, METRIC.replace("np.abs(", "("), "Lengths", "Lengths does not keep its contract"),
    "probe": (probes, PROBE.replace("times: int = 1", 'needs = "answers"'), "Nothing", "`needs` is a tuple"),
}  # fmt: skip


@pytest.mark.parametrize("what", BAD)
def test_a_class_that_breaks_its_contract_is_refused_in_one_sentence(what, here):
    registry, text, name, sentence = BAD[what]
    (here / "mine.py").write_text(text)
    with pytest.raises(UsageError, match=sentence) as error:
        registry.make(f"mine.py::{name}")
    assert "\n" not in str(error.value)


def test_a_class_is_held_to_its_contract_once(here, monkeypatch):
    (here / "mine.py").write_text(RULE)
    attentions.make("mine.py::Sharp")
    monkeypatch.setattr("lengthwise.testing.check_attention", lambda _: pytest.fail("it was looked at again"))
    attentions.make("mine.py::Sharp")


def test_the_plan_of_own_classes_goes_round(here):
    (here / "mine.py").write_text(EVERYTHING)
    given = {"attention": "mine.py::Sharp", "sizes": "mine.py::Ends", "form": "mine.py::Biases"}
    plan = plan_for("sort", "mine.py::Slope:rate=0.5+offset", given, train_size=4)
    stored = json.loads(json.dumps(plan.plain()))
    assert stored["model"]["position"] == "mine.py::Slope:rate=0.5+offset" and stored["recipe"]["form"] == given["form"]
    assert Plan.from_plain(stored) == plan


def test_a_run_with_own_classes_is_measured_again_when_trusted(here, capsys, monkeypatch):
    (here / "mine.py").write_text(EVERYTHING)
    given: Any = {"attention": "mine.py::Sharp", "sizes": "mine.py::Ends", "form": "mine.py::Biases", **SMALL}
    lw.train("sort", "mine.py::Slope", folder="run", **given)
    trust._allowed.clear()
    capsys.readouterr()
    assert main(["measure", "run", "--items", "4"]) == 2 and "--trust" in " ".join(capsys.readouterr().err.split())
    assert main(["measure", "run", "--items", "4", "--trust", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)


def test_an_attention_rule_that_learns_is_trained_and_kept(here):
    (here / "mine.py").write_text(LEARNED_RULE)
    run = lw.train("sort", "rope", folder="run", attention="mine.py::Salient:start=2", **SMALL)
    learned = {name: value for name, value in run.model().state_dict().items() if ".network." in name}
    assert {name.rpartition("network.")[2] for name in learned} == {"sharpness", "bonus.weight", "bonus.bias"}
    with lw.trusting():
        again = lw.load_run("run").model().state_dict()
    assert all(again[name].equal(value) for name, value in learned.items())


def test_a_study_file_names_own_classes_next_to_it(here, monkeypatch):
    from lengthwise.studies.grid import plans
    from lengthwise.studies.spec import Study

    (here / "sub").mkdir()
    (here / "sub" / "mine.py").write_text(EVERYTHING)
    (here / "sub" / "mine.toml").write_text(
        'tasks = ["sort"]\npositions = ["rope", "mine.py::Slope+offset"]\ntrain_size = 4\n'
        '[model]\nattention = ["softmax", "mine.py::Sharp"]\n[training]\nsizes = "mine.py::Ends"\n'
        '[[exclude]]\nposition = "rope"\nattention = "mine.py::Sharp"\n'
    )
    study = Study.read(here / "sub" / "mine.toml")
    with pytest.raises(UntrustedCode):
        plans(study)
    with lw.trusting():
        found = plans(study)
    chosen = [(plan.position_name, type(plan.architecture.attention).__name__) for plan in found]
    own = f"{here / 'sub' / 'mine.py'}::Slope+offset"
    assert chosen == [("rope", "Softmax"), (own, "Softmax"), (own, "Sharp")]


def test_head_is_the_same_in_all_files():
    assert EVERYTHING.count(HEAD) == 7


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("3", "`measure` gives a lengthwise.records.Record, not a int"),
        ('Record("nothing", data={"x": {1, 2}})', "plain data that JSON can hold"),
        ("1 / 0", r"ZeroDivisionError: division by zero \(line "),
    ],
)
def test_what_a_probe_of_the_users_gives_is_checked(answer, sentence, here):
    (here / "mine.py").write_text(PROBE.replace('Record("nothing", {"times": self.times})', answer))
    with pytest.raises(UsageError, match=sentence):
        ask(probes.make("mine.py::Nothing"), Nobody(), Context())
    (here / "mine.py").write_text(PROBE)
    assert ask(probes.make("mine.py::Nothing"), Nobody(), Context()).source == "Nothing"


class Nobody(Subject):
    """A subject that offers nothing."""

    name = "nobody"

    def capabilities(self):
        return {}
