"""The contract of a probe, as a test."""

from __future__ import annotations

import json
from typing import Any

from lengthwise.records import Record
from lengthwise.testing.rules import check_settings


def check_probe(probe: Any, subject: Any = None, context: Any = None) -> None:
    """Raise AssertionError unless `probe` keeps the contract of `lengthwise.probes.Probe`.

    Checked: it is a frozen dataclass of settings, and `needs` names capabilities. With a subject and a context also
    what `measure` gives: a `Record` that reads back from its JSON, and is equal when measured again.
    """
    check_settings(probe, "a probe")
    needs = getattr(probe, "needs", None)
    assert isinstance(needs, tuple) and all(isinstance(name, str) for name in needs), (
        f"`needs` is a tuple of names of capabilities, such as ('answers',), not {needs!r}"
    )
    if subject is None:
        return
    record = probe.measure(subject, context)
    check_record(record)
    assert probe.measure(subject, context).plain() == record.plain(), "the same question has the same answer again"


def check_record(record: Any) -> None:
    """Raise AssertionError unless this is a `Record` that reads back from its JSON."""
    assert isinstance(record, Record), f"`measure` gives a lengthwise.records.Record, not a {type(record).__name__}"
    assert record.source, "a record names its source"
    try:
        text = json.dumps(record.plain(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"a record holds plain data that JSON can hold: {error}") from error
    assert Record.from_plain(json.loads(text)).plain() == json.loads(text), "a record reads back from its JSON"
