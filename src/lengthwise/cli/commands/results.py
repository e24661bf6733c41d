"""Curves and spreads as text: what `train` and `measure` print."""

from __future__ import annotations

from itertools import groupby

from lengthwise.cli.commands.records import write_record
from lengthwise.cli.output import wrapped
from lengthwise.probes.curve.curve import Curve, Point, learned_sentence, reach_sentence, rounded_percent
from lengthwise.probes.curve.spread import GROUPS, Spread
from lengthwise.records import Record

_MOST_ROWS = 64
_BAR = 16
_SPREAD = ("sd", "low", "high")

_HEAD = f"{'size':>9}  {'exact':>6}  {'95 % interval':^15}  {'token':>6}  {'chance':>6}"


def write_curve(curve: Curve) -> None:
    """First that the run has not learned, if so; then accuracy at every size with intervals, bins and the reach."""
    if said := learned_sentence(curve):
        print(wrapped(said) + "\n")
    points = curve.points
    step = -(-len(points) // _MOST_ROWS)
    print(wrapped(f"{curve.task}, position {curve.position}, trained to size {curve.train_size}, seed {curve.seed}"))
    print(_HEAD)
    for index, point in enumerate(points):
        if index % step == 0 or index == len(points) - 1:
            print(_row(str(point.size), point, "trained" if point.size <= curve.train_size else ""))
    if step > 1:
        print(f"(one size in {step} of {len(points)}; --json has them all)")
    print("\nby bins")
    for point in curve.bins():
        print(_row(f"{point.size}-{point.last}", point))
    print("\n" + wrapped(reach_sentence(curve.reach())))


def _row(label: str, point: Point, mark: str = "") -> str:
    interval = f"{percent(point.interval.low)} – {percent(point.interval.high)}"
    bar = "█" * round(point.exact * _BAR)
    guessed = f"{('≈' if point.chance_error else '') + percent(point.chance).strip():>6}"
    return (
        f"{label:>9}  {percent(point.exact)}  {interval}  {percent(point.token)}  {guessed}  {bar:<{_BAR}}  {mark}"
    ).rstrip()


def percent(share: float) -> str:
    """A share in six columns; 100.0 only for a share that is one, 0.0 only for one that is nought."""
    return f"{rounded_percent(share):>5}%"


def write_spread(spread: Spread) -> None:
    """Several seeds: every seed's reach, then the means with their spread."""
    curves = sorted((*spread.kept, *spread.discarded), key=lambda curve: curve.seed)
    first = curves[0]
    if not spread.kept or not first.certain:
        print(wrapped(learned_sentence(first) or f"no seed is kept: {spread.rule}") + "\n")
    print(wrapped(f"{first.task}, position {first.position}, trained to size {first.train_size}"))
    print(f"{'seed':>9}  {'reach':>6}  in range  last bin")
    for curve in curves:
        bins = curve.bins()
        shares = f"{percent(bins[0].exact):>8}  {percent(bins[-1].exact):>8}"
        mark = "" if curve in spread.kept else "  not learned" if curve.standing().learned is False else "  discarded"
        reach = f"{'≥' if curve.reach().evidence['censored'] else ''}{curve.reach().value or 0}"
        print(f"{curve.seed:>9}  {reach:>6}  {shares}{mark}")
    print(wrapped(f"{len(spread.kept)} of {len(curves)} seeds kept, {len(spread.discarded)} discarded ({spread.rule})"))
    for group, claims in groupby(spread.claims(), key=lambda claim: claim.key.rpartition(".")[2]):
        print(f"\n{'mean over ' + GROUPS[group]:<34}  {'mean':>6}  {'sd':>6}  {'least':>6}  {'most':>6}")
        for claim in claims:
            evidence = claim.evidence
            what = f"exact match, sizes {evidence['first']} to {evidence['last']}" if "first" in evidence else "reach"
            cells = "  ".join(_cell(value, claim.unit) for value in (claim.value, *map(evidence.get, _SPREAD)))
            print(f"  {what:<32}  {cells}  {claim.kind}")
    if held := sum(bool(curve.reach().evidence["censored"]) for curve in curves):
        print(
            wrapped(
                f"\n{held} of {len(curves)} seeds hold to the largest size measured: the mean reach is a lower bound"
            )
        )


def _cell(value: object, unit: str) -> str:
    """A number of a table: sizes as they are, shares in per cent, nothing for what one seed cannot tell."""
    if not isinstance(value, int | float):
        return f"{'–':>6}"
    return f"{value:>6.1f}" if unit else percent(value)


def write_records(records: list[Record]) -> None:
    """Curves as a picture in letters, every other record as the one writer prints it."""
    for record in records:
        if record.source != "curve":
            write_record(record)
            continue
        write_curve(Curve.from_record(record))
        for claim in record.claims:
            if claim.key == "curve.generated":
                print(f"written token by token: {claim.evidence['agree']} of {claim.evidence['items']} items agree")
