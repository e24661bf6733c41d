"""From a study to its runs: axes multiply, overrides replace some of them, exclusions take runs out. Then to the
records of runs that wait, and what the report needs to know of their tasks.

The order is fixed: tasks outermost, then encodings, training sizes, model axes, training axes, and seeds innermost.
Specs are compared as the registries write them, so that `(aa)*` and `aa_star` are one task.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import itertools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.models.architecture import Architecture
from lengthwise.positions import Position, Shape, positions
from lengthwise.probes.probe import Probe, probes
from lengthwise.registry import nearest, parse_spec, settings_of
from lengthwise.runs.plan import SETTINGS, SHAPE, Plan, default_folder, plan_for, preset
from lengthwise.studies.form import MODEL, TRAINING, Scalar, TestSize, Values, paired_test_sizes
from lengthwise.studies.record import RunRecord, named_variants, planned_run
from lengthwise.studies.spec import Study
from lengthwise.tasks import tasks
from lengthwise.tasks.sizes import default_test_size, name_of
from lengthwise.tasks.task import Task

MOST_RUNS = 100_000


@dataclass(frozen=True)
class _GridBlock:
    """One task with one encoding: the axes that hold there, after the overrides."""

    task: Task
    position: Position
    train_size: tuple[int, ...]
    test_size: TestSize
    items: int
    seeds: tuple[int, ...]
    model: Mapping[str, Values]
    training: Mapping[str, Values]
    probes: tuple[Probe, ...]

    @functools.cached_property
    def names(self) -> dict[str, str]:
        return {"task": name_of(self.task), "position": positions.text_of(self.position)}

    @property
    def count(self) -> int:
        return math.prod(map(len, (self.train_size, self.seeds, *self.model.values(), *self.training.values())))


@dataclass(frozen=True)
class _Choice:
    """One value of every axis of a block: a run to be, not yet known to be possible."""

    block: _GridBlock
    train_size: int
    test_size: int | None
    model: Mapping[str, Scalar]
    training: Mapping[str, Scalar]
    seed: int
    known: Mapping[str, Any]  # all that an exclusion can name

    def plan(self) -> Plan:
        """The plan, checked, with its schedule and encoding tried; what is wrong is said with what was chosen."""
        block = self.block
        try:
            plan = plan_for(
                block.task,
                block.position,
                {name: SETTINGS[name].restored(value) for name, value in {**self.model, **self.training}.items()},
                train_size=self.train_size,
                test_size=self.test_size,
                items=block.items,
                seed=self.seed,
                probes=block.probes,
            )
            _check_parts(plan)
        except UsageError as error:
            chosen = {**block.names, "train_size": self.train_size, **self.model, **self.training}
            named = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in chosen.items())
            raise UsageError(f"the run with {named} is not possible: {error}") from error
        return plan

    def differs_in_seed_alone(self, other: _Choice) -> bool:
        return {**self.known, "seed": other.seed} == other.known and self.test_size == other.test_size


def plans(study: Study) -> list[Plan]:
    """The plans of a study in their fixed order, each checked and each once.

    A plan that cannot be, an exclusion or override that matches nothing, and more runs than the budget are usage
    errors. O(runs)."""
    found: dict[str, Plan] = {}
    made: tuple[_Choice, Plan] | None = None
    for choice in _choices(study):
        same = made and choice.differs_in_seed_alone(made[0])  # what was tried for one seed holds for the next
        plan = dataclasses.replace(made[1], seed=choice.seed) if made and same else choice.plan()
        made = choice, plan
        found.setdefault(json.dumps(plan.plain(), sort_keys=True, default=str), plan)
    if study.budget.runs is not None and len(found) > study.budget.runs:
        raise UsageError(
            f"the study {study.name} has {len(found)} runs and its budget is {study.budget.runs}; use fewer "
            "seeds or values, an exclusion, or a larger [budget] runs"
        )
    return list(found.values())


def _choices(study: Study) -> list[_Choice]:
    """The grid without the excluded runs."""
    blocks = _blocks(study)
    if (count := sum(block.count for block in blocks)) > MOST_RUNS:
        raise UsageError(f"the axes of {study.name} multiply to {count} runs, and {MOST_RUNS} is the most there can be")
    everything = [choice for block in blocks for choice in _multiplied(block)]
    exclusions = [_written_alike(one, f"[[exclude]] {n}") for n, one in enumerate(study.exclude, start=1)]
    for number, exclusion in enumerate(exclusions, start=1):
        _check_matches(exclusion, [choice.known for choice in everything], f"[[exclude]] {number}")
    left = [choice for choice in everything if not any(_matches(one, choice.known) for one in exclusions)]
    if not left:
        raise UsageError(f"the exclusions of {study.name} leave no run; take one of them out")
    return left


def _blocks(study: Study) -> list[_GridBlock]:
    """A block for every pair of task and encoding, with the overrides laid over the study's axes in their order."""
    overrides = []
    for number, one in enumerate(study.override, start=1):
        match = {key: one[key] for key in ("task", "position") if key in one}
        overrides.append((_written_alike(match, f"[[override]] {number}"), one))
    every_task = {name_of(task): task for task in map(tasks.restore, study.tasks)}
    every_position = {positions.text_of(position): position for position in map(positions.restore, study.positions)}
    pairs = [{"task": task, "position": position} for task in every_task for position in every_position]
    for number, (match, _) in enumerate(overrides, start=1):
        _check_matches(match, pairs, f"[[override]] {number}")
    blocks = []
    for pair in pairs:
        held = {f.name: getattr(study, f.name) for f in dataclasses.fields(_GridBlock) if hasattr(study, f.name)}
        for match, override in overrides:
            if _matches(match, pair):
                held = {key: _replaced(value, override.get(key)) for key, value in held.items()}
        held["probes"] = tuple(map(probes.restore, held["probes"]))
        blocks.append(_GridBlock(task=every_task[pair["task"]], position=every_position[pair["position"]], **held))
    return blocks


