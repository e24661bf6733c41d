"""The answer of a study whose models climbed ladders of shifts, as text."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lengthwise.findings.evidence import Evidence
    from lengthwise.findings.in_range import InRange


def write_study_answer(folder: Path) -> None:
    """The answer of the study in a folder; nothing for a study without ladders."""
    from lengthwise.findings.gather import gather

    evidence = gather(folder)
    if evidence.climbs:
        print()
        write_answer(evidence)


def write_answer(evidence: Evidence) -> None:
    """What was learned, what is claimed, what was found and how sure that is."""
    from lengthwise.cli.output import write_field
    from lengthwise.findings.answer import answer
    from lengthwise.findings.in_range import in_range

    print("risk against distance from training (measured)")
    _write_learned(in_range(evidence))
    found = answer(evidence)
    for label, sentences in (("claimed", found.claimed), ("found", found.found), ("how sure", found.sure)):
        write_field(label, " ".join(sentences))


def _write_learned(learned: InRange) -> None:
    from lengthwise.cli.output import write_field
    from lengthwise.findings.grouping import LEARNED

    total = f"{learned.learned} of {learned.configurations} configurations"
    write_field("in range", f"{total} learned: a risk of {LEARNED:g} or less (share of wrong tokens)")
    for task in learned.tasks:
        _, position, depth, width = task.best
        best = f"best {task.token:.1%} ({position}, depth {depth}, width {width})"
        solved = f"which solves {task.solved} of {task.decoded} problems by itself"
        write_field("", f"{task.task}: {task.learned} of {task.configurations}; {best}, {solved}")
