"""Train a model on a task at short sizes, then measure it at every size up to the test size.

The run is kept in a folder (runs/… unless --folder says otherwise). The same command again returns the finished run, or
goes on with an interrupted one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from lengthwise.cli.options import add_task_options, task_needed, whole


def add_options(parser: argparse.ArgumentParser) -> None:
    add_task_options(parser)
    parser.add_argument(
        "--position", default="none", help="the encoding (`lengthwise positions`), as learned+offset (none)"
    )
    parser.add_argument("--train-size", type=whole, default=20, help="train on sizes up to this (20)")
    parser.add_argument(
        "--test-size", type=whole, help="measure at every size up to this (three times the training size)"
    )
    parser.add_argument("--items", type=whole, default=200, help="test items at each size (200)")
    parser.add_argument("--seeds", type=whole, default=1, metavar="N", help="train N seeds, from --seed on (1)")
    parser.add_argument(
        "--keep",
        type=float,
        default=0.0,
        metavar="SHARE",
        help="with --seeds: keep those with this exact match in range",
    )
    parser.add_argument("--folder", metavar="DIR", help="where the run is kept")
    parser.add_argument("--figure", metavar="FILE", help="draw the curve into this .svg, .png or .html file")
    parser.add_argument("--threads", type=whole, default=1, help="torch threads (1: best for small models)")
    parser.add_argument("--dry-run", action="store_true", help="print the resolved plan and stop")
    model = parser.add_argument_group("the model (the task's preset where not given)")
    model.add_argument("--depth", type=whole, help="layers")
    model.add_argument("--width", type=whole, help="width of the residual stream")
    model.add_argument("--heads", type=whole, help="attention heads")
    model.add_argument("--mlp-ratio", type=whole, help="hidden width of the MLP over the width")
    sight = model.add_mutually_exclusive_group()
    sight.add_argument("--decoder", action="store_true", help="a token sees what came before it (the usual preset)")
    sight.add_argument("--encoder", action="store_true", help="every token sees every other")
    model.add_argument("--attention", default=None, help="softmax:temperature=…, log_length, hardmax, window:size=…")
    recipe = parser.add_argument_group("training (the task's preset where not given)")
    recipe.add_argument("--steps", type=whole, help="training steps")
    recipe.add_argument("--batch", type=whole, help="items a step")
    recipe.add_argument("--rate", type=float, help="learning rate of AdamW at its peak")
    recipe.add_argument("--warmup", type=float, help="share of the steps in which the rate rises")
    recipe.add_argument("--decay", choices=["linear", "cosine", "constant"], help="how the rate falls after that")
    recipe.add_argument("--weight-decay", type=float, help="AdamW's decay of matrices")
    recipe.add_argument("--clip", type=float, help="largest norm of the gradient")
    recipe.add_argument(
        "--sizes", help="which sizes when: uniform, fixed:size=…, increasing:share=…, long_first:ratio=…"
    )
    recipe.add_argument(
        "--stop-at", type=float, metavar="SHARE", help="end once this share of in-range items is right, twice"
    )


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.output import write_curve, write_object, write_spread
    from lengthwise.cli.progress import progress
    from lengthwise.errors import UsageError
    from lengthwise.measurement.spread import Keep, over_seeds
    from lengthwise.runs.run import Run, carry_out

    if options.seeds < 1:
        raise UsageError(f"--seeds is at least 1, not {options.seeds}")
    first = options.seed or 0
    plans = [_plan(options, seed) for seed in range(first, first + options.seeds)]
    if options.dry_run:
        return _show_plan(plans, options)
    runs: list[Run] = []
    for plan in plans:
        folder = Path(options.folder) / f"seed-{plan.seed}" if options.folder and len(plans) > 1 else options.folder
        title = f"seed {plan.seed} " if len(plans) > 1 else ""
        with progress(plan, options.quiet, title) as listener:
            runs.append(carry_out(plan, folder, listener, options.threads))
        if not options.quiet:
            print(_summary(runs[-1]), file=sys.stderr)
    if options.figure:
        draw(Path(options.figure), [run.curve.plain() for run in runs], options.quiet)
    if len(runs) == 1:
        run = runs[0]
        if options.json:
            content = {"folder": str(run.folder), "plan": run.plan.plain(), "ended": run.history.ended}
            write_object("train", {**content, "environment": run.environment, "curve": run.curve.plain()})
        else:
            write_curve(run.curve)
        return 0
    spread = over_seeds([run.curve for run in runs], Keep(options.keep))
    if options.json:
        write_object("train", {"folders": [str(run.folder) for run in runs], **spread.plain()})
    else:
        write_spread(spread)
    return 0


def _plan(options: argparse.Namespace, seed: int):
    from dataclasses import replace

    from lengthwise.models.attention import attentions
    from lengthwise.positions import make_position
    from lengthwise.runs.plan import Plan, preset
    from lengthwise.tasks import tasks
    from lengthwise.training.lengths import schedules

    task = tasks.make(task_needed(options))
    architecture, recipe = preset(task)
    given = {k: v for k, v in vars(options).items() if v is not None}
    shape = {k: given[k] for k in ("depth", "width", "heads", "mlp_ratio") if k in given}
    if "attention" in given:
        shape["attention"] = attentions.make(options.attention)
    position = make_position(options.position)
    if options.encoder or options.decoder:
        shape["causal"] = options.decoder
    architecture = replace(architecture, **shape, position=position)
    names = ("steps", "batch", "rate", "warmup", "decay", "weight_decay", "clip", "stop_at")
    changes = {k: given[k] for k in names if k in given}
    if "sizes" in given:
        changes["sizes"] = schedules.make(options.sizes)
    test_size = 3 * options.train_size if options.test_size is None else options.test_size
    return Plan(task, architecture, replace(recipe, **changes), options.train_size, test_size, options.items, seed)


def _show_plan(plans: list, options: argparse.Namespace) -> int:
    from lengthwise.cli.output import write_object
    from lengthwise.runs.run import default_folder

    if options.json:
        write_object("train", {"dry_run": True, "plans": [plan.plain() for plan in plans]})
        return 0
    for plan in plans:
        content = plan.plain()
        print(f"task        {plan.task_name}")
        for part in ("model", "recipe"):
            print(
                f"{part:<11} "
                + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in content[part].items() if v is not None)
            )
        print(f"sizes       train to {plan.train_size}, test to {plan.test_size}, {plan.items} items each")
        print(f"seed        {plan.seed}")
        print(f"folder      {options.folder or default_folder(plan)}")
    return 0


def _summary(run) -> str:
    history = run.history
    speed = history.tokens / max(history.seconds, 1e-9)
    return (
        f"{history.step} steps in {history.seconds:.0f} s ({speed / 1000:.0f}k tokens/s), last loss "
        f"{history.losses[-1][1]:.4f}, {history.ended}; kept in {run.folder}"
    )


def draw(path: Path, curves: list, quiet: bool) -> None:
    """Write a figure of curves, and say where it is."""
    from lengthwise.figures.curves import save_figure
    from lengthwise.models.folder import writing

    with writing(path):
        save_figure(path, curves)
    if not quiet:
        print(f"figure in {path}", file=sys.stderr)
