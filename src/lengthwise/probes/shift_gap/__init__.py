"""The probe `shift_gap`: what moving all positions does to the outputs of a model."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.figures.plots import line_figure
from lengthwise.probes.probe import probes
from lengthwise.probes.shown import Look, WeightsProbe
from lengthwise.records import Column, Record, Table

_COLUMNS = (
    Column("s", "whole"),
    Column("gap"),
    Column("share", title="gap / output"),
    Column("changed", "share", "best changed"),
)


@probes.register("shift_gap")
@dataclass(frozen=True)
class ShiftGapProbe(WeightsProbe):
    """How much outputs change when all positions move and nothing else changes."""

    title = "Shift gap"

    def answer(self, look: Look) -> Record:
        from lengthwise.probes.shift_gap.gap import shift_gap

        found = shift_gap(look.anatomy, look.inputs.tokens)
        told = "no shift changes an output by more than rounding" if found.invariant else "outputs change"
        text = (
            f"The change of the output when all positions move by s and nothing else changes: {told} "
            f"(rounding: up to {found.tolerance:.1g}).",
            "An index shift is not a longer input, so a gap of 0 does not promise that longer inputs go well.",
        )
        rows = tuple((r.shift, r.gap, r.share, r.changed) for r in found.rows)
        note = (
            "gap: largest l2 change of an output vector; output: root mean square of their norms; best changed: share "
            "of tokens whose best-scored output becomes another"
        )
        figure = line_figure(
            "shift_gap.share",
            "Shift gap relative to the size of outputs",
            f"The largest change is {found.worst.share:.3g} of the size of outputs, at a shift of {found.worst.shift}.",
            ("shift", "gap / output"),
            {"gap / output": [(r.shift, r.share) for r in found.rows]},
            "x",
        )
        return self.record(
            text=text,
            claims=tuple(found.claims()),
            tables=(Table("shift_gap.by_shift", _COLUMNS, rows, "Shift gap", note),),
            figures=() if found.invariant or len(rows) < 2 else (figure,),
        )
