"""Write docs/reference/schemas/*.schema.json: JSON Schemas of what lengthwise writes and reads, from types in the code.

python docs/make_schemas.py
"""

from __future__ import annotations

import dataclasses
import json
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from lengthwise import records
from lengthwise.cli import output
from lengthwise.runs import plan
from lengthwise.studies import form
from lengthwise.studies.spec import Study
from lengthwise.training.loop import History

FOLDER = Path(__file__).parent / "reference" / "schemas"
DRAFT = "https://json-schema.org/draft/2020-12/schema"
_PLAIN = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}
# What a part of a record is called in JSON where that differs from its field, and what only JSON has.
_STORED = {"Claim": {"stored": "title"}, "Assumption": {"stored": "statement"}}
_OPTIONAL = {"Assumption": ("values",)}
_PARTS = (records.Interval, records.Assumption, records.Reference, records.Column, records.Table, records.Figure)


def schema_of(kind: Any) -> dict[str, Any]:
    """The schema of a type: plain types, literals, unions, sequences, mappings, and parts of records."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if kind is Any:
        return {}
    if kind in _PLAIN:
        return {"type": _PLAIN[kind]}
    if dataclasses.is_dataclass(kind):
        return {"$ref": f"#/$defs/{kind.__name__}"}
    if origin is typing.Literal:
        return {"enum": list(inner)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [schema_of(one) for one in inner]}
    if origin is tuple and inner[-1] is not Ellipsis:
        return {
            "type": "array",
            "prefixItems": [schema_of(one) for one in inner],
            "minItems": len(inner),
            "items": False,
        }
    if origin in (tuple, list, Sequence):
        return {"type": "array", "items": schema_of(inner[0])}
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    raise TypeError(f"no schema for {kind}")


def object_of(cls: type, name: str = "") -> dict[str, Any]:
    """The schema of a dataclass whose fields are all written."""
    kinds, called = typing.get_type_hints(cls), _STORED.get(cls.__name__, {})
    names = [field.name for field in dataclasses.fields(cls)]
    properties = {called.get(one, one): schema_of(kinds[one]) for one in names}
    left_out = _OPTIONAL.get(cls.__name__, ())
    return _object(properties, [one for one in properties if one not in left_out], name or _first(cls.__doc__))


def _object(properties: Mapping[str, Any], required: Sequence[str], words: str) -> dict[str, Any]:
    start = {"type": "object", "description": words}
    return {**start, "properties": dict(properties), "required": list(required), "additionalProperties": False}


def _first(text: str | None) -> str:
    """The first sentence of a docstring."""
    return " ".join((text or "").split()).partition(". ")[0].rstrip(".") + "."


def _document(name: str, title: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"$schema": DRAFT, "$id": f"{name}.schema.json", "title": title, **body}


def record_schema() -> dict[str, Any]:
    """A record: what a probe or an analysis writes, `records/NAME.json` in a run's folder."""
    parts = {cls.__name__: object_of(cls) for cls in (records.Claim, *_PARTS)}
    for end in ("low", "high"):  # JSON has no infinity
        parts["Interval"]["properties"][end] = {"type": ["number", "null"]}
    whole = object_of(records.Record)
    whole["properties"] = {"schema": {"const": records.SCHEMA}, **whole["properties"]}
    whole["required"] = ["schema", *whole["required"]]
    return _document("record", "A record of lengthwise", {**whole, "$defs": parts})


def run_schema() -> dict[str, Any]:
    """run.json: everything that decided a run, what happened in training, and checksums."""
    number, text, anything = {"type": "integer"}, {"type": "string"}, {"type": "object"}
    planned = _object(
        {
            "schema": {"const": plan.SCHEMA},
            "task": anything,
            "model": anything,
            "recipe": anything,
            **{name: {"type": "integer", "minimum": 1} for name in ("train_size", "test_size", "items")},
            "seed": number,
            "probes": {"type": "array", "items": anything},
            "start": anything,
        },
        ("schema", "task", "model", "recipe", "train_size", "test_size", "items", "seed", "probes"),
        "Everything that decided the run.",
    )
    checksums = {"type": "object", "additionalProperties": {"type": "string", "pattern": "^[0-9a-f]{64}$"}}
    made = {name: anything if name == "packages" else {} for name in ("lengthwise", "python", "packages", "device")}
    whole = _object(
        {
            "schema": {"const": plan.SCHEMA},
            "digest": {"type": "string", "pattern": "^[0-9a-f]{8}$"},
            "plan": planned,
            "history": object_of(History),
            "environment": {"type": "object", "properties": made, "required": list(made)},
            "files": checksums,
            "records": {"type": "object", "additionalProperties": anything},
            "sha256": text,
        },
        ("schema", "digest", "plan", "history", "environment", "files", "records", "sha256"),
        "A finished run. Its folder is complete when this file exists.",
    )
    return _document("run", "run.json", whole)


