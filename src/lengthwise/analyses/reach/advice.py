"""What the first screen of a report says next to how far models hold: what was not learned, and what to do next."""

from __future__ import annotations

from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.reach.answer import Holding
from lengthwise.analyses.words import code, counted, listed
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import ADVICE

_NAMED = 3  # cells, tasks and encodings that a sentence names

explain(
    {
        "reach.missed_none": "Nothing: every cell (a task with an encoding) was learned in its training range.",
        "reach.missed": "{number} of {cells} (a task with an encoding): {names}. They say nothing about longer inputs.",
        "reach.missed_runs": "{runs} did not finish, so some cells rest on fewer seeds or are missing.",
        "reach.advise_train": "Train first: {advice}.",
        "reach.advise_one": "Use {names}: {verb} for {number} of {rows}, more than any other encoding here.",
        "reach.advise_any": "Any encoding will do: all of them hold wherever they were learned.",
        "reach.advise_others": "For {rows} use {names} instead.",
        "reach.advise_none": "Nothing here holds. Before you train longer, ask `lengthwise check` whether an encoding "
        "can hold at all, and `lengthwise advise` what to train with.",
        "reach.advise_only": "Compare other encodings: `lengthwise advise` ranks them for a task.",
        "reach.advise_seeds": "One seed per cell shows no spread: add seeds before you rely on a difference.",
    }
)


def not_learned(study: StudyContent) -> tuple[str, ...]:
    """The cells that the study cannot judge."""
    found, said = study.learning, []
    if found.judged:
        names = [f"{study.label(cell)} with {code(cell.position)}" for cell in found.not_learned]
        values = {"number": len(names), "cells": counted(found.judged, "cell"), "names": listed(names, _NAMED)}
        said.append(sentence("reach.missed" if names else "reach.missed_none", values))
    missing = len(study.runs) - study.counts["done"]
    if missing and study.counts["done"]:
        said.append(sentence("reach.missed_runs", {"runs": counted(missing, "run")}))
    return tuple(said)


def advice(study: StudyContent) -> tuple[str, ...]:
    """What to do next, the most useful first."""
    if not study.counts["done"]:
        return ()
    said, held = [], Holding(study)
    if study.learning.little or not held.judged:
        said.append(sentence("reach.advise_train", {"advice": ADVICE}))
    if held.judged:
        said += _which_encoding(held)
    if all(len(cell.runs) == 1 for cell in study.cells):
        said.append(sentence("reach.advise_seeds"))
    return tuple(said)


def _which_encoding(held: Holding) -> list[str]:
    """The encodings that hold for most rows, and those to use for the rows where these fail."""
    if not held.holding:
        return [sentence("reach.advise_none")]
    if len(held.study.encodings) == 1:
        return [sentence("reach.advise_only")]
    if all(holds for found in held.judged.values() for holds in found.values()):
        return [sentence("reach.advise_any")]
    counts = {name: sum(found.get(name, False) for found in held.judged.values()) for name in held.study.encodings}
    most = max(counts.values())
    best = [name for name, number in counts.items() if number == most]
    values = {"names": listed([code(name) for name in best], _NAMED, "or"), "number": most}
    values |= {"verb": "it holds" if len(best) == 1 else "each holds"}
    values |= {"rows": counted(len(held.judged), held.study.noun)}
    others = [row for row in held.holding if not any(held.judged[row].get(name) for name in best)]
    said = [sentence("reach.advise_one", values)]
    if others:
        names = [name for name in held.study.encodings if all(held.judged[row].get(name) for row in others)]
        if names:
            values = {"rows": listed(others, _NAMED), "names": listed([code(name) for name in names], _NAMED, "or")}
            said.append(sentence("reach.advise_others", values))
    return said
