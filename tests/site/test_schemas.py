"""The published JSON Schemas are those of the code: what is written fits them, and what is damaged does not."""

from __future__ import annotations

import copy
import importlib.util
import json
import tomllib
from collections.abc import Callable
from types import ModuleType
from typing import Any

import jsonschema
import pytest

from lengthwise.records import Assumption, Claim, Column, Figure, Interval, Record, Reference, Table
from lengthwise.tasks.languages.dfa import Dfa
from site_texts import DOCS, ROOT, blocks, pages
from small_runs import trained

FOLDER = DOCS / "reference" / "schemas"


@pytest.fixture(scope="module")
def maker() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_schemas", DOCS / "make_schemas.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def validator(name: str) -> jsonschema.Draft202012Validator:
    schema = json.loads((FOLDER / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def full_record() -> dict[str, Any]:
    claim = Claim(
        "my.key", 3, "tokens", "measured", interval=Interval(2, float("inf")), reference=Reference("huang2025"),
        assumptions=(Assumption("my.other", "checked", {"n": 3}), Assumption("my.third")), evidence={"items": 7},
    )  # fmt: skip
    table = Table("my.table", (Column("task", "text"), Column("share")), (("sort", 0.5), ("copy", None)))
    figure = Figure("my.figure", {"mark": "line"}, {"points": [{"x": 1, "y": float("inf")}]})
    return Record("my", {"items": 7}, "Title", ("A sentence.",), (claim,), (table,), (figure,), {"a": [1, 2]}).plain()


def test_the_published_files_are_those_of_the_code(maker: ModuleType) -> None:
    made = {f"{name}.schema.json": maker.text_of(schema) for name, schema in maker.schemas().items()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in FOLDER.iterdir()}
    assert kept == made, "run `python docs/make_schemas.py`"


def test_every_schema_is_on_a_page() -> None:
    text = "".join(pages().values())
    for path in FOLDER.iterdir():
        assert f"](schemas/{path.name})" in text


def test_a_record_with_everything_fits() -> None:
    check = validator("record")
    check.validate(full_record())
    check.validate(Record("empty").plain())


@pytest.mark.parametrize(
    "damage",
    [
        lambda record: record.pop("claims"),
        lambda record: record.update(schema=99),
        lambda record: record.update(more=1),
        lambda record: record["claims"][0].update(kind="believed"),
        lambda record: record["claims"][0]["interval"].update(low="2"),
        lambda record: record["claims"][0]["assumptions"][1].pop("statement"),
        lambda record: record["tables"][0]["columns"][0].update(type="colour"),
    ],
)
def test_a_damaged_record_does_not_fit(damage: Callable[[dict[str, Any]], Any]) -> None:
    record = copy.deepcopy(full_record())
    damage(record)
    assert not validator("record").is_valid(record)


@pytest.mark.parametrize("path", sorted((ROOT / "src/lengthwise/studies/builtin").glob("*.toml")), ids=lambda p: p.stem)
def test_built_in_studies_fit(path: Any) -> None:
    validator("study").validate(tomllib.loads(path.read_text(encoding="utf-8")))


def test_a_study_with_an_unknown_key_does_not_fit() -> None:
    check = validator("study")
    assert check.is_valid({"tasks": ["sort"], "model": {"depth": [1, 2]}})
    for wrong in ({"task": ["sort"]}, {"tasks": ["sort"], "model": {"deepth": 2}}, {"tasks": ["sort"], "seeds": []}):
        assert not check.is_valid(wrong)


def test_automata_on_the_page_fit_and_are_read(tmp_path: Any) -> None:
    found = blocks(pages()["reference/dfa.md"], "json")
    assert found
    for text in found:
        validator("dfa").validate(json.loads(text))
        (tmp_path / "automaton.json").write_text(text)
        assert Dfa.from_json(tmp_path / "automaton.json").alphabet
    assert not validator("dfa").is_valid({"alphabet": [], "start": 0, "accepting": [], "transitions": {}})


@pytest.mark.system
def test_what_a_run_leaves_fits(tmp_path: Any) -> None:
    folder = trained(tmp_path / "run", "sort")
    validator("run").validate(json.loads((folder / "run.json").read_text()))
    for path in (folder / "records").iterdir():
        validator("record").validate(json.loads(path.read_text()))
