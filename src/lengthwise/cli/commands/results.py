"""Curves and spreads as text: what `train` and `measure` print."""

from __future__ import annotations

from itertools import groupby
from pathlib import Path

from lengthwise.cli.commands.records import write_grid, write_record
from lengthwise.cli.output import wrapped, written
from lengthwise.figures.curves import save_figure
from lengthwise.probes.curve.curve import Curve, Point, learned_sentence, reach_sentence, rounded_percent
from lengthwise.probes.curve.spread import GROUPS, Spread
from lengthwise.records import Record

_MOST_SIZES = 64
_BAR = 16
_POINT = ("size", "exact", "95 % interval", "token", "chance")


def draw_curves(name: str | None, curves: list[Curve], quiet: bool) -> None:
    """Draw curves into a file, if one was asked for."""
    if name is not None:
        with written(name, quiet):
            save_figure(Path(name), [curve.plain() for curve in curves])


def write_curve(curve: Curve) -> None:
    """First that the run has not learned, if so; then accuracy at every size with intervals, bins and the reach."""
    if said := learned_sentence(curve):
        print(wrapped(said) + "\n")
    points = curve.points
    step = -(-len(points) // _MOST_SIZES)
    print(wrapped(f"{curve.title}, seed {curve.seed}"))
    some = [point for index, point in enumerate(points) if index % step == 0 or index == len(points) - 1]
    rows = [[*_cells(str(point.size), point), "trained" if point.size <= curve.train_size else ""] for point in some]
    write_grid([*_POINT, "", ""], rows, (5, 6))
    if step > 1:
        print(f"(one size in {step} of {len(points)}; --json has them all)")
    print("\nby bins")
    write_grid([*_POINT, ""], [_cells(f"{point.size}-{point.last}", point) for point in curve.bins()], (5,))
    print("\n" + wrapped(reach_sentence(curve.reach())))


def _cells(label: str, point: Point) -> list[str]:
    interval = f"{percent(point.interval.low)} – {percent(point.interval.high):>6}"
    guessed = ("≈" if point.chance_error else "") + percent(point.chance)
    return [label, percent(point.exact), interval, percent(point.token), guessed, "█" * round(point.exact * _BAR)]


def percent(share: float) -> str:
    """A share; 100.0 only for one that is one, 0.0 only for one that is nought."""
    return f"{rounded_percent(share)}%"


def write_spread(spread: Spread) -> None:
    """Several seeds: every seed's reach, then the means with their spread."""
    curves = sorted((*spread.kept, *spread.discarded), key=lambda curve: curve.seed)
    first = curves[0]
    if not spread.kept or not first.certain:
        print(wrapped(learned_sentence(first) or f"no seed is kept: {spread.rule}") + "\n")
    print(wrapped(first.title))
    rows = []
    for curve in curves:
        bins, reach = curve.bins(), curve.reach()
        mark = "" if curve in spread.kept else "not learned" if curve.standing().learned is False else "discarded"
        far = f"{'≥' if reach.evidence['censored'] else ''}{reach.value or 0}"
        rows.append([str(curve.seed), far, percent(bins[0].exact), percent(bins[-1].exact), mark])
    write_grid(["seed", "reach", "in range", "last bin", ""], rows, (4,))
    print(wrapped(f"{len(spread.kept)} of {len(curves)} seeds kept, {len(spread.discarded)} discarded ({spread.rule})"))
    for group, claims in groupby(spread.claims(), key=lambda claim: claim.key.rpartition(".")[2]):
        rows = []
        for claim in claims:
            evidence = claim.evidence
            what = f"exact match, sizes {evidence['first']} to {evidence['last']}" if "first" in evidence else "reach"
            values = (claim.value, *map(evidence.get, ("sd", "low", "high")))
            rows.append([what, *(_cell(value, claim.unit) for value in values), claim.kind])
        print()
        write_grid([f"mean over {GROUPS[group]}", "mean", "sd", "least", "most", ""], rows, (0, 5))
    if held := sum(bool(curve.reach().evidence["censored"]) for curve in curves):
        most = f"{held} of {len(curves)} seeds hold to the largest size measured: the mean reach is a lower bound"
        print("\n" + wrapped(most))


def _cell(value: object, unit: str) -> str:
    """A number of a table: sizes as they are, shares in per cent, nothing for what one seed cannot tell."""
    if not isinstance(value, int | float):
        return "–"
    return f"{value:.1f}" if unit else percent(value)


def write_records(records: list[Record], where: str) -> None:
    """Curves as a picture in letters, every other record as the one writer prints it."""
    for record in records:
        if record.source != "curve":
            write_record(record, where)
            continue
        write_curve(Curve.from_record(record))
        if record.settings.get("grid") == "geometric":
            print(wrapped(record.text[-1]))
        for claim in record.claims:
            if claim.key == "curve.generated":
                print(f"written token by token: {claim.evidence['agree']} of {claim.evidence['items']} items agree")
