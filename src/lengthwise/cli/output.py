"""How results are written: text for people, one schema-versioned object for programs."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lengthwise.measurement.curve import Curve, Point
    from lengthwise.measurement.spread import Spread
    from lengthwise.records import Claim

SCHEMA = 1
_MOST_ROWS = 64
_BAR = 20


def complain(message: str) -> None:
    """One sentence on stderr."""
    print(f"lengthwise: {message}", file=sys.stderr)


def write_object(command: str, content: dict[str, Any]) -> None:
    """The one object of `--json`."""
    print(json.dumps({"schema": SCHEMA, "command": command, **content}, ensure_ascii=False, allow_nan=False))


def write_curve(curve: Curve) -> None:
    """Accuracy at every size with intervals, then bins, then the reach: at most 80 columns."""
    points = curve.points
    step = -(-len(points) // _MOST_ROWS)
    print(f"{curve.task}, position {curve.position}, trained to size {curve.train_size}, seed {curve.seed}")
    print(f"{'size':>9}  {'exact':>6}  {'95 % interval':^15}  {'token':>6}  {'chance':>6}")
    for index, point in enumerate(points):
        if index % step == 0 or index == len(points) - 1:
            print(_row(str(point.size), point) + ("  trained" if point.size <= curve.train_size else ""))
    if step > 1:
        print(f"   (every {step}th of {len(points)} sizes; --json and curve.json have them all)")
    print("\nby bins")
    for point in curve.bins():
        print(_row(f"{point.size}-{point.last}", point))
    print("\n" + reach_sentence(curve.reach()))


def _row(label: str, point: Point) -> str:
    low, high = point.interval.low, point.interval.high
    bar = "█" * round(point.exact * _BAR)
    return (
        f"{label:>9}  {_percent(point.exact)}  {_percent(low)} – {_percent(high)}  {_percent(point.token)}  "
        f"{_percent(point.chance)}  {bar:<{_BAR}}"
    ).rstrip()


def _percent(share: float) -> str:
    """A share in six columns; 100.0 only for a share that is one."""
    text = f"{100 * share:.1f}"
    return f"{'99.9' if text == '100.0' and share < 1 else text:>5}%"


def reach_sentence(reach: Claim) -> str:
    """The one number, in words, with its kind."""
    evidence, interval = reach.evidence, reach.interval
    bar = f"{evidence['threshold']:.0%}"
    if not reach.value:
        return f"reach 0 ({reach.kind}): exact match is below {bar} at the smallest size already"
    at_least = "at least " if evidence["censored"] else ""
    tail = ", the largest size measured" if evidence["censored"] else ""
    assert interval is not None
    return (
        f"reach {at_least}{reach.value} ({reach.kind}; interval {interval.low:.0f} to {interval.high:.0f}): "
        f"exact match is {bar} or more at every size up to {reach.value}{tail}"
    )


def write_spread(spread: Spread) -> None:
    """Several seeds: every seed's reach, then means with their spread."""
    first = (*spread.kept, *spread.discarded)[0]
    print(f"{first.task}, position {first.position}, trained to size {first.train_size}")
    for curve in sorted((*spread.kept, *spread.discarded), key=lambda c: c.seed):
        mark = "" if curve in spread.kept else "  discarded"
        bins = "  ".join(f"{p.size}-{p.last} {_percent(p.exact).strip()}" for p in curve.bins())
        print(f"  seed {curve.seed:<4} reach {curve.reach().value:<5} {bins}{mark}")
    total = len(spread.kept) + len(spread.discarded)
    print(f"{len(spread.kept)} of {total} seeds kept, {len(spread.discarded)} discarded ({spread.rule})")
    for claim in spread.claims():
        evidence = claim.evidence
        sd = f", sd {evidence['sd']:.3g}" if "sd" in evidence else ""
        print(
            f"  {claim.name}: {claim.value:.3g} (from {evidence['low']:.3g} to {evidence['high']:.3g}{sd}; {claim.kind})"
        )
