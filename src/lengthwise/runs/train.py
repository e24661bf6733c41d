"""Train in one call, with every setting by its name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Unpack, overload

from lengthwise.errors import UsageError
from lengthwise.positions import Position
from lengthwise.probes.curve.spread import Spread, over_seeds
from lengthwise.probes.probe import Probe, make_probes
from lengthwise.progress import Progress, shown
from lengthwise.runs.plan import Settings, folder_of_seed, plan_for
from lengthwise.runs.run import Run, carry_out
from lengthwise.tasks.task import Task


@overload
def train(
    task: str | Task,
    position: str | Position = "none",
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seeds: Literal[1] = 1,
    folder: str | Path | None = None,
    probes: Sequence[str | Probe] = (),
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> Run: ...


@overload
def train(
    task: str | Task,
    position: str | Position = "none",
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seeds: int | Sequence[int],
    folder: str | Path | None = None,
    probes: Sequence[str | Probe] = (),
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> Run | Spread: ...


def train(
    task: str | Task,
    position: str | Position = "none",
    *,
    train_size: int | None = None,
    test_size: int | None = None,
    items: int = 200,
    seeds: int | Sequence[int] = 1,
    folder: str | Path | None = None,
    probes: Sequence[str | Probe] = (),
    progress: Progress | None = None,
    **settings: Unpack[Settings],
) -> Run | Spread:
    """Train a model on sizes up to `train_size` (by default 20, or less for a task that ends before 60) and measure it
    at every size up to `test_size` (by default three times the training size), on `items` items per size. The run is
    kept in `folder`. If a finished run with the same plan is there, it is returned; an interrupted one is resumed.

    `seeds` is a number of seeds, from 0 on, or a list of them. One seed gives a `Run`; several give a `Spread` of their
    curves, and each run has a folder of its own inside `folder`. `probes` are put to the trained model in addition to
    the curve, as in probes=["ladder:items=200"]. `progress` is called with what is being done; by default a terminal
    and a notebook show a bar.

    All other arguments are settings of the model and of training, the fields of `Architecture` and of `Recipe`. They
    replace those of the task's preset, exactly as the options of the same names do on the command line: a setting that
    you do not give keeps the preset's value. The names and types are those of `lengthwise.runs.plan.Settings`, which
    editors and type checkers know.

    >>> run = lw.train("sort", "learned+offset", train_size=20, test_size=60)    # doctest: +SKIP
    >>> run.reach, run.curve.bins()[-1].exact                                     # doctest: +SKIP
    >>> lw.train("sort", "rope", depth=4, steps=200, seeds=3)                     # doctest: +SKIP
    """
    given = {"train_size": train_size, "test_size": test_size, "items": items, "probes": make_probes(probes)}
    plans = [plan_for(task, position, settings, seed=seed, **given) for seed in seeds_of(seeds)]
    with shown(progress) as told:
        if len(plans) == 1:
            return carry_out(plans[0], folder, told)
        runs = [carry_out(plan, folder and folder_of_seed(folder, plan), told) for plan in plans]
    return over_seeds([run.curve for run in runs])


def seeds_of(given: int | Sequence[int]) -> tuple[int, ...]:
    """`3` is the seeds 0, 1 and 2; a list names them."""
    if type(given) is int and given >= 1:
        return tuple(range(given))
    named = tuple(given) if isinstance(given, Sequence) and not isinstance(given, str) else ()
    if not named or any(type(seed) is not int for seed in named) or len(set(named)) < len(named):
        raise UsageError(f"seeds is a number of seeds, 1 or more, or a list of different seeds, not {given!r}")
    return named
