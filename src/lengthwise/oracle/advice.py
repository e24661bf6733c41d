"""What to do first, from the verdicts of a card: one piece of advice, as data and in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lengthwise.oracle.opinion import Advice, Verdict

NOT_WILL = (
    "Can hold is not will hold, as training may miss the solution: in published curves of runs that were perfect up to "
    "length 50, 10 % of 1,298 held at 9 times that length where a solution exists, and none of 4,420 where none does, "
    "and of six regular languages tried with the default recipe two held with learned+offset at 3 times."
)


def first_advice(verdicts: Mapping[str, Verdict], changes: Sequence[Advice]) -> Advice:
    """An encoding that can hold; else the first change to what is not on the card; else to measure, as theory does not
    decide. `changes` recommend nothing that cannot hold."""
    can, unknown = (
        tuple(name for name, verdict in verdicts.items() if verdict.outlook == outlook)
        for outlook in ("can hold", "unknown")
    )
    if can:
        return Advice("use", "a solution exists that works at every length; a run shows whether training finds it", can)
    change = next((one for one in changes if not set(one.encodings) & set(unknown)), None)
    if change is not None and change.encodings:
        return Advice("change", change.text, change.encodings)
    if change is not None:
        return Advice("change", f"no encoding here is known to hold; {change.text}")
    if unknown:
        better = tuple(name for name in unknown if not _points_elsewhere(verdicts[name]))
        return Advice("measure", "theory does not decide here; a run does", better or unknown)
    return Advice("none", "none of these encodings can hold, and no change that would help is known")


def _points_elsewhere(verdict: Verdict) -> bool:
    """Whether another encoding is recommended instead."""
    return any(change.encodings for opinion in verdict.opinions for change in opinion.changes)
