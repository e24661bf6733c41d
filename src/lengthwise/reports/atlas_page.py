"""The map of an atlas: tasks down, encodings and models across, coloured by reach; the cell pointed at shows curves.

The table stands in the page as text, so that it is whole without a script; the script filters it and draws curves.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lengthwise.analyses.words import code
from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas, AtlasRun
from lengthwise.evidence.atlas import TRANSFORMER
from lengthwise.forecasts.cases import holds_at, reach_of
from lengthwise.messages import explain, sentence
from lengthwise.reports.record_section import asset, page_style, rendered, write_page_file

PAGE = "atlas.html"
LEVELS = (1.0, 1.25, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0)  # training sizes where a colour begins; below it is not learned
AT = 4.0
explain(
    {
        "atlas.map": "The atlas: how far models hold",
        "atlas.answer": "{runs:,} trained models: {tasks} tasks, {designs} encodings and models. {learned:.0%} learned "
        "their training range, and {held:.0%} hold at {at:g} times the training size.",
        "atlas.missed": "No seed learned {missed:,} of {cells:,} cells (a task with an encoding or model); "
        "{most_missed} has the most of them ({own} of {of} tasks). They say nothing about longer inputs.",
        "atlas.missed_none": "Nothing: some seed learned every cell (a task with an encoding or model).",
        "atlas.advise": "{best} holds at {at:g} times the training size for {held} of {of} tasks, more than any other "
        "encoding of a Transformer here{model}.",
        "atlas.advise_model": "; {best} does for {held} of {of}",
        "atlas.advise_none": "No encoding of a Transformer holds at {at:g} times the training size for any task here.",
        "atlas.advise_own": "For a task of your own, ask `lengthwise advise`.",
        "atlas.class_counting": "counting alone",
        "atlas.class_positions": "counting with positions",
        "atlas.class_neither": "neither",
        "atlas.class_unknown": "not known",
        "atlas.group_language": "random languages",
        "atlas.group_named": "named tasks",
        "atlas.group_retrieval": "retrieval",
        "atlas.group_steps": "reasoning steps",
    }
)


@dataclass(frozen=True)
class MapCell:
    """A task with an encoding: the reach of its seeds in training sizes, or their mean where they are many, and the
    colour of the mean."""

    place: int
    text: str
    level: int
    verdict: str
    words: str


@dataclass(frozen=True)
class MapRow:
    """A task and its cells, None where the atlas has none."""

    task: str
    oracle_class: str
    group: str
    cells: tuple[MapCell | None, ...]

    @property
    def name(self) -> str:
        """The task, random languages in short so that they fit in a line."""
        return self.task.removeprefix("random_") if self.group == "language" else self.task


def write_map(atlas: Atlas, path: Path) -> Path:
    """Write the map, whole or not at all."""
    return write_page_file(path, render_map(atlas))


def render_map(atlas: Atlas) -> str:
    """The map as the text of a page. The encodings and models that make most tasks hold come first."""
    if not atlas.runs:
        raise UsageError("the atlas has no runs, so there is no map to draw")
    runs: dict[tuple[str, str], list[AtlasRun]] = defaultdict(list)
    for run in atlas.runs:
        runs[run.task, run.design].append(run)
    places = {key: place for place, key in enumerate(runs)}
    held = Counter(design for (_, design), own in runs.items() if any(holds_at(run, AT) for run in own))
    designs = sorted(atlas.designs, key=lambda design: -held[design])
    rows = []
    for task in atlas.tasks:
        own = [runs.get((task, design)) for design in designs]
        first = next(found[0] for found in own if found)
        cells = tuple(_cell(found, places[task, found[0].design]) if found else None for found in own)
        rows.append(MapRow(task, first.facts.oracle_class, first.group, cells))
    rows.sort(key=lambda row: row.group == "language")  # what readers know by name comes first
    values = {
        "title": sentence("atlas.map"),
        "answer": _answer(atlas),
        "missed": _missed(runs),
        "advice": _advice(runs, designs, held),
        "designs": designs,
        "rows": rows,
        "levels": [f"{level:g}×" for level in LEVELS],
        "choices": [_choice("class", rows, "oracle_class"), _choice("group", rows, "group")],
    }
    style, scripts = page_style("atlas"), (asset("atlas.js"),)
    return rendered("atlas.html.jinja", values, {"cells": [_curves(of) for of in runs.values()]}, style, scripts)


def _cell(runs: Sequence[AtlasRun], place: int) -> MapCell:
    multiples = [reach_of(run) / run.train_size if run.learned else 0.0 for run in runs]
    mean = sum(multiples) / len(multiples)
    level = sum(mean >= least for least in LEVELS)
    first, sizes = runs[0], dict.fromkeys(run.train_size for run in runs)
    reaches = {size: ", ".join(str(reach_of(run)) for run in runs if run.train_size == size) for size in sizes}
    trained = "; ".join(f"reach {reach}, trained to {size}" for size, reach in reaches.items())
    words = f"{first.task}, {first.design}: {trained}; theory: {first.verdict}"
    each = [f"{multiple:.2g}" if multiple else "–" for multiple in multiples]
    text = "/".join(dict.fromkeys(each)) if len(set(each)) <= 2 else f"{mean:.2g}"
    return MapCell(place, text, level, first.verdict, words)


def _answer(atlas: Atlas) -> str:
    far = [held for run in atlas.runs if (held := holds_at(run, AT)) is not None]
    values = {"runs": len(atlas.runs), "tasks": len(atlas.tasks), "designs": len(atlas.designs), "at": AT}
    values |= {"learned": sum(run.learned for run in atlas.runs) / len(atlas.runs)}
    return sentence("atlas.answer", {**values, "held": sum(far) / max(1, len(far))})


def _missed(runs: Mapping[tuple[str, str], Sequence[AtlasRun]]) -> list[str]:
    """The cells that no seed learned, and the encoding or model that has most of them."""
    missed = Counter(design for (_, design), own in runs.items() if not any(run.learned for run in own))
    if not missed:
        return [sentence("atlas.missed_none")]
    most, own = missed.most_common(1)[0]
    values = {"missed": missed.total(), "cells": len(runs), "most_missed": code(most), "own": own}
    return [sentence("atlas.missed", {**values, "of": sum(design == most for _, design in runs)})]


def _advice(
    runs: Mapping[tuple[str, str], Sequence[AtlasRun]], designs: Sequence[str], held: Mapping[str, int]
) -> list[str]:
    """The encoding that holds for most tasks, and the other model that does, where there is one."""
    models = {run.design for own in runs.values() for run in own if run.model != TRANSFORMER}
    tasks = Counter(design for _, design in runs)

    def best(names: Sequence[str]) -> dict[str, Any]:
        return {"best": code(names[0]), "held": held[names[0]], "of": tasks[names[0]], "at": AT}

    encodings = [design for design in designs if design not in models and held[design]]
    others = [design for design in designs if design in models and held[design]]
    if not encodings:
        return [sentence("atlas.advise_none", {"at": AT}), sentence("atlas.advise_own")]
    model = sentence("atlas.advise_model", best(others)) if others else ""
    return [sentence("atlas.advise", {**best(encodings), "model": model}), sentence("atlas.advise_own")]


def _choice(name: str, rows: Sequence[MapRow], field: str) -> dict[str, Any]:
    """A menu of the values that rows have."""
    found = dict.fromkeys(getattr(row, field) for row in rows)
    return {"name": name, "options": [(value, sentence(f"atlas.{name}_{value}")) for value in found]}


def _curves(runs: Sequence[AtlasRun]) -> dict[str, Any]:
    """What the script draws of a cell."""
    first = runs[0]
    about = {"task": first.task, "design": first.design, "trained": first.train_size, "verdict": first.verdict}
    seeds = [
        {"seed": r.seed, "reach": reach_of(r), "learned": r.learned, "exact": r.exact, "sizes": r.sizes} for r in runs
    ]
    return {**about, "seeds": seeds}
