"""What to do first, from the verdicts of a card: one piece of advice, as data and in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lengthwise.oracle.opinion import Advice, Verdict
from lengthwise.records import Kind

NOT_WILL = (
    "Can hold is not will hold, as training may miss the solution: in published curves of runs that were perfect up to "
    "length 50, 10 % of 1,298 held at 9 times that length where a solution exists, and none of 4,420 where none does, "
    "and of six regular languages tried with the default recipe two held with learned+offset at 3 times."
)

# What is known of a solution, by what the verdict rests on, the strongest first.
_SOLUTIONS: dict[Kind, str] = {
    "proved": "a solution exists that works at every length",
    "certified": "a solution is right on all short inputs, which were all checked",
    "measured": "a solution fits the sizes that were examined; nothing is known beyond them",
    "predicted": "a solution exists if the task is what it looks like on short inputs",
    "heuristic": "a solution is likely to exist",
}


def first_advice(verdicts: Mapping[str, Verdict], changes: Sequence[Advice]) -> Advice:
    """The encodings that can hold, by the strongest grounds; else the first change to what is not on the card; else to
    measure, as theory does not decide. `changes` recommend nothing that cannot hold."""
    can, unknown = (
        tuple(name for name, verdict in verdicts.items() if verdict.outlook == outlook)
        for outlook in ("can hold", "unknown")
    )
    for kind, known in _SOLUTIONS.items():
        if best := tuple(name for name in can if _grounds(verdicts[name]) == kind):
            return Advice("use", f"{known}; a run shows whether training finds it", best)
    change = next((one for one in changes if not set(one.encodings) & set(unknown)), None)
    if change is not None and change.encodings:
        return Advice("change", change.text, change.encodings)
    if change is not None:
        return Advice("change", f"no encoding here is known to hold; {change.text}")
    if unknown:
        better = tuple(name for name in unknown if not _points_elsewhere(verdicts[name]))
        return Advice("measure", "theory does not decide here; a run does", better or unknown)
    return Advice("none", "none of these encodings can hold, and no change that would help is known")


def _grounds(verdict: Verdict) -> Kind:
    deciding = verdict.deciding
    return "heuristic" if deciding is None or deciding.grounds is None else deciding.grounds.kind


def _points_elsewhere(verdict: Verdict) -> bool:
    """Whether another encoding is recommended instead."""
    return any(change.encodings for opinion in verdict.opinions for change in opinion.changes)
