"""A shift as text: the verdict, the distance and its noise, and what accounts for it."""

from __future__ import annotations

from lengthwise.cli.output import width, wrapped
from lengthwise.records import Claim
from lengthwise.shift.result import Shift, Side

_NUMBERS = 8
_LABEL = 28


def write_shift(shift: Shift) -> None:
    """Everything a person wants to see, in 80 columns."""
    print(wrapped(shift.verdict()))
    print(f"\n{'':8}{'items':>8}{'distinct':>10}{'points':>8}  name")
    for label, side in (("first", shift.first), ("second", shift.second)):
        print(_side(label, side))
    print(f"\n{'distance':<{_LABEL}}{'value':>9}  {'95 % interval':^21}  kind")
    print(_row("W1", shift.distance, interval=False))
    for claim in shift.noise:
        print(_row(f"  {claim.title}", claim))
    for claim in (shift.expected, shift.distributions):
        print(_row(claim.title, claim))
    _write_notes(shift)
    _write_carriers(shift)
    _write_examples(shift)


def _side(label: str, side: Side) -> str:
    name = _cut(side.name, width() - 36)
    return f"{label:<8}{side.items:>8,}{side.distinct:>10,}{side.points:>8,}  {name}"


def _row(label: str, claim: Claim, interval: bool = True) -> str:
    value = "–" if claim.value is None else f"{float(claim.value):.4g}"
    ends = f"{claim.interval.low:.4g} to {claim.interval.high:.4g}" if interval and claim.interval else ""
    kind = claim.kind if claim.status == "holds" else claim.status
    return f"{label:<{_LABEL}}{value:>9}  {ends:^21}  {kind}".rstrip()


def _write_notes(shift: Shift) -> None:
    """What the numbers rest on, one line each."""
    found = shift.transported
    gap = max(0.0, found.certificate.gap)
    notes = [f"metric {shift.metric}, in {shift.unit}"]
    notes.append(f"method {found.method}, as {found.chosen_because}; gap of its certificate {gap:.1e}")
    if constant := shift.facts.get("constant_there"):
        scaled = shift.facts["scaled_by"]
        by_value = [name for name in constant if scaled[name] == "value"]
        if by_value:
            notes.append(f"constant in training, so measured in multiples of their value: {', '.join(by_value)}")
    if size := shift.noise[0].evidence.get("items"):
        notes.append(f"the noise is that of {size} items per side, {shift.noise[0].evidence['splits']} splits")
    if shift.unseen > 0:
        notes.append(f"{shift.unseen:.1%} of the tokens of the second sample are unknown to the first")
    violated = [a.statement for a in shift.distributions.assumptions if a.check == "violated"]
    if violated:
        notes.append(f"no bound on the distributions is proved, as this does not hold: {'; '.join(violated)}")
    print()
    for note in notes:
        print(wrapped(note, "- ", "  "))


def _write_carriers(shift: Shift) -> None:
    """The shares of what the metric looks at, and the numbers of both samples; one table where they are the same."""
    if shift.shares and not set(shift.shares) <= {number.name for number in shift.numbers}:
        print(f"\n{'carries the distance':<{_LABEL}}{'share':>9}")
        for name, share in list(shift.shares.items())[:_NUMBERS]:
            print(f"{_cut(name, _LABEL - 1):<{_LABEL}}{share:>9.1%}")
    if not shift.numbers:
        return
    print(f"\n{'number':<{_LABEL}}{'share':>9}{'first':>11}{'second':>11}{'W1 alone':>11}")
    for number in sorted(shift.numbers, key=lambda n: -shift.shares.get(n.name, 0.0))[:_NUMBERS]:
        share = f"{shift.shares[number.name]:.1%}" if number.name in shift.shares else "–"
        values = "".join(f"{value:>11.4g}" for value in (number.first, number.second, number.distance))
        print(f"{_cut(number.name, _LABEL - 1):<{_LABEL}}{share:>9}{values}")


def _write_examples(shift: Shift) -> None:
    print("\nmost of the distance is between")
    for pair in shift.pairs:
        lead = f"{pair.share:>6.1%} {pair.distance:>9.4g}  "
        room = width() - len(lead)
        print(lead + _cut(pair.first, room))
        print(" " * (len(lead) - 2) + "→ " + _cut(pair.second, room))
    print("\npotential (it falls from the first sample to the second)")
    for example in shift.extremes:
        lead = f"{example.potential:>9.4g} {example.sample:<7} "
        print(lead + _cut(example.text, width() - len(lead)))


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: max(1, room - 1)] + "…"
