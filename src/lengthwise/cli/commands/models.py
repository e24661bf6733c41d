"""What `lengthwise models` does."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
from typing import Any

from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.commands.tasks import first_line, write_names
from lengthwise.cli.output import write_field, write_object, write_paragraphs
from lengthwise.limits import check_reach
from lengthwise.models.architecture import Architecture
from lengthwise.models.model import Model
from lengthwise.models.named import models, plain_model
from lengthwise.registry import settings_of
from lengthwise.runs.plan import plan_for
from lengthwise.studies.reach import plan_memory


def run(options: argparse.Namespace) -> int:
    if options.model is None:
        rows = [(name, first_line(models.maker(name))) for name in models.names()]
        return write_names("models", rows, "`lengthwise models delta` shows one with its settings", options)
    content = _about(models.make(options.model), options)
    if options.json:
        write_object("models", content)
        return 0
    print(content["name"])
    write_paragraphs(content["description"])
    print()
    reads = {True: "decoder: reads from left to right", False: "encoder: reads everything at once"}
    writes = {True: "keeps what it has read", False: "reads all tokens again for each that it writes"}
    write_field("kind", reads[content["causal"]])
    if content["causal"]:
        write_field("generation", writes[content["stateful"]])
    write_field("parameters", f"{content['parameters']:,} on {content['task']}")
    if content["settings"]:
        print()
        write_grid(("setting", "value", "meaning"), [list(one.values()) for one in content["settings"]], (0, 2))
    return 0


def _about(model: Model, options: argparse.Namespace) -> dict[str, Any]:
    plan = plan_for(options.task, settings={"model": model})
    check_reach(f"a model {models.text_of(model)}", memory=plan_memory(plan))
    network = model.build(plan.interface())
    known = settings_of(type(model)) if dataclasses.is_dataclass(model) else {}
    shown = {name: value for name, value in plain_model(model).items() if name in known}
    return {
        "name": models.text_of(model),
        "description": inspect.getdoc(type(model)) or "",
        "settings": [{"name": name, "value": value, "meaning": known[name].words} for name, value in shown.items()],
        "causal": model.causal,
        "stateful": isinstance(model, Architecture) or hasattr(network, "step"),
        "task": plan.task_name,
        "parameters": sum(one.numel() for one in network.parameters()),
    }
