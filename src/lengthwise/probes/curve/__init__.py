"""Accuracy by size: exact match with intervals, and the reach, the largest size up to which it stays at 95 %."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject


@probes.register("curve")
@dataclass(frozen=True)
class CurveProbe(Probe):
    """Exact match at every size, and the reach.

    With `generate` the answers are also written token by token, and the share of items on which the two agree is a
    claim of its own.
    """

    needs = ("answers",)
    generate: bool = False

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.curve.evaluate import measure_curve

        if context.task is None:
            raise UsageError(f"say which task to ask {subject.name}")
        record = measure_curve(subject, context).record()
        record = dataclasses.replace(record, text=(*record.text, *subject.remarks(context.task)))
        if self.generate:
            from lengthwise.probes.curve.greedy import agreement

            claim = agreement(subject, context)
            record = dataclasses.replace(record, claims=(*record.claims, claim))
        return record
