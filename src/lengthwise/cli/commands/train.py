"""What `lengthwise train` does."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengthwise.cli.commands.records import elsewhere
from lengthwise.cli.commands.results import draw_curves, write_records, write_spread
from lengthwise.cli.options import task_chosen, task_needed
from lengthwise.cli.output import narrate, warn, write_field, write_object
from lengthwise.errors import Interrupted, UsageError
from lengthwise.integrity import RUN, read_record
from lengthwise.oracle.locality.trainable import layout_model
from lengthwise.probes.curve.spread import Keep, over_seeds
from lengthwise.probes.curve.standard import too_few_items
from lengthwise.progress import shown
from lengthwise.runs.plan import SETTINGS, Plan, Start, default_folder, folder_of_seed, plan_for
from lengthwise.runs.selection import Candidate, candidates, chosen_among
from lengthwise.studies.reach import check_plans
from lengthwise.tasks import tasks
from lengthwise.tasks.contract import check_own
from lengthwise.tasks.formulations.own import OwnLayout

if TYPE_CHECKING:
    from lengthwise.records import Record
    from lengthwise.runs.run import Run


def run(options: argparse.Namespace) -> int:
    if options.keep is not None and options.seeds == 1:
        raise UsageError("--keep chooses among several seeds; it goes with --seeds 2 or more")
    if options.select is not None and (options.seeds > 1 or options.start):
        raise UsageError("--select trains several models of one seed from fresh weights; leave --seeds and --from out")
    keep = Keep(options.keep or 0.0)
    first = options.seed or 0
    plans = [_plan(options, seed) for seed in range(first, first + options.seeds)]
    task = plans[0].task
    if isinstance(task, OwnLayout) and not options.start:
        narrate(layout_model(task).note, options.quiet)
    check_own(task, plans[0].test_sizes[-1:])
    warn([*task.warnings(), *(too_few_items(options.items) if task.certain else [])], options.quiet)
    tried = _candidates(plans[0], options) if options.select is not None else []
    check_plans([one.whole for one in tried] or plans, "this run" if len(plans) == 1 else "all seeds together", 1)
    if options.dry_run:
        return _show_plans(plans, options, tried)
    record = None
    try:
        if tried:
            run, record = _selected(tried, options)
            runs = [run]
        else:
            runs = [_carried_out(plan, options) for plan in plans]
    except KeyboardInterrupt:
        raise Interrupted("stopped; what was finished is kept, and the same command resumes it") from None
    draw_curves(options.figure, [run.curve for run in runs], options.quiet)
    if len(runs) == 1:
        run = runs[0]
        if options.json:
            content = {"folder": str(run.folder), "plan": run.plan.plain(), "ended": run.history.ended}
            choice = {} if record is None else {"selection": record.plain()}
            write_object("train", {**content, "environment": run.environment, **choice, **_records(run)})
        else:
            records = [*([record] if record else []), *(run.record(slug) for slug in run.plan.asked())]
            write_records(records, elsewhere(options))
        return 0
    spread = over_seeds([run.curve for run in runs], keep)
    if options.json:
        runs_plain = [{"folder": str(run.folder), **_records(run)} for run in runs]
        write_object("train", {"runs": runs_plain, **spread.plain()})
    else:
        write_spread(spread)
    return 0


def _carried_out(plan: Plan, options: argparse.Namespace) -> Run:
    """The run of a plan, done now or found in its folder."""
    from lengthwise.runs.run import carry_out  # torch: a dry run needs none of it

    folder = _folder(plan, options)
    found = (folder / RUN).exists()
    title = f"seed {plan.seed}" if options.seeds > 1 else ""
    with shown(quiet=options.quiet, title=title) as progress:
        run = carry_out(plan, folder, progress, options.threads)
    narrate(f"{title + ': ' if title else ''}{_summary(run, found)}", options.quiet)
    return run


def _candidates(plan: Plan, options: argparse.Namespace) -> list[Candidate]:
    """What --select chooses among, with what else the user said."""
    encodings, recipes = chosen_among(options.select, plan.position_name)
    sizes = {"train_size": plan.train_size, "test_size": plan.test_size, "items": plan.items, "seed": plan.seed}
    return candidates(plan.task, encodings, recipes, _given(options), probes=plan.probes, **sizes)


def _selected(tried: list[Candidate], options: argparse.Namespace) -> tuple[Run, Record]:
    from lengthwise.runs.selected import carry_out_selection  # torch: a dry run needs none of it

    with shown(quiet=options.quiet) as progress:
        found = carry_out_selection(tried, options.folder, progress, options.threads)
    narrate(_summary(found.run, False), options.quiet)
    return found.run, found.record


def _records(run: Run) -> dict[str, object]:
    return {"records": [run.record(slug).plain() for slug in run.plan.asked()]}


def _summary(run: Run, found: bool) -> str:
    history = run.history
    speed = history.tokens / max(history.seconds, 1e-9) / 1000
    usual = history.step == run.plan.recipe.steps and not history.unsettled
    ended = "" if usual else f"; {history.ended}"
    return (
        f"{'found as trained earlier' if found else 'trained'} in {run.folder}: {history.step} steps, "
        f"{history.seconds:.0f} s, {speed:.0f}k tokens/s, last loss {history.losses[-1][1]:.4f}{ended}"
    )


def _folder(plan: Plan, options: argparse.Namespace) -> Path:
    """Where the run of a plan is kept: a folder for each seed where there are several."""
    if options.folder is None:
        return default_folder(plan)
    return folder_of_seed(options.folder, plan) if options.seeds > 1 else Path(options.folder)


def _plan(options: argparse.Namespace, seed: int) -> Plan:
    begun = _begun(options.start) if options.start else {}
    task = task_chosen(options) or begun.get("task") or task_needed(options)
    position = options.position or begun.get("position")
    return plan_for(
        task,
        position,
        _given(options),
        train_size=options.train_size or begun.get("train_size"),
        test_size=options.test_size,
        items=options.items,
        seed=seed,
        probes=options.probe or (),
    )


def _given(options: argparse.Namespace) -> dict[str, Any]:
    return {name: getattr(options, name) for name in SETTINGS if getattr(options, name) is not None}


def _begun(folder: str) -> dict[str, Any]:
    """What a plan takes over from the run that it begins with, unless the user says otherwise."""
    Start.of(folder)
    if not Path(folder, RUN).exists():
        return {}
    plan = read_record(Path(folder)).get("plan", {})
    try:
        kept = {name: plan.get(name) for name in ("task", "train_size")}
        return {**kept, "task": kept["task"] and tasks.restore(kept["task"]), "position": plan["model"].get("position")}
    except (KeyError, TypeError, AttributeError) as error:
        raise UsageError(f"{Path(folder, RUN)} is not the record of a run: {error}") from None


def _show_plans(plans: list[Plan], options: argparse.Namespace, tried: list[Candidate]) -> int:
    """What would be done: the plans differ in their seeds alone. With candidates, what is chosen among."""
    folders = [str(_folder(plan, options)) for plan in plans]
    if options.json:
        content: dict[str, Any] = {"dry_run": True, "plans": [plan.plain() for plan in plans], "folders": folders}
        if tried:
            content |= {"plans": [one.whole.plain() for one in tried], "folders": []}
        write_object("train", content)
        return 0
    plan, content = plans[0], plans[0].plain()
    write_field("task", plan.task_name)
    kind = "decoder" if plan.architecture.causal else "encoder"
    settings = {name: value for name, value in content["model"].items() if name not in ("causal", "name")}
    write_field("model", ", ".join(filter(None, [content["model"].get("name"), kind, _listed(settings)])))
    write_field("training", _listed(content["recipe"]))
    write_field("sizes", f"train to {plan.train_size}, test to {plan.test_size}, {plan.items} items each")
    for one in tried:
        trial = one.trial
        write_field("candidate", f"{one.name}: train to {trial.train_size}, compare to {trial.test_size}")
    for each, folder in zip(plans, folders, strict=True) if not tried else ():
        write_field(f"seed {each.seed}", f"in {folder}")
    return 0


def _listed(settings: dict[str, object]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in settings.items() if value is not None)
