"""The form of a study: what Python and TOML accept, that they agree, and the sentences for what cannot be meant."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lengthwise.errors import UnknownName, UsageError
from lengthwise.models.transformer import Architecture
from lengthwise.studies.form import MODEL, TRAINING
from lengthwise.studies.spec import Budget, Study
from lengthwise.training.recipe import Recipe

TEXT = """
question = "Does depth help?"
tasks = ["sort", "(aa)*"]
positions = "none"
train_size = [8, 16]
test_size = [16, 64]
seeds = 3
keep = 1

[model]
depth = [1, 2]
attention = "log_length"

[training]
rate = 1

[budget]
minutes = 5

[[exclude]]
task = "sort"
depth = 2

[[override]]
task = "(aa)*"
seeds = [7]
model = { depth = 1 }
"""
SAME = Study(
    name="depths",
    question="Does depth help?",
    tasks=["sort", "(aa)*"],
    positions=("none",),
    train_size=[8, 16],
    test_size=(16, 64),
    seeds=[0, 1, 2],
    keep=1.0,
    model={"attention": "log_length", "depth": (1, 2)},
    training={"rate": [1.0]},
    budget=Budget(minutes=5.0),
    exclude=[{"task": ["sort"], "depth": 2}],
    override=[{"task": "(aa)*", "seeds": (7,), "model": {"depth": [1]}}],
)


def test_python_and_toml_are_the_same(tmp_path: Path) -> None:
    file = tmp_path / "depths.toml"
    file.write_text(TEXT, encoding="utf-8")
    study = Study.read(file)
    assert study == SAME == Study.read(str(file)) and hash(study) == hash(SAME)
    assert study.seeds == (0, 1, 2) and study.model == {"depth": (1, 2), "attention": ("log_length",)}
    assert study.test_size == (16, 64) and study.items == 200 and study.training == {"rate": (1.0,)}
    assert Study("x", "sort") == Study("x", ["sort"], ["none"], train_size=[20], seeds=1, items=200) != study


def test_there_and_back() -> None:
    assert Study.from_plain(tomllib.loads(SAME.toml())) == SAME
    assert Study.from_plain(json.loads(json.dumps(SAME.plain(), allow_nan=False))) == SAME
    assert dataclasses.replace(SAME, items=7).items == 7


def test_the_axes_are_the_fields_of_model_and_recipe() -> None:
    shape = [f.name for f in dataclasses.fields(Architecture)]
    assert list(MODEL) == ["model", *(name for name in shape if name != "position")]
    assert list(TRAINING) == [f.name for f in dataclasses.fields(Recipe)]
    usual = {**vars(Architecture()), **vars(Recipe())}
    for name, kind in {**MODEL, **TRAINING}.items():
        assert name in ("model", "attention", "sizes", "stop_at", "form") or kind is type(usual[name])


def test_reading_a_study_needs_no_torch() -> None:
    code = "import sys, lengthwise.studies.spec as s; s.builtin_questions(); sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_seeds_can_be_moved() -> None:
    study = Study("x", "sort", seeds=2, exclude=[{"seed": 1, "task": "sort"}], override=[{"task": "sort", "seeds": 3}])
    moved = study.with_seeds_from(10)
    assert moved.seeds == (10, 11) and moved.override[0]["seeds"] == (10, 11, 12) and moved.exclude[0]["seed"] == (11,)
    assert study.with_seeds_from(0) == study and study.seeds == (0, 1)
    assert Study("x", "sort").with_seeds_from(4).seeds == (4,)


def test_another_number_of_seeds_holds_everywhere():
    own = {"task": "sort", "seeds": 5}
    more = {"task": "sort", "seeds": 2, "items": 7}
    study = Study("x", "sort", seeds=1, override=[own, more]).with_seeds(3)
    assert study.seeds == (0, 1, 2)
    assert study.override == Study("x", "sort", override=[{"task": "sort", "items": 7}]).override
    with pytest.raises(UsageError, match="1 seed or more, not 0"):
        study.with_seeds(0)


WRONG: dict[str, tuple[dict[str, Any], list[str]]] = {
    "unknown key": ({"taks": "sort"}, ["'taks'", "did you mean 'tasks'"]),
    "unknown model key": ({"model": {"dept": 1}}, ["[model] has no key 'dept'", "did you mean 'depth'"]),
    "training key in model": ({"model": {"steps": 1}}, ["[model] has no key 'steps'", "it has model, depth"]),
    "unknown training key": ({"training": {"stepps": 1}}, ["[training]", "did you mean 'steps'"]),
    "unknown budget key": ({"budget": {"minute": 1}}, ["[budget]", "did you mean 'minutes'"]),
    "unknown exclude key": ({"exclude": [{"seed": 1}, {"tasks": "sort"}]}, ["[[exclude]] 2", "did you mean 'task'"]),
    "unknown override key": (
        {"override": [{"task": "sort", "trainig": {}}]},
        ["[[override]] 1 has no key 'trainig'", "did you mean 'training'"],
    ),
    "unknown key in an override": (
        {"override": [{"task": "sort", "model": {"widht": 1}}]},
        ["[[override]] 1 model", "did you mean 'width'"],
    ),
    "no tasks": ({"tasks": []}, ["tasks is empty"]),
    "tasks of the wrong type": ({"tasks": [3]}, ["tasks takes a text, not 3"]),
    "tasks as a table": ({"tasks": {"a": 1}}, ["tasks takes a text"]),
    "the same task twice": ({"tasks": ["sort", "sort"]}, ["tasks has 'sort' twice"]),
    "the same rate twice": ({"training": {"rate": [1, 1.0]}}, ["[training] rate has 1.0 twice"]),
    "truth for a number": ({"train_size": True}, ["train_size takes a whole number, not True"]),
    "a part of a size": ({"train_size": 2.5}, ["train_size takes a whole number, not 2.5"]),
    "text for a number": ({"model": {"depth": "two"}}, ["[model] depth takes a whole number, not 'two'"]),
    "number for truth": ({"model": {"causal": 1}}, ["[model] causal takes true or false, not 1"]),
    "no number": ({"training": {"rate": float("nan")}}, ["[training] rate takes a finite number, not nan"]),
    "a number without end": ({"training": {"rate": 10**400}}, ["[training] rate takes a finite number"]),
    "lists in lists": ({"model": {"depth": [[1]]}}, ["[model] depth takes a whole number, not [1]"]),
    "an axis without values": ({"model": {"depth": []}}, ["[model] depth is empty"]),
    "a year for seeds": ({"seeds": 2024}, ["seeds = 2024", "[2024]"]),
    "no seeds": ({"seeds": 0}, ["seeds = 0"]),
    "seeds twice": ({"seeds": [1, 1]}, ["seeds has 1 twice"]),
    "keep above 1": ({"keep": 99}, ["keep must be a share of items in [0, 1], not 99"]),
    "no threads": ({"threads": 0}, ["threads must be at least 1, not 0"]),
    "no minutes": ({"budget": {"minutes": 0}}, ["[budget] minutes must be above 0, not 0"]),
    "budget of the wrong type": ({"budget": {"runs": 1.5}}, ["[budget] runs takes a whole number, not 1.5"]),
    "a test size too many": ({"test_size": [20, 30]}, ["2 test sizes for 1 training sizes"]),
    "one table for a list": ({"exclude": {"task": "sort"}}, ["exclude must be a list of tables", "[[exclude]]"]),
    "a model that is no table": ({"model": 3}, ["[model] must be a table of keys and values, not 3"]),
    "an empty exclusion": ({"exclude": [{}]}, ["[[exclude]] 1 is empty"]),
    "an exclusion of the wrong type": ({"exclude": [{"depth": "x"}]}, ["[[exclude]] 1 depth takes a whole number"]),
    "an override for nobody": ({"override": [{"items": 3}]}, ["[[override]] 1 does not say which task or position"]),
    "an override of nothing": ({"override": [{"task": "sort"}]}, ["[[override]] 1 does not say what it replaces"]),
    "a name with a slash": ({"name": "a/b"}, ["a folder name", "'a/b'"]),
    "a name of dots": ({"name": ".."}, ["a folder name"]),
    "a name with a blank": ({"name": "a b"}, ["a folder name"]),
    "a long name": ({"name": "a" * 65}, ["up to 64"]),
    "a name of another type": ({"name": 3}, ["a folder name", "not 3"]),
    "half a character": ({"question": "\ud800"}, ["question holds half a character"]),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_cannot_be_meant(name: str) -> None:
    change, parts = WRONG[name]
    with pytest.raises(UsageError) as error:
        Study.from_plain({"name": "x", "tasks": ["sort"], **change})
    assert all(part in str(error.value) for part in parts), str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("missing", ["name", "tasks"])
def test_what_must_be_there(missing: str) -> None:
    with pytest.raises(UsageError, match=f"a study needs {missing}, as in"):
        Study.from_plain({key: "sort" for key in ("name", "tasks") if key != missing})


FILES = {
    "no equals sign": (b'tasks = ["sort"]\nseeds 3\n', ["my.toml, line 2", "'='"]),
    "never closed": (b'seeds = 2\ntasks = ["sort"\n', ["my.toml, line 3"]),
    "a key twice": (b"items = 3\nitems = 4\n", ["my.toml, line 2"]),
    "not UTF-8": (b"items = 3\nquestion = '\xff'\n", ["my.toml, line 2", "UTF-8"]),
    "a number of too many digits": (b"items = " + b"9" * 5000, ["my.toml", "not TOML"]),
    "deep lists": (b"tasks = " + b"[" * 5000, ["my.toml"]),
    "unknown key": (b"tasks = 'sort'\nseed = 3\n", ["my.toml", "'seed'", "did you mean 'seeds'"]),
    "a date": (b"tasks = 2024-01-01", ["my.toml", "tasks takes a text"]),
}


@pytest.mark.parametrize("name", FILES)
def test_bad_files(tmp_path: Path, name: str) -> None:
    content, parts = FILES[name]
    (tmp_path / "my.toml").write_bytes(content)
    with pytest.raises(UsageError) as error:
        Study.read(tmp_path / "my.toml")
    assert all(part in str(error.value) for part in parts), str(error.value)
    assert str(error.value).count("my.toml") == 1 and "\n" not in str(error.value)


def test_names_and_files_that_are_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnknownName, match="unknown study 'quik'; did you mean 'quick'"):
        Study.read("quik")
    with pytest.raises(UsageError, match=r"no\.toml cannot be read: No such file"):
        Study.read("no.toml")
    with pytest.raises(UsageError, match="cannot be read"):
        Study.read(tmp_path)
    (tmp_path / "my study.toml").write_text('tasks = "sort"')
    with pytest.raises(UsageError, match=r"my study\.toml: the name of a study"):
        Study.read("my study.toml")
    (tmp_path / "bare").write_text('tasks = "sort"')
    assert Study.read("bare").name == "bare"


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "deep").mkdir()
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep" / "my.toml").write_text(
        """
