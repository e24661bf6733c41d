"""What `lengthwise shift` does: the distance of two samples and what accounts for it, or every level of a ladder."""

from __future__ import annotations

import argparse

from lengthwise.cli.commands.records import write_grid
from lengthwise.cli.output import width, wrapped, write_list, write_object, written
from lengthwise.errors import CertificateRefused, UsageError
from lengthwise.records import Cell, Claim
from lengthwise.shift.compare import measure_shift
from lengthwise.shift.ladder import NULLS, LadderShift, measure_ladder
from lengthwise.shift.noise import RESAMPLES
from lengthwise.shift.result import Shift
from lengthwise.shift.samples import ITEMS, task_sample
from lengthwise.tasks import tasks

_NUMBERS = 8  # that carry most of the distance, of those that are shown

# What the samples of a ladder are not chosen by.
_NOT_FOR_LADDERS = {
    "second": "a second file",
    "from_sizes": "--from",
    "to_sizes": "--to",
    **{name: f"--{name}" for name in ("resamples", "figure", "method")},
}


def run(options: argparse.Namespace) -> int:
    if options.ladder:
        return _run_ladder(options)
    if options.train_size is not None:
        raise UsageError("--train-size goes with --ladder; a task at two sizes takes --from and --to")
    shift = _measured(options)
    if options.figure is not None:
        from lengthwise.shift.picture import save_picture  # altair

        with written(options.figure, options.quiet):
            save_picture(options.figure, shift)
    if options.json:
        write_object("shift", shift.plain())
    else:
        _write(shift)
    if options.require and shift.transported.certificate.status == "refused":
        raise CertificateRefused(f"the distance was not certified: {shift.transported.certificate.why}")
    return 0


def _measured(options: argparse.Namespace) -> Shift:
    choice = {
        "metric": options.metric,
        "method": "auto" if options.method is None else options.method,
        "resamples": RESAMPLES if options.resamples is None else options.resamples,
        "seed": options.seed or 0,
    }
    sizes = (options.from_sizes, options.to_sizes)
    if options.second is not None:
        if sizes != (None, None) or options.items is not None:
            raise UsageError("--from, --to and --items go with a task, not with two files")
        return measure_shift(options.first, options.second, **choice)
    if None in sizes:
        raise UsageError(
            "give two files, or a task at two sizes as in `lengthwise shift sort --from 10 --to 40`; "
            f"{options.first} is given alone"
        )
    task, items, seed = tasks.make(options.first), options.items or ITEMS, options.seed or 0
    first, second, fit_on = (
        task_sample(task, at, items, seed, role)
        for at, role in ((sizes[0], "first"), (sizes[1], "second"), (sizes[0], "fit"))
    )
    return measure_shift(first, second, **choice, fit_on=fit_on)


def _write(shift: Shift) -> None:
    """The verdict, the distance and its noise, and what accounts for it."""
    print(wrapped(shift.verdict()) + "\n")
    sides = (("first", shift.first), ("second", shift.second))
    rows = [[label, side.items, side.distinct, side.points, side.name] for label, side in sides]
    write_grid(["", "items", "distinct", "points", "name"], rows, (0, 4))
    print()
    claims = {"W1": shift.distance, **{f"- {claim.title}": claim for claim in shift.noise}}
    claims |= {claim.title: claim for claim in (shift.expected, shift.distributions)}
    rows = [_distance(label, claim) for label, claim in claims.items()]
    write_grid(["distance", "value", "95 % interval", "kind"], rows, (0, 3))
    print()
    write_list(_notes(shift), "- ")
    _write_carriers(shift)
    print("\nmost of the distance is between")
    for pair in shift.pairs:
        lead = f"{pair.share:>6.1%} {pair.distance:>9.4g}  "
        print(_cut(lead + pair.first))
        print(_cut(" " * (len(lead) - 2) + "→ " + pair.second))
    print("\npotential (it falls from the first sample to the second)")
    for example in shift.extremes:
        print(_cut(f"{example.potential:>9.4g} {example.sample:<7} {example.text}"))


