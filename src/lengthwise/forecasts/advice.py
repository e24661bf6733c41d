"""Advice before training: what to train a task with, and on what grounds each line of it stands.

A line has the oracle's verdict and the cells of the atlas behind it, a cell being a task with an encoding or with
another model; where there is neither, it says so. What theory proves and what was measured are never mixed.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.evidence import Atlas, TaskFacts, load_atlas
from lengthwise.evidence.atlas import TRANSFORMER
from lengthwise.evidence.deriving import facts_of
from lengthwise.forecasts.coverage import check_certain
from lengthwise.forecasts.ranking import BEYOND, FIXED, OURS, WITHIN, RankedDesign, cells_of, rank
from lengthwise.messages import explain, sentence
from lengthwise.models.architecture import Architecture
from lengthwise.oracle.check import Card, check
from lengthwise.oracle.opinion import outlook_words
from lengthwise.records import Assumption, Claim, Record, Table, columns
from lengthwise.tasks import tasks
from lengthwise.tasks.formulations.formulation import Formulation
from lengthwise.tasks.sizes import name_of
from lengthwise.tasks.task import Task
from lengthwise.training.recipe import Recipe

SURE = 0.9  # of at least one seed that holds
LIKELY = 0.5  # an expected exact match below this is no recommendation
_MOST_CHANGES = 6
_LEAST_SIZES = ("limit.training_length", "locality.training_size")
_TEMPERATURES = {"retrieval": 0.1, "steps": 0.5}  # of the fixed rules, by the kind of task; 1 for all others
_ENCODINGS = ("none", "learned+offset")  # that theory speaks of, where nothing was measured
_VERDICTS = {"can hold": "can", "cannot hold": "cannot", "unknown": "unknown"}
_SHAPE = ("depth", "width", "heads")
_USUAL = {"attention": "softmax", "sizes": "uniform"}  # the names of what is no number
_RECIPE = ("steps", "batch", "rate", "weight_decay", "decay", "sizes")
explain(
    {
        "advise.title": "{task}, trained to {train_size}, used to {test_size}",
        "advise.encoding": "encoding",
        "advise.attention": "attention",
        "advise.model": "model",
        "advise.shape": "Transformer",
        "advise.recipe": "recipe",
        "advise.train_size": "train size",
        "advise.seeds": "seeds",
        "advise.similar": "similar tasks",
        "advise.any": "tasks of any kind",
        "advise.share": "{alike} that hold with {design} at {multiple:.2g} times the training size",
        "advise.use": "Use {design}. Measured: {held} of {tasks} {alike} hold with it at {multiple:.2g} times the "
        "training size (runs: {runs}). Theory: {verdict}.",
        "advise.by_theory": "Use {design}. Theory: {verdict}. The atlas has no similar task with it at "
        "{multiple:.2g} times the training size.",
        "advise.none_holds": "Nothing is likely to hold. With the best, {design}, {held} of {tasks} {alike} "
        "do at {multiple:.2g} times the training size (runs: {runs}). Theory: {verdict}.",
        "advise.of_encodings": (
            "Among the encodings of a Transformer, {design} comes first: {held} of {tasks} {alike} hold with "
            "it (runs: {runs}). Theory: {verdict}."
        ),
        "advise.nothing": "There is no evidence: theory does not decide, and the atlas has no similar task at "
        "{multiple:.2g} times the training size.",
        "advise.other_size": "what the atlas shows at a multiple of the training sizes {first} to {last} carries over "
        "to {train_size}",
        "advise.no_evidence": "no evidence",
        "advise.by_verdict": "theory: {verdict}",
        "advise.least": "theory: {kind}, {title} {value}",
        "advise.only_one": "the task's preset; no other was measured",
        "advise.learned": "measured: {learned} of {runs} runs of similar tasks learned the training range",
        "advise.cells": "measured: {held} of {tasks} {alike} hold (runs: {runs}; 95 % interval {low:.0%}–{high:.0%})",
        "advise.seeds_cells": "one of them holds with probability {sure:.0%}, if the task can hold: {held} of {runs} "
        "runs hold in the {tasks} similar tasks where any does",
        "advise.measure_both": "measure {design} as well: {held} of {tasks} similar tasks hold with it, which is not "
        "clearly less",
        "advise.rules_note": "fixed rules: ALiBi beyond the training size and RoPE within it; attention at temperature "
        "0.1 for retrieval, 0.5 for reasoning steps, 1 for all else. The atlas compares no temperatures.",
        "advise.designs_note": "tasks: {compared} with that encoding or model in the atlas; expected: exact match at "
        "{multiple:.2g} times the training size",
        "advise.similar_tasks": "similar tasks (same {similar})",
        "advise.all_tasks": "all tasks",
        "advise.same_oracle_class": "class by theory",
        "advise.same_readout": "kind of answer",
        "advise.same_local": "need of memory",
        "advise.cells_title": "tasks behind the advised encoding or model",
    }
)
_LINES = columns("about:text | advice:text | grounds:text")
_DESIGNS = columns(
    "design:text encoding or model | verdict:text theory | tasks:whole | held:whole hold | low:share from | "
    "high:share to | runs:whole | own:share this task | expected:share"
)
_CELLS = columns(
    "task:text | design:text encoding or model | exact:share exact match | runs:whole | held:whole runs that hold"
)
_RULES = columns("rule:text | encoding:text | temperature | expected:share expected exact match | tasks:whole")


@dataclass(frozen=True)
class _Situation:
    """A task at two sizes, what theory says of it, and the encodings and other models ranked for it."""

    task: Task
    name: str
    train_size: int
    test_size: int
    card: Card
    facts: TaskFacts
    atlas: Atlas
    ranking: tuple[RankedDesign, ...]
    encodings: tuple[str, ...]  # of a Transformer; what else is ranked are other models

    @property
    def multiple(self) -> float:
        return self.test_size / self.train_size

    @property
    def best(self) -> RankedDesign:
        return self.ranking[0]

    @property
    def best_encoding(self) -> RankedDesign:
        """The first that is an encoding of a Transformer."""
        return next(one for one in self.ranking if one.design in self.encodings)

    def verdict(self, design: str) -> str:
        """What theory says, in words."""
        return outlook_words(self.card.verdicts[design].outlook)


def advise(
    task: str | Task, *, train_size: int | None = None, test_size: int | None = None, atlas: Atlas | None = None
) -> Record:
    """What to train a task with, so that it holds from the training size to the test size, and why.

    The encoding, attention rule, model, recipe, least training size and number of seeds; each with the oracle's verdict
    and what the atlas measured on similar tasks. Nothing is trained, and torch is not needed.

    >>> lw.advise("parity", train_size=20, test_size=80).claim("advise.encoding").value      # doctest: +SKIP
    'alibi'
    """
    task = tasks.make(task) if isinstance(task, str) else task
    check_certain(task)
    atlas = load_atlas() if atlas is None else atlas
    asked = _asked(task, train_size, test_size, atlas)
    claims = (*_design_claims(asked), *_setting_claims(asked), _size_claim(asked), _seeds_claim(asked))
    changes = _changes(asked)
    commands = [_command(asked, one, claims) for one in dict.fromkeys((asked.best.design, asked.best_encoding.design))]
    data = {"commands": commands, "changes": changes, "facts": vars(asked.facts)}
    settings = {"task": asked.name, "train_size": asked.train_size, "test_size": asked.test_size}
    tables = (_lines(asked, claims), _design_table(asked), _rules(asked), _cell_table(asked))
    return Record("advise", settings, sentence("advise.title", settings), _text(asked), claims, tables, data=data)


def _asked(task: Task, train_size: int | None, test_size: int | None, atlas: Atlas) -> _Situation:
    encodings = list(dict.fromkeys(run.position for run in atlas.runs if run.model == TRANSFORMER)) or [*_ENCODINGS]
    others = [design for design in atlas.designs if design not in encodings]
    card = check(task, encodings, model=others, train_size=train_size, test_size=test_size, quick=True)
    name = name_of(task)
    facts = next((run.facts for run in atlas.runs if run.task == name), None) or facts_of(task)
    verdicts = {design: _VERDICTS[card.verdicts[design].outlook] for design in (*encodings, *others)}
    cells = cells_of(atlas, card.test_size / card.train_size)
    ranking = tuple(rank(cells, facts, verdicts, name))
    return _Situation(task, name, card.train_size, card.test_size, card, facts, atlas, ranking, tuple(encodings))


def _text(asked: _Situation) -> tuple[str, ...]:
    best = asked.best

    def values(one: RankedDesign) -> dict[str, Any]:
        measured = {"held": one.held, "tasks": one.tasks, "runs": one.runs, "alike": _alike(one)}
        return {"design": one.design, "multiple": asked.multiple, "verdict": asked.verdict(one.design), **measured}

    if best.expected is None:
        key = "advise.nothing" if best.verdict == "unknown" else "advise.by_theory"
    else:
        key = "advise.use" if best.expected >= LIKELY or best.verdict == "can" else "advise.none_holds"
    others = [] if best is asked.best_encoding else [sentence("advise.of_encodings", values(asked.best_encoding))]
    return (sentence(key, values(best)), *others)


def _alike(best: RankedDesign) -> str:
    return sentence("advise.similar" if best.similar else "advise.any")


def _design_claims(asked: _Situation) -> tuple[Claim, ...]:
    """The encoding of a Transformer; the model, where another is better; and the share of similar tasks that hold with
    the better of the two."""
    best, encoding = asked.best, asked.best_encoding
    assumed, found = _other_size(asked), []
    for key, one in (("advise.model", best), ("advise.encoding", encoding)):
        if key == "advise.model" and best is encoding:
            continue  # our Transformer, of which there is more to say
        if one.expected is None and one.verdict == "unknown":
            found.append(Claim(key, None, "", "heuristic", "unknown", evidence=_evidence(asked, one)))
        else:
            found.append(Claim(key, one.design, "", "predicted", assumptions=assumed, evidence=_evidence(asked, one)))
    if best.interval is not None:
        share, about = best.held / best.tasks, _evidence(asked, best)
        found.append(Claim("advise.share", share, "share", "measured", "holds", best.interval, assumed, evidence=about))
    return tuple(found)


def _evidence(asked: _Situation, one: RankedDesign) -> dict[str, Any]:
    ends = {} if one.interval is None else {"low": one.interval.low, "high": one.interval.high}
    return {
        "verdict": one.verdict,
        "tasks": one.tasks,
        "held": one.held,
        "runs": one.runs,
        "similar": list(one.similar),
        "alike": _alike(one),
        "design": one.design,
        "multiple": asked.multiple,
        **ends,
    }


def _other_size(asked: _Situation) -> tuple[Assumption, ...]:
    sizes = [run.train_size for run in asked.atlas.runs]
    if not sizes or min(sizes) <= asked.train_size <= max(sizes):
        return ()
    values = {"first": min(sizes), "last": max(sizes), "train_size": asked.train_size}
    return (Assumption("advise.other_size", values=values),)


def _setting_claims(asked: _Situation) -> tuple[Claim, ...]:
    """The attention rule, the shape of a Transformer and the recipe: those of the task's preset. The atlas says how
    many runs of similar tasks learned the training range with theirs, and whether it compares others."""
    chosen = {**vars(Architecture()), **vars(Recipe()), **_USUAL, **asked.task.preset}
    behind = {(cell.task, cell.design) for cell in asked.best.cells}
    runs = [run for run in asked.atlas.runs if (run.task, run.design) in behind]
    found = []
    for key, names in (("attention", ("attention",)), ("shape", _SHAPE), ("recipe", _RECIPE)):
        written = {name: str(chosen[name]) for name in names}
        value = ", ".join(f"{name} {text}" for name, text in written.items()) if len(names) > 1 else written[names[0]]
        compared = {str(run.settings[name]) for run in asked.atlas.runs for name in names if name in run.settings}
        evidence: dict[str, Any] = {"runs": len(runs), "learned": sum(run.learned for run in runs)}
        evidence |= {"compared": sorted(compared), "settings": written}
        found.append(Claim(f"advise.{key}", value, "", "heuristic", evidence=evidence))
    return tuple(found)


def _size_claim(asked: _Situation) -> Claim:
    """The training size asked about, or the least that theory asks for where that is more. No other was measured."""
    needed = [
        claim for claim in asked.card.training if claim.key in _LEAST_SIZES and isinstance(claim.value, int | float)
    ]
    evidence: dict[str, Any] = {"asked": asked.train_size, "measured": sorted({r.train_size for r in asked.atlas.runs})}
    if not needed:
        return Claim("advise.train_size", None, "", "heuristic", "unknown", evidence=evidence)
    least = max(needed, key=lambda claim: float(claim.value or 0))
    evidence |= {"theory": least.key}
    value = math.ceil(float(least.value or 0))
    return Claim("advise.train_size", value, "", least.kind, assumptions=least.assumptions, evidence=evidence)


def _seeds_claim(asked: _Situation) -> Claim:
    """Enough seeds that one holds, if the task can hold with the encoding at all: from the share of runs that hold in
    similar tasks where any does, with half a run added to either side."""
    some = [cell for cell in asked.best.cells if cell.held and cell.runs > 1]
    held, runs = sum(cell.held for cell in some), sum(cell.runs for cell in some)
    evidence = {"held": held, "runs": runs, "tasks": len(some), "sure": SURE}
    if not some:
        return Claim("advise.seeds", None, "", "heuristic", "unknown", evidence=evidence)
    share = (held + 0.5) / (runs + 1)
    seeds = max(1, math.ceil(math.log(1 - SURE) / math.log(1 - share) - 1e-9))
    return Claim("advise.seeds", seeds, "", "predicted", evidence=evidence)


def _changes(asked: _Situation) -> list[dict[str, str]]:
    """What would change the advice: what theory names, and what is not clearly worse for similar tasks."""
    best = asked.best
    found = [{"key": change.key, "sentence": change.sentence} for change in asked.card.changes]
    for other in asked.ranking[1:]:
        close = other.interval and best.interval and other.interval.high >= best.held / best.tasks
        if close and other.verdict != "cannot" and other.held and len(found) < _MOST_CHANGES:
            values = {"design": other.design, "held": other.held, "tasks": other.tasks}
            found.append({"key": "measure", "sentence": sentence("advise.measure_both", values)})
    return found


def _command(asked: _Situation, design: str, claims: Sequence[Claim]) -> str:
    """The command that tries a line of the advice."""
    by_key = {claim.key: claim for claim in claims}
    seeds, least = (by_key[f"advise.{name}"].value for name in ("seeds", "train_size"))
    size = max(asked.train_size, least) if isinstance(least, int) else asked.train_size
    words = ["lengthwise", "train", asked.name, "--position" if design in asked.encodings else "--model", design]
    words += ["--train-size", str(size), "--test-size", str(max(asked.test_size, size)), "--seeds", str(seeds or 3)]
    return shlex.join(words)


# --- tables ---------------------------------------------------------------------------------------------------------


def _lines(asked: _Situation, claims: Sequence[Claim]) -> Table:
    """Each line of the advice with its grounds."""
    rows = []
    for claim in claims:
        if claim.key != "advise.share":
            value = sentence("advise.no_evidence") if claim.value is None else str(claim.value)
            rows.append((claim.title, value, "" if claim.value is None else "; ".join(_grounds(asked, claim))))
    return Table("advise.lines", _LINES, tuple(rows))


def _grounds(asked: _Situation, claim: Claim) -> list[str]:
    """What theory says, and what was measured."""
    evidence = claim.evidence
    if claim.key in ("advise.encoding", "advise.model"):
        said = sentence("advise.by_verdict", {"verdict": asked.verdict(evidence["design"])})
        return [said, sentence("advise.cells" if "low" in evidence else "advise.no_evidence", evidence)]
    if claim.key == "advise.train_size":
        return [
            sentence(
                "advise.least",
                {"kind": claim.kind, "title": sentence(evidence["theory"], evidence), "value": claim.value},
            )
        ]
    if claim.key == "advise.seeds":
        return [sentence("advise.seeds_cells", evidence)]
    if not evidence["runs"]:
        return [sentence("advise.no_evidence")]
    only = [] if evidence["compared"] else [sentence("advise.only_one")]
    return [*only, sentence("advise.learned", evidence)] if claim.key == "advise.recipe" or not only else only


def _design_table(asked: _Situation) -> Table:
    rows = []
    for one in asked.ranking:
        ends = (None, None) if one.interval is None else (one.interval.low, one.interval.high)
        own = None if one.own is None else one.own.exact
        rows.append((one.design, asked.verdict(one.design), one.tasks, one.held, *ends, one.runs, own, one.expected))
    similar = ", ".join(sentence(f"advise.same_{name}") for name in asked.best.similar)
    compared = sentence("advise.similar_tasks", {"similar": similar}) if similar else sentence("advise.all_tasks")
    values = {"compared": compared, "multiple": asked.multiple}
    return Table("advise.designs", _DESIGNS, tuple(rows), note=sentence("advise.designs_note", values))


def _rules(asked: _Situation) -> Table:
    """Our advice next to the fixed rules."""
    fixed = BEYOND if asked.test_size > asked.train_size else WITHIN
    own = [run.group for run in asked.atlas.runs if run.task == asked.name]
    kind = own[0] if own else "steps" if isinstance(asked.task, Formulation) else ""
    rows = []
    for rule, name, temperature in (
        (OURS, asked.best_encoding.design, 1.0),
        (FIXED, fixed, _TEMPERATURES.get(kind, 1.0)),
    ):
        found = next((one for one in asked.ranking if one.design == name), None)
        expected, count = (None, 0) if found is None else (found.expected, found.tasks)
        rows.append((sentence(f"advise.{rule}"), name, temperature, expected, count))
    return Table("advise.rules", _RULES, tuple(rows), note=sentence("advise.rules_note"))


def _cell_table(asked: _Situation) -> Table:
    """The cells behind the first line of the advice."""
    rows = tuple((c.task, c.design, c.exact, c.runs, c.held) for c in asked.best.cells)
    return Table("advise.cells", _CELLS, rows, sentence("advise.cells_title"), detail=True)
