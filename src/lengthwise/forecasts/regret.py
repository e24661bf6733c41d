"""How good advice is: each task of the atlas advised from the others, and what was lost by following the advice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas
from lengthwise.evidence.atlas import TRANSFORMER
from lengthwise.forecasts.ranking import BEYOND, FIXED, OURS, MeasuredCell, cells_of, rank
from lengthwise.messages import explain, sentence
from lengthwise.probes.curve.standard import wilson
from lengthwise.records import Claim, Record, Table, columns
from lengthwise.statistics import paired_over_tasks
from lengthwise.studies.spec import Study

AT = 4.0  # training sizes, where advice is scored
LANGUAGES_AT = 3.0  # where random languages are counted
explain(
    {
        "advise.always": "always {design}",
        "advise.evaluation": "Advice for every task of the atlas, given from the other tasks",
        "advise.evaluated": "{tasks} tasks, {runs:,} runs. Regret is the exact match of the best that was measured "
        "minus that of what was advised, at {at:g} times the training size.",
        "advise.regret_note": "regret and exact match at {at:g} times the training size, each a mean over tasks; "
        "holds: share of tasks in which at least half of the runs hold there",
        "advise.regret_title": "encodings of a Transformer",
        "advise.regret_models_title": "encodings and other models",
        "advise.regret_difference": "regret of the advice minus that of: {baseline}",
        "advise.regret_models_difference": "with other models, regret of the advice minus that of: {baseline}",
        "advise.cells_hold": "cells of random languages (with an encoding) that can hold, by theory or because a run "
        "does, and do in at least half of their runs, at {at:g} times the training size ({held} of {cells})",
        "advise.languages": "random languages that can hold with some encoding, and do with the advised one at {at:g} "
        "times the training size ({held} of {tasks})",
        "advise.languages_models": "the same languages that hold with the advised encoding or model ({held} of "
        "{tasks})",
    }
)


Strategy = Callable[[Sequence[MeasuredCell], Sequence[MeasuredCell]], str]  # the task's cells, the other tasks' → name
_Cells = Mapping[str, Sequence[MeasuredCell]]  # by task


def advised(own: Sequence[MeasuredCell], others: Sequence[MeasuredCell]) -> str:
    """Our advice for a task among what was measured on it."""
    return rank(others, own[0].facts, {cell.design: cell.verdict for cell in own})[0].design


def _always(own: Sequence[MeasuredCell], others: Sequence[MeasuredCell], design: str) -> str:  # noqa: ARG001
    return design


_REGRET = columns(
    "strategy:text | tasks:whole | regret:share mean regret | exact:share exact match | holds:share holds | "
    "difference:share regret minus that of the advice | low:share from | high:share to"
)


def evaluate_advice(atlas: Atlas) -> Record:
    """Mean regret of the advice, each task advised from the others, next to one encoding for all tasks and to fixed
    rules; and how many of the random languages that can hold do so as advised. The encodings of Transformers are
    compared with each other first, then with other models."""
    cells, languages = cells_of(atlas, AT), cells_of(atlas, LANGUAGES_AT)
    encodings, far = ([cell for cell in some if cell.model == TRANSFORMER] for some in (cells, languages))
    by_task = _by_task(encodings)
    if len(by_task) < 3:
        raise UsageError(
            f"advice is scored on tasks that were measured with several encodings at {AT:g} times the training size; "
            f"the atlas has {len(by_task)} of them, and it takes 3"
        )
    about = {"tasks": len(by_task), "runs": len(atlas.runs), "at": AT}
    table, claims = _regrets("advise.regret", encodings, by_task)
    shares, tables = [_cells_hold(far), _languages("advise.languages", far, far)], [table]
    if len(encodings) < len(cells):
        table, more = _regrets("advise.regret_models", cells, _by_task(cells))
        tables.append(table)
        claims += more
        shares.append(_languages("advise.languages_models", languages, far))
    text = (sentence("advise.evaluated", about), *(f"{said[:1].upper()}{said[1:]}." for said in map(str, shares)))
    return Record("advise", about, sentence("advise.evaluation"), text, (*claims, *shares), tuple(tables))


def _by_task(cells: Sequence[MeasuredCell]) -> _Cells:
    """The cells of the tasks that have several."""
    found: dict[str, list[MeasuredCell]] = defaultdict(list)
    for cell in cells:
        found[cell.task].append(cell)
    return {task: own for task, own in found.items() if len(own) > 1}


def _regrets(key: str, cells: Sequence[MeasuredCell], by_task: _Cells) -> tuple[Table, list[Claim]]:
    """The regret of every strategy, and what the advice gains over each."""
    strategies: dict[str, tuple[str, Strategy]] = {
        OURS: (sentence("advise.ours"), advised),
        FIXED: (sentence("advise.fixed"), partial(_always, design=BEYOND)),
    }
    for name in dict.fromkeys(cell.design for cell in cells):
        strategies[name] = (sentence("advise.always", {"design": name}), partial(_always, design=name))
    chosen = {name: _chosen(by_task, cells, choose) for name, (_, choose) in strategies.items()}
    best = {task: max(cell.exact for cell in own) for task, own in by_task.items()}
    regrets = {name: {task: best[task] - cell.exact for task, cell in of.items()} for name, of in chosen.items()}
    rows, claims = [], []
    for name, (title, _) in strategies.items():
        if not chosen[name]:
            continue
        own = chosen[name].values()
        values = (regrets[name].values(), (cell.exact for cell in own), (cell.holds for cell in own))
        means = (float(np.mean(list(one))) for one in values)
        ends: tuple[float | None, ...] = (None, None, None)
        if name != OURS:
            about = {"baseline": title, "at": AT}
            claim = paired_over_tasks(f"{key}_difference", regrets[OURS], regrets[name], about=about, unit="share")
            claims.append(claim)
            if claim.interval is not None and isinstance(claim.value, float):
                ends = (-claim.value, -claim.interval.high, -claim.interval.low)
        rows.append((title, len(chosen[name]), *means, *ends))
    rows[1:] = sorted(rows[1:], key=lambda row: row[2])
    return Table(
        key, _REGRET, tuple(rows), sentence(f"{key}_title"), sentence("advise.regret_note", {"at": AT})
    ), claims


def _chosen(by_task: _Cells, cells: Sequence[MeasuredCell], choose: Strategy) -> dict[str, MeasuredCell]:
    """The cell that a strategy chooses for each task, where it was measured."""
    found = {}
    for task, own in by_task.items():
        name = choose(own, [cell for cell in cells if cell.task != task])
        found.update((task, cell) for cell in own if cell.design == name)
    return found


def _reported(cells: Sequence[MeasuredCell]) -> list[MeasuredCell]:
    """The cells of random languages that had no part in choosing the recipe."""
    used = set(Study.read("recipes").tasks)
    return [cell for cell in cells if cell.group == "language" and cell.task not in used]


def _cells_hold(cells: Sequence[MeasuredCell]) -> Claim:
    """Of the reported cells that can hold, by theory or by measurement, the share that does with the atlas's recipe."""
    can = [cell for cell in _reported(cells) if cell.verdict == "can" or cell.held]
    held = sum(cell.holds for cell in can)
    return _share("advise.cells_hold", held, len(can), {"cells": len(can)})


def _languages(key: str, cells: Sequence[MeasuredCell], encodings: Sequence[MeasuredCell]) -> Claim:
    """Of the reported random languages that can hold with some encoding, the share whose cell holds that is advised out
    of `cells`."""
    can = {cell.task for cell in _reported(encodings) if cell.verdict == "can"}
    by_task = {task: [cell for cell in cells if cell.task == task] for task in sorted(can)}
    chosen = _chosen({task: own for task, own in by_task.items() if own}, cells, advised)
    return _share(key, sum(cell.holds for cell in chosen.values()), len(chosen), {"tasks": len(chosen)})


def _share(key: str, held: int, count: int, about: Mapping[str, int]) -> Claim:
    evidence = {"at": LANGUAGES_AT, "held": held, **about}
    if not count:
        return Claim(key, None, "share", "measured", "unknown", evidence=evidence)
    return Claim(key, held / count, "share", "measured", interval=wilson(held, count), evidence=evidence)
