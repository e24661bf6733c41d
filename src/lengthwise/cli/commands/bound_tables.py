"""The tables that several commands below `bound` show: the terms of a sum, and what it rests on."""

from __future__ import annotations

import math
from collections.abc import Iterable

from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption, Table, columns

_ORDER = ("violated", "caveat", "assumed", "checked")

explain({"bound.terms": "Terms of the bound", "bound.rests_on": "What this rests on"})


def terms_table(terms: Iterable[tuple[str, float | None, str]]) -> Table:
    """One row per term: its name, its value in nats and in bits, and how it was computed; none without a value."""
    rows = tuple((name, nats, nats / math.log(2), how) for name, nats, how in terms if nats is not None)
    return Table("bound.terms", columns("term:text | nats | bits | how:text"), rows, sentence("bound.terms"))


def assumptions_table(assumptions: Iterable[Assumption]) -> Table:
    """Every assumption once; those that do not hold come first."""
    once = {one.statement: one.check for one in assumptions}
    rows = tuple((check, statement) for check in _ORDER for statement, found in once.items() if found == check)
    return Table("bound.rests_on", columns("check:text | assumption:text"), rows, sentence("bound.rests_on"))
