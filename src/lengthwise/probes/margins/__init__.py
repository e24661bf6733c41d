"""The probe `margins`: how clearly attention prefers its best key."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean, median
from typing import TYPE_CHECKING

from lengthwise.figures.plots import heat_figure
from lengthwise.probes.probe import probes
from lengthwise.probes.shown import Look, WeightsProbe
from lengthwise.records import Cell, Column, Record, Table

if TYPE_CHECKING:
    from lengthwise.probes.margins.head_margins import AttentionMargin

_BLOCK, _HEAD, _QUERIES = Column("block", "whole"), Column("head", "whole"), Column("queries", "whole")
_MEASURES = (Column("least"), Column("median"), Column("ties", "share"), Column("weight", title="weight on best"))


@probes.register("margins")
@dataclass(frozen=True)
class MarginsProbe(WeightsProbe):
    """By how much the best key of a query beats the second best, for each head."""

    title = "Margins of attention"

    def answer(self, look: Look) -> Record:
        from lengthwise.probes.margins.head_margins import margins

        found = margins(look.anatomy, look.trace)
        by_layer: dict[int, list[AttentionMargin]] = {}
        for head in found.heads:
            by_layer.setdefault(head.layer, []).append(head)
        rows = tuple((layer, *_summary(heads)) for layer, heads in by_layer.items())
        every = tuple((h.layer, h.head, h.queries, h.least, h.median, h.ties, h.weight) for h in found.heads)
        text = (
            "The margin of a query is its largest attention logit minus its second largest, over the keys it sees. Two "
            f"logits that differ by no more than rounding ({found.tolerance:.0e} of their size) tie and have none.",
        )
        cells = [(h.head, h.layer, h.median) for h in found.heads if h.median is not None]
        title, words = "Median margin by block and head", f"The median margin of each of {len(found.heads)} heads."
        note = "least over its heads; median of its heads' medians; means"
        return self.record(
            text=text,
            claims=tuple(found.claims()),
            tables=(
                Table("margins.by_block", (_BLOCK, *_MEASURES), rows, "Margins by block", note),
                Table("margins.by_head", (_BLOCK, _HEAD, _QUERIES, *_MEASURES), every, "Margins by head", detail=True),
            ),
            figures=(heat_figure("margins.medians", title, words, ("head", "block"), cells),) if cells else (),
        )


def _summary(heads: list[AttentionMargin]) -> tuple[Cell, ...]:
    least = [head.least for head in heads if head.least is not None]
    middle = [head.median for head in heads if head.median is not None]
    means = fmean(head.ties for head in heads), fmean(head.weight for head in heads)
    return (min(least) if least else None, median(middle) if middle else None, *means)