def _distance(label: str, claim: Claim) -> list[Cell]:
    interval = None if label == "W1" else claim.interval  # which is certified
    ends = f"{interval.low:.4g} to {interval.high:.4g}" if interval else ""
    return [label, claim.value, ends, claim.kind if claim.status == "holds" else claim.status]


def _notes(shift: Shift) -> list[str]:
    """What the numbers rest on, one line each."""
    found, noise = shift.transported, shift.noise[0].evidence
    gap = max(0.0, found.certificate.gap)
    notes = [f"metric {shift.metric}, in {shift.unit}"]
    notes.append(f"method {found.method}, as {found.chosen_because}; gap of its certificate {gap:.1e}")
    constant = shift.facts.get("constant_there") or ()
    if by_value := [name for name in constant if shift.facts["scaled_by"][name] == "value"]:
        notes.append(f"constant in training, so measured in multiples of their value: {', '.join(by_value)}")
    if size := noise.get("items"):
        notes.append(f"the noise is that of {size} items per side, {noise['splits']} splits")
    if shift.unseen > 0:
        notes.append(f"{shift.unseen:.1%} of the tokens of the second sample are unknown to the first")
    if violated := [a.statement for a in shift.distributions.assumptions if a.check == "violated"]:
        notes.append(f"no bound on the distributions is proved, as this does not hold: {'; '.join(violated)}")
    return notes


def _write_carriers(shift: Shift) -> None:
    """The shares of what the metric looks at, and the numbers of both samples; one table where they are the same."""
    shares = {name: f"{share:.1%}" for name, share in shift.shares.items()}
    if shares and not set(shares) <= {number.name for number in shift.numbers}:
        print()
        write_grid(["carries the distance", "share"], list(shares.items())[:_NUMBERS])
    if not shift.numbers:
        return
    rows = [
        [n.name, shares.get(n.name), n.first, n.second, n.distance]
        for n in sorted(shift.numbers, key=lambda n: -shift.shares.get(n.name, 0.0))[:_NUMBERS]
    ]
    print()
    write_grid(["number", "share", "first", "second", "W1 alone"], rows)


def _cut(line: str) -> str:
    return line if len(line) <= width() else line[: width() - 1] + "…"


def _run_ladder(options: argparse.Namespace) -> int:
    """How far every level of a task's ladder is from training, in one metric."""
    for name, shown in _NOT_FOR_LADDERS.items():
        if getattr(options, name) is not None:
            raise UsageError(f"--ladder draws all its samples itself, so {shown} is not taken")
    if options.train_size is None:
        raise UsageError("--ladder needs --train-size, the largest size of training, as in `--ladder --train-size 3`")
    task, items = tasks.make(options.first), ITEMS if options.items is None else options.items
    found = measure_ladder(task, options.train_size, (options.metric,), items, options.seed or 0)
    if options.json:
        claims = [claim.plain() for claim in found.claims()]
        write_object("shift", {"train_size": options.train_size, "levels": found.plain(), "claims": claims})
    else:
        _write_ladder(found)
    return 0


def _write_ladder(found: LadderShift) -> None:
    training, rows = found.levels[0], []
    beside = f"where two samples of training are {training.null:.4g} apart"
    print(wrapped(f"{training.task}: {training.items} items per level, metric {training.metric}, {beside}.") + "\n")
    for before, level in zip((training, *found.levels), found.levels, strict=False):
        if level.axis != before.axis:
            rows.append([""] * 5)
        ratio = f"{level.ratio:.2f}" if level.null > 0 else "–"  # nothing to be measured in
        ends = f"{level.low:.4g} to {level.high:.4g}"
        rows.append([level.name, level.w1, level.null, ratio, ends])
    write_grid(["level", "W1", "null", "W1/null", "95 % interval"], rows)
    print()
    notes = [
        f"W1 in {training.unit}: certified distance of two samples",
        f"null: measured, the mean of {NULLS} pairs of samples of training; it falls as items grow, so ratios are for "
        f"{training.items} items",
        "interval: measured, of the W1 of the distributions, which is smaller than that of samples on average",
    ]
    write_list(notes, "- ")
