"""How good advice is: each task of the atlas advised from the others, and what was lost by following the advice."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.evidence import Atlas
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
        "advise.always": "always {encoding}",
        "advise.evaluation": "Advice for every task of the atlas, given from the other tasks",
        "advise.evaluated": "{tasks} tasks, {runs:,} runs. Regret is the exact match of the best measured encoding "
        "minus that of the advised one, at {at:g} times the training size.",
        "advise.regret_note": "regret and exact match at {at:g} times the training size, each a mean over tasks; "
        "holds: share of tasks in which at least half of the runs with the encoding hold there",
        "advise.regret_difference": "regret of the advice minus that of: {baseline}",
        "advise.languages": "random languages that can hold with some encoding, and do with the advised one at {at:g} "
        "times the training size ({held} of {tasks})",
    }
)


Strategy = Callable[[Sequence[MeasuredCell], Sequence[MeasuredCell]], str]  # the task's cells, the other tasks' → name


def advised(own: Sequence[MeasuredCell], others: Sequence[MeasuredCell]) -> str:
    """Our advice for a task among the encodings that were measured on it."""
    return rank(others, own[0].facts, {cell.encoding: cell.verdict for cell in own})[0].encoding


def _always(own: Sequence[MeasuredCell], others: Sequence[MeasuredCell], encoding: str) -> str:  # noqa: ARG001
    return encoding


_REGRET = columns(
    "strategy:text | tasks:whole | regret:share mean regret | exact:share exact match | holds:share holds | "
    "difference:share regret minus that of the advice | low:share from | high:share to"
)


def evaluate_advice(atlas: Atlas) -> Record:
    """Mean regret of the advice, each task advised from the others, next to one encoding for all tasks and to fixed
    rules; and how many of the random languages that can hold do so as advised."""
    cells = cells_of(atlas, AT)
    by_task: dict[str, list[MeasuredCell]] = defaultdict(list)
    for cell in cells:
        by_task[cell.task].append(cell)
    by_task = {task: own for task, own in by_task.items() if len(own) > 1}
    if len(by_task) < 3:
        raise UsageError(
            f"advice is scored on tasks that were measured with several encodings at {AT:g} times the training size; "
            f"the atlas has {len(by_task)} of them, and it takes 3"
        )
    encodings = list(dict.fromkeys(cell.encoding for cell in cells))
    strategies: dict[str, tuple[str, Strategy]] = {
        OURS: (sentence("advise.ours"), advised),
        FIXED: (sentence("advise.fixed"), partial(_always, encoding=BEYOND)),
    }
    for name in encodings:
        strategies[name] = (sentence("advise.always", {"encoding": name}), partial(_always, encoding=name))
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
            claim = paired_over_tasks(
                "advise.regret_difference", regrets[OURS], regrets[name], about=about, unit="share"
            )
            claims.append(claim)
            if claim.interval is not None and isinstance(claim.value, float):
                ends = (-claim.value, -claim.interval.high, -claim.interval.low)
        rows.append((title, len(chosen[name]), *means, *ends))
    rows[1:] = sorted(rows[1:], key=lambda row: row[2])
    claims.append(_languages(atlas))
    about = {"tasks": len(by_task), "runs": len(atlas.runs), "at": AT}
    table = Table("advise.regret", _REGRET, tuple(rows), "", sentence("advise.regret_note", about))
    text = (sentence("advise.evaluated", about), f"{claims[-1]}.")
    return Record("advise", about, sentence("advise.evaluation"), text, tuple(claims), (table,))


def _chosen(
    by_task: Mapping[str, Sequence[MeasuredCell]], cells: Sequence[MeasuredCell], choose: Strategy
) -> dict[str, MeasuredCell]:
    """The cell that a strategy chooses for each task, where it was measured."""
    found = {}
    for task, own in by_task.items():
        name = choose(own, [cell for cell in cells if cell.task != task])
        found.update((task, cell) for cell in own if cell.encoding == name)
    return found


def _languages(atlas: Atlas) -> Claim:
    """Of the random languages that can hold with some encoding, and had no part in choosing the recipe, the share whose
    advised cell holds."""
    cells = cells_of(atlas, LANGUAGES_AT)
    used = set(Study.read("recipes").tasks)
    can = {cell.task for cell in cells if cell.group == "language" and cell.verdict == "can"} - used
    by_task = {task: [cell for cell in cells if cell.task == task] for task in sorted(can)}
    chosen = _chosen(by_task, cells, advised)
    evidence = {"at": LANGUAGES_AT, "tasks": len(chosen), "held": sum(cell.holds for cell in chosen.values())}
    if not chosen:
        return Claim("advise.languages", None, "share", "measured", "unknown", evidence=evidence)
    share = evidence["held"] / len(chosen)
    interval = wilson(evidence["held"], len(chosen))
    return Claim("advise.languages", share, "share", "measured", interval=interval, evidence=evidence)