tasks = ["sort:alphabet=30", "mine.py::Repeat:letters=3", "../mine.py", "jsonl:path=items.jsonl,size=n",
         "regular:dfa=a.json", "regular:expression=(ab)*",
         "along:task=jsonl:path=x.jsonl;size=n,axis=depth,at=3", "/a.py"]
[[exclude]]
task = "mine.py::Repeat:letters=3"
[[override]]
task = ["../mine.py"]
items = 3
"""
    )
    study = Study.read("deep/my.toml")
    assert study.tasks == (
        "sort:alphabet=30",
        f"{tmp_path}/deep/mine.py::Repeat:letters=3",
        f"{tmp_path}/mine.py",
        f"jsonl:path={tmp_path}/deep/items.jsonl,size=n",
        f"regular:dfa={tmp_path}/deep/a.json",
        "regular:expression=(ab)*",
        f"along:task=jsonl:path={tmp_path}/deep/x.jsonl;size=n,axis=depth,at=3",
        "/a.py",
    )
    assert study.exclude[0]["task"] == (study.tasks[1],) and study.override[0]["task"] == (study.tasks[2],)
    assert Study("x", "mine.py").tasks == ("mine.py",), "in Python a path is the caller's"


texts = st.text(st.characters(codec="utf-8"), max_size=12)
numbers = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)
of_kind: dict[type, st.SearchStrategy[Any]] = {str: texts, int: st.integers(), float: numbers, bool: st.booleans()}


def some(kind: type) -> st.SearchStrategy[Any]:
    """A value alone, or a list of different ones."""
    return of_kind[kind] | st.lists(of_kind[kind], min_size=1, max_size=4, unique=True)


def tables(*required: str, **known: Any) -> st.SearchStrategy[dict[str, Any]]:
    strategies = {key: some(kind) if isinstance(kind, type) else kind for key, kind in known.items()}
    needed = {key: strategies.pop(key) for key in required}
    return st.fixed_dictionaries(needed, optional=strategies)


model, training = tables(**MODEL), tables(**TRAINING)
seeds = st.integers(1, 5) | st.lists(st.integers(), min_size=1, max_size=4, unique=True)
overrides = tables(
    "task", "items", task=str, position=str, items=st.integers(), seeds=seeds, model=model, training=training,
    train_size=int, test_size=st.integers() | st.lists(st.integers(), min_size=1, max_size=3),
)  # fmt: skip
exclusions = tables("seed", seed=int, **{**MODEL, **TRAINING, "task": str, "test_size": int})
studies = tables(
    "name", "tasks", name=st.from_regex(r"[a-z0-9_]{1,20}", fullmatch=True), tasks=str, positions=str, question=texts,
    train_size=int, test_size=st.integers(), items=st.integers(), seeds=seeds, keep=st.floats(0, 1),
    probes=str, analyses=str, threads=st.integers(1, 9), model=model, training=training,
    exclude=st.lists(exclusions, max_size=2), override=st.lists(overrides, max_size=2),
    budget=tables(minutes=st.floats(0.1, 1e6), runs=st.integers(1, 999)),
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(studies)
def test_any_study_can_be_written_and_read_back(content: dict[str, Any]) -> None:
    study = Study.from_plain(content)
    text = study.toml()
    assert Study.from_plain(tomllib.loads(text)) == study, text
    assert Study.from_plain(json.loads(json.dumps(study.plain()))) == study
    assert Study.from_plain(tomllib.loads(text)).toml() == text
    text.encode()