def _replaced(held: Any, given: Any) -> Any:
    """An override's value in the place of the one held; of tables, axis by axis."""
    if given is None:
        return held
    return {**held, **given} if isinstance(given, dict) else given


def _multiplied(block: _GridBlock) -> Iterator[_Choice]:
    parts = ((part, settings_of(type(part))) for part in preset(block.task))
    usual = {name: one.plain(getattr(part, name)) for part, own in parts for name, one in own.items()}
    usual["model"] = "transformer"
    try:
        pairs = zip(block.train_size, paired_test_sizes(block.train_size, block.test_size), strict=True)
    except UsageError as error:
        raise UsageError(f"{block.names['task']} with {block.names['position']}: {error}") from error
    for train_size, test_size in pairs:
        reached = default_test_size(block.task, train_size) if test_size is None else test_size
        place = {**block.names, "train_size": train_size, "test_size": reached, "items": block.items}
        for model, training in itertools.product(_products(block.model, MODEL), _products(block.training, TRAINING)):
            known = {**usual, **_in_registry_words({**model, **training}), **place}
            if parse_spec(str(known["model"]))[0] != "transformer":
                known |= dict.fromkeys(SHAPE)
            for seed in block.seeds:
                yield _Choice(block, train_size, test_size, model, training, seed, {**known, "seed": seed})


def _products(axes: Mapping[str, Values], order: Mapping[str, type]) -> list[dict[str, Scalar]]:
    """Every choice of one value an axis, the last axis fastest."""
    names = [name for name in order if name in axes]
    return [dict(zip(names, row, strict=True)) for row in itertools.product(*(axes[name] for name in names))]


def _check_matches(match: Mapping[str, Values], known: Sequence[Mapping[str, Any]], where: str) -> None:
    """Refuse a match that no run fits, and within it a value that no run has: surely a slip of the pen."""
    for key, wanted in match.items():
        there = list(dict.fromkeys(one[key] for one in known))
        for value in wanted:
            if value not in there:
                near = nearest(value, [str(one) for one in there]) if isinstance(value, str) else ""
                some = ", ".join(str(one) for one in there[:8]) + (", …" if len(there) > 8 else "")
                raise UsageError(f"{where} matches nothing, as no run has {key} {value!r}; {near}there is {some}")
    if not any(_matches(match, one) for one in known):
        raise UsageError(f"{where} matches nothing: no run has {' and '.join(match)} like that at the same time")


def _matches(match: Mapping[str, Values], known: Mapping[str, Any]) -> bool:
    return all(known[key] in wanted for key, wanted in match.items())


def _in_registry_words(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings, with specs written as the registries write them."""
    return {key: _in_words(key, value) for key, value in settings.items()}


def _in_words(key: str, value: Any) -> Any:
    if key == "task":
        return name_of(tasks.restore(value))
    if key == "position":
        return positions.text_of(positions.restore(value))
    return SETTINGS[key].plain(SETTINGS[key].restored(value)) if key in SETTINGS else value


def _written_alike(match: Mapping[str, Values], where: str) -> dict[str, Values]:
    try:
        return {key: tuple(_in_registry_words({key: value})[key] for value in wanted) for key, wanted in match.items()}
    except UsageError as error:
        raise type(error)(f"{where}: {error}") from error


def _check_parts(plan: Plan) -> None:
    """Try the size schedule, and whether the encoding fits the model: what does not is refused before the work."""
    plan.recipe.sizes.draw(plan.train_sizes, 0.0, 0.0)
    try:
        interface = plan.interface()
    except Exception:  # a user's task that breaks is the business of its run, which will say how
        return
    shape = plan.architecture
    if isinstance(shape, Architecture):
        shape.position.check(Shape(shape.width, shape.heads, interface.rows, interface.trained, shape.causal))


def run_key(plan: Plan) -> str:
    """The name of a run's folder: task, encoding, seed and the hash of its plan."""
    try:
        return default_folder(plan).name
    except LengthwiseError:
        raise
    except Exception:  # a user's task that breaks as soon as it is asked anything; its run will say how
        content = hashlib.blake2b(repr(plan.plain()).encode(), digest_size=4).hexdigest()
        return f"broken-s{plan.seed}-{content}"


def planned_records(plans: Sequence[Plan]) -> list[RunRecord]:
    """A waiting run for each plan. Its variant names the settings that differ between runs of its task and encoding."""
    return named_variants(
        planned_run(run_key(plan), plan.task_name, plan.position_name, plan.plain(), plan.asked()) for plan in plans
    )


def study_facts(plans: Sequence[Plan]) -> dict[str, Any]:
    """What to store with the runs, so that a report can be built from stored records alone."""
    from lengthwise.runs.environment import environment  # torch: plans are made without it

    tasks = {}
    for plan in plans:
        facts = plan.task.facts
        tasks[plan.task_name] = {
            "axis": plan.task.axes[0].name,
            "readout": plan.task.readout,
            "circuit_class": facts.circuit_class,
            "published": [{**vars(curve), "reference": str(curve.reference)} for curve in facts.published],
        }
    asking = [plan for plan in plans if any(probe.measures_shifts for probe in plan.probes)]
    shifts = list(dict.fromkeys((plan.task_name, plan.train_size) for plan in asking))
    return {"tasks": tasks, "environment": environment(), "shifts": shifts}
