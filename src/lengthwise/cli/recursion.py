"""`measure --recursive`: a run taken to the end of whole chains, as a table or as one JSON object."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from lengthwise.cli.output import narrate, width, wrapped, write_object
from lengthwise.cli.results import percent

if TYPE_CHECKING:
    from lengthwise.measurement.chain_points import ChainPoint, Recursion
    from lengthwise.runs.run import Run
    from lengthwise.tasks.task import Task


def run_recursively(run: Run, task: Task, sizes: list[int], options: argparse.Namespace) -> int:
    """Run the chains at each size and write what came out."""
    from lengthwise.measurement.recursion import run_chains
    from lengthwise.runs.environment import threads

    def told(point: ChainPoint) -> None:
        if sys.stderr.isatty():
            narrate(f"size {point.size}: {point.exact:.0%} exact, chains of {point.steps} steps", options.quiet)

    choice = {"items": options.items, "seed": options.seed, "position": options.position}
    with threads(1):
        result = run_chains(run, task, sizes=sizes, **choice, report=told)
    if options.json:
        write_object("measure", {"run": str(options.run), "recursion": result.plain()})
    else:
        write_recursion(result)
    return 0


def write_recursion(result: Recursion) -> None:
    """Three tables by size: the answers and how chains end, the single steps, and what an injected error does."""
    trained = "" if result.train_size is None else f", trained to size {result.train_size}"
    print(wrapped(f"{result.task}, position {result.position}{trained}, run to the end, seed {result.seed}"))
    print(f"\n{'size':>6}  {'exact':>6}  {'95 % interval':^15}  {'steps':>6}  {'on time':>7}  how the other chains end")
    for point in result.points:
        low, high = percent(point.interval.low), percent(point.interval.high)
        head = f"{point.size:>6}  {percent(point.exact)}  {low} – {high}  {point.steps:>6}"
        print(f"{head}  {percent(point.on_time / point.items):>7}  {_endings(point)}".rstrip())
    print("\nsingle steps, from the true states and from the model's own; the first wrong one")
    print(f"{'size':>6}  {'true':>6}  {'own':>6}  {'wrong chains':>12}  where in the chain (quartiles)")
    for point in result.points:
        places = " ".join(percent(share) for share in point.first_errors or ())
        steps = f"{percent(point.true_step)}  {percent(point.own_step)}"
        print(f"{point.size:>6}  {steps}  {percent(point.erring / point.items):>12}  {places}".rstrip())
    print("\none wrong label in one step of a true chain, and the model goes on from there")
    print(f"{'size':>6}  {'exact':>6}  {'solver':>6}  {'healed':>6}  {'stayed':>6}  {'spread':>6}  {'no end':>6}")
    for point in result.points:
        injuries = point.injuries
        counts = (injuries.right, injuries.solver_right, injuries.healed, injuries.stayed, injuries.spread)
        cells = (percent(count / max(1, injuries.items)) for count in (*counts, injuries.unended))
        print(f"{point.size:>6}  {'  '.join(cells)}")
    print()
    for line in _NOTES:
        print(wrapped(line, rest=" " * min(8, width())))


_NOTES = (
    "exact: chains that stopped by the model's own output with the right answer (measured)",
    "solver: the same wrong label, and an exact solver goes on: what the layout itself forgives",
    "healed, stayed, spread: no wrong column at the end, no more than the error made, more",
)


def _endings(point: ChainPoint) -> str:
    others = (("early", point.early), ("late", point.late), ("never", point.endless), ("no state", point.invalid))
    return ", ".join(f"{name} {percent(count / point.items).strip()}" for name, count in others if count)