def study_schema() -> dict[str, Any]:
    """A study file, as the object that TOML holds; presets hold the same keys."""
    text, whole, number = ({"type": kind} for kind in ("string", "integer", "number"))
    sizes = _several({"type": "integer", "minimum": 1})
    model = _object({name: _several(schema_of(kind)) for name, kind in form.MODEL.items()}, (), "Axes of the model.")
    training = _object(
        {name: _several(schema_of(kind)) for name, kind in form.TRAINING.items()}, (), "Axes of training."
    )
    budget = {"minutes": {**number, "exclusiveMinimum": 0}, "runs": {**whole, "minimum": 1}}
    known = {
        "question": text,
        "tasks": _several(text),
        "positions": _several(text),
        "train_size": sizes,
        "test_size": sizes,
        "items": {**whole, "minimum": 1},
        "seeds": _several({**whole, "minimum": 0}),
        "keep": {**number, "minimum": 0, "maximum": 1},
        "threads": {**whole, "minimum": 1},
        "budget": _object(budget, (), "The most a study may take."),
        "probes": _several(text),
        "analyses": _several(text),
        "model": {"anyOf": [_several(text), model]},
        "training": training,
        "exclude": {"type": "array", "items": {"type": "object"}},
        "override": {"type": "array", "items": {"type": "object"}},
    }
    missing = {field.name for field in dataclasses.fields(Study)} - {*known, "name"}
    assert not missing, f"the schema of a study lacks {missing}"
    presets = {"type": "object", "additionalProperties": _object(known, (), "Keys that this preset overrides.")}
    content = _object({**known, "name": text, "preset": presets}, ("tasks",), "A study: a grid of runs.")
    return _document("study", "A study file", content)


def _several(one: Mapping[str, Any]) -> dict[str, Any]:
    """One value, or a list of at least one."""
    return {"anyOf": [dict(one), {"type": "array", "items": dict(one), "minItems": 1}]}


def dfa_schema() -> dict[str, Any]:
    """A deterministic automaton, as `--dfa FILE` reads it."""
    state = {"type": ["string", "integer"]}
    row = {"type": "object", "additionalProperties": state}
    parts = {
        "alphabet": {"type": "array", "items": {"type": ["string", "integer"]}, "minItems": 1, "uniqueItems": True},
        "start": state,
        "accepting": {"type": "array", "items": state},
        "transitions": {"type": "object", "additionalProperties": row, "minProperties": 1},
    }
    content = _object(parts, list(parts), "A complete automaton: every state has a transition for every letter.")
    return _document("dfa", "An automaton", {**content, "additionalProperties": True})


def output_schema() -> dict[str, Any]:
    """What every command prints with `--json`."""
    parts = {"schema": {"const": output.SCHEMA}, "command": {"type": "string"}}
    told = (
        "One object. Records among its values follow record.schema.json. A command whose whole result is one record, "
        "such as `forecast`, prints the keys of that record next to `command`."
    )
    content = _object(parts, list(parts), told)
    return _document("output", "The object of --json", {**content, "additionalProperties": True})


def schemas() -> dict[str, dict[str, Any]]:
    """All of them by their names."""
    makers = (record_schema, run_schema, study_schema, dfa_schema, output_schema)
    return {maker.__name__.removesuffix("_schema"): maker() for maker in makers}


def text_of(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, schema in schemas().items():
        (FOLDER / f"{name}.schema.json").write_text(text_of(schema), encoding="utf-8")
