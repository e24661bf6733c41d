"""From which length on trained attention would be hard: the margin of its logits against length, and its trend.

At a precision of p bits a key whose weight is at most 2^-p of the largest counts as 0, so a query is hard where its
best logit is at least p ln 2 above every key that does not tie with it. In the theory of limit transformers the margin
of a head grows like gamma ln n, which makes attention hard from n = 2^(p/gamma) on; here gamma is the slope that the
margins of a trained head show, and that the trend continues is an assumption.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lengthwise.errors import UsageError
from lengthwise.figures.plots import line_figure
from lengthwise.hardware import current
from lengthwise.messages import explain, sentence
from lengthwise.models.attention import Attention
from lengthwise.models.attention.sharpened import ScalableSoftmax
from lengthwise.models.attention.softmax import Hardmax, LogLength, Softmax, WindowAttention
from lengthwise.probes.hardness.trend import HeadTrend, trend_of
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Assumption, Claim, Interval, Record, Reference, Table, columns

if TYPE_CHECKING:
    from lengthwise.probes.hardness.rows import HeadMargins
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task

BITS = {"float32": 24, "bf16": 8}  # of a significand
_SIZES = 6
_MARGINS = columns(
    "layer:whole | head:whole | size:whole | keys:number keys seen | queries:whole | least | median | hard:share "
    "queries that are hard | tied:share weight-tied keys of a query"
)
_TRENDS = columns(
    "layer:whole | head:whole | margin:number median margin at the largest size | hard:share queries hard there | "
    "slope:number gamma | low:number gamma from | high:number to | length:number hard from (tokens) | trend:text"
)
explain(
    {
        "hardness.title": "Margin of attention against length",
        "hardness.margin": "smallest median margin of a head at size {size} (layer {layer}, head {head})",
        "hardness.first": "length from which half of the queries of a first head would be hard (layer {layer}, head "
        "{head})",
        "hardness.all": "length from which half of the queries of every head would be hard",
        "hardness.bits": "a weight of at most 2^-{bits} of the largest counts as 0, and two logits within 2^-{bits} of "
        "each other tie",
        "hardness.trend": "the median margin of a head continues to grow like a + gamma ln n beyond the {sizes} sizes "
        "that were measured",
        "hardness.items": "the margins are those of {items} test items per size; other inputs may have smaller ones",
        "hardness.answer": "At {bits} bits a query is hard where its margin is at least {needed:.3g}. Of {heads} "
        "heads, {hard} are hard at size {size} for half of their queries or more, {rising} have margins that rise with "
        "the length, {flat} have no clear trend and {falling} have margins that fall.",
        "hardness.note": "heads and layers count from 1; gamma is the slope of the median margin in ln n with its 95 % "
        "interval; a head without a length would not become hard if its trend continued",
        "hardness.rising": "rises",
        "hardness.flat": "no clear trend",
        "hardness.falling": "falls",
        "hardness.hard": "hard already",
        "hardness.needed": "hard at {bits} bits",
        "hardness.head": "layer {layer}, head {head}",
        "hardness.figure": "Median margin of each head by the number of keys seen, and the margin from which a query "
        "is hard.",
    }
)


@probes.register("hardness")
@dataclass(frozen=True)
class HardnessProbe(Probe):
    """From which length on attention would be hard: margins by length, and their trend."""

    needs = ("transformer", "anatomy")
    items: int = 32
    bits: int = 0  # 0: those of the precision that the model computes in

    def __post_init__(self) -> None:
        if not 0 <= self.bits <= 4096:
            raise UsageError(f"bits lie between 1 and 4096, not at {self.bits}")

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:
        """About six sizes, evenly spread by their logarithm, from a third of training on."""
        known = task.sizes(max(2, train_size // 3), test_size) or task.sizes(1, test_size)
        wanted = [known[0] * (known[-1] / known[0]) ** (step / (_SIZES - 1)) for step in range(_SIZES)]
        return sorted({min(known, key=lambda size: abs(size - one)) for one in wanted})

    def measure(self, subject: Subject, context: Context) -> Record:
        from lengthwise.probes.hardness.rows import head_margins

        if context.task is None:
            raise UsageError(f"say which task to ask {subject.name}")
        if len(set(context.sizes)) < 3:
            raise UsageError("a trend of margins takes at least three sizes")
        check_rule(subject.capability("transformer").architecture.attention, subject.name)
        bits = self.bits or BITS[current().precision]
        rows = head_margins(subject, context, self.items, bits)
        return _record(rows, bits, self.items)


def check_rule(rule: Attention, name: str) -> None:
    """Refuse a model whose attention has no margin that decides when it is hard."""
    if isinstance(rule, Softmax | LogLength | ScalableSoftmax):
        return
    if isinstance(rule, Hardmax):
        raise UsageError(f"the attention of {name} is hard at every length: its rule is hardmax")
    if isinstance(rule, WindowAttention):
        raise UsageError(
            f"the queries of {name} see {rule.size} keys at most, so its margins do not depend on the length"
        )
    raise UsageError(
        f"the length from which attention is hard follows from margins under softmax, log_length and ssmax, and {name} "
        f"has {type(rule).__name__}"
    )


def _record(rows: Sequence[HeadMargins], bits: int, items: int) -> Record:
    needed = bits * math.log(2)
    heads: dict[tuple[int, int], list[HeadMargins]] = {}
    for row in rows:
        heads.setdefault((row.layer, row.head), []).append(row)
    trends = {key: trend_of([(math.log(row.keys), row.median) for row in own], needed) for key, own in heads.items()}
    sizes = sorted({row.size for row in rows})
    kinds = [trend.kind for trend in trends.values()]
    counts = {kind: kinds.count(kind) for kind in ("rising", "flat", "falling", "hard")}
    values = {"bits": bits, "needed": needed, "heads": len(heads), "size": sizes[-1], **counts}
    listed = []
    for key, trend in trends.items():
        last, words = heads[key][-1], sentence(f"hardness.{trend.kind}")
        listed.append((*key, last.median, last.hard, trend.slope, trend.low, trend.high, trend.length, words))
    lines = {
        sentence("hardness.head", {"layer": layer, "head": head}): [
            (row.keys, row.median) for row in own if row.median is not None
        ]
        for (layer, head), own in heads.items()
    }
    ends = [min(row.keys for row in rows), max(row.keys for row in rows)]
    lines[sentence("hardness.needed", {"bits": bits})] = [(end, needed) for end in ends]
    title = sentence("hardness.title")
    words, axes = sentence("hardness.figure"), ("keys that a query sees", "median margin of logits")
    return Record(
        "hardness",
        title=title,
        text=(sentence("hardness.answer", values),),
        claims=tuple(_claims(rows, trends, bits, items, sizes)),
        tables=(
            Table("hardness.trends", _TRENDS, tuple(listed), "trends of the heads", sentence("hardness.note")),
            Table(
                "hardness.margins", _MARGINS, tuple(tuple(vars(row).values()) for row in rows), "margins", detail=True
            ),
        ),
        figures=(line_figure("hardness.lines", title, words, axes, lines, logarithmic="x"),),
        data={"bits": bits, "needed": needed, "sizes": sizes},
    )


def _claims(
    rows: Sequence[HeadMargins], trends: dict[tuple[int, int], HeadTrend], bits: int, items: int, sizes: list[int]
) -> list[Claim]:
    shown = Assumption("hardness.items", values={"items": items})
    rounding = Assumption("hardness.bits", values={"bits": bits})
    going = Assumption("hardness.trend", values={"sizes": len(sizes)})
    reference = Reference("izzo2026", "attention is hard from 2^(p/gamma) on; docs/explanation/limit.md, statement 2")
    found: list[Claim] = []
    last = [(row.median, row) for row in rows if row.size == sizes[-1] and row.median is not None]
    if last:
        median, row = min(last, key=lambda pair: pair[0])
        where = {"size": row.size, "layer": row.layer, "head": row.head, "needed": bits * math.log(2)}
        found.append(Claim("hardness.margin", median, "logits", "measured", assumptions=(shown,), evidence=where))
    lengths = {key: trend for key, trend in trends.items() if trend.length is not None}
    if lengths:
        (layer, head), trend = min(lengths.items(), key=lambda pair: pair[1].length or 0.0)
        where = {"layer": layer, "head": head, "gamma": trend.slope, "bits": bits}
        rests = (rounding, going, shown)
        found.append(
            Claim(
                "hardness.first", trend.length, "tokens", "predicted", "holds", trend.interval, rests, reference, where
            )
        )
    never = [list(key) for key, trend in trends.items() if trend.length is None]
    where = {"bits": bits, "never": never}
    rests = (rounding, going, shown)
    if never:
        found.append(Claim("hardness.all", None, "tokens", "predicted", "unknown", None, rests, reference, where))
    else:
        slowest = max(trends.values(), key=lambda trend: trend.length or 0.0)
        interval: Interval | None = slowest.interval
        found.append(
            Claim("hardness.all", slowest.length, "tokens", "predicted", "holds", interval, rests, reference, where)
        )
    return found
