"""What `lengthwise attentions` does."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
from typing import Any

from lengthwise.cli.commands.tasks import first_line, write_names
from lengthwise.cli.output import write_field, write_object, write_paragraphs
from lengthwise.errors import UsageError
from lengthwise.models.attention import Attention, attentions
from lengthwise.registry import format_spec

_SERVED = {True: "decoders", False: "encoders"}


def run(options: argparse.Namespace) -> int:
    if options.attention is None:
        rows = [(name, first_line(attentions.maker(name))) for name in attentions.names()]
        return write_names("attentions", rows, "`lengthwise attentions forgetting` shows one of them", options)
    content = _about(attentions.make(options.attention))
    if options.json:
        write_object("attentions", content)
        return 0
    print(content["name"])
    write_paragraphs(content["description"])
    print()
    write_field("serves", " and ".join(_SERVED[causal] for causal in content["causal"]))
    write_field("encodings", "all" if content["turned"] else "those that do not turn queries and keys (not rope)")
    if content["settings"]:
        write_field("settings", format_spec({"name": "", **content["settings"]})[1:])
    return 0


def _about(rule: Attention) -> dict[str, Any]:
    return {
        "name": attentions.text_of(rule),
        "description": inspect.getdoc(type(rule)) or "",
        "settings": {field.name: getattr(rule, field.name) for field in dataclasses.fields(rule)},  # pyright: ignore
        "causal": [causal for causal in _SERVED if _serves(rule, causal)],
        "turned": not rule.scores,
    }


def _serves(rule: Attention, causal: bool) -> bool:
    try:
        rule.check(causal)
    except UsageError:
        return False
    return True
