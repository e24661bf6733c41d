"""What `lengthwise doctor` does."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import re

from lengthwise.cli.output import write_field, write_object, write_rows
from lengthwise.errors import UsageError
from lengthwise.models.placed import devices
from lengthwise.runs.environment import threads
from lengthwise.runs.plan import Plan, preset
from lengthwise.runs.run import build_model
from lengthwise.tasks import tasks
from lengthwise.training.loop import train_model
from lengthwise.training.recipe import Recipe
from lengthwise.version import __version__

_WORKSHOP = ("bench", "dev", "release")  # extras for work on the package itself
_NAME = re.compile(r"[A-Za-z0-9._-]+")
_EXTRA = re.compile(r"extra\s*==\s*['\"]([^'\"]+)['\"]")
TRIAL_SECONDS = 2.0


def run(options: argparse.Namespace) -> int:
    needed = required()
    core = {name: _version(name) for name in needed.pop("")}
    extras = {name: {package: _version(package) for package in packages} for name, packages in needed.items()}
    content = {
        "lengthwise": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "threads": _threads(),
        "devices": devices(),
        "core": core,
        "extras": extras,
        "missing": [name for name, version in core.items() if version is None],
    }
    if not content["missing"] and not options.no_speed:
        content["speed"] = _speed(options.seed or 0)
    if options.json:
        write_object("doctor", content)
    else:
        _write(content)
    return 2 if content["missing"] else 0


def required() -> dict[str, list[str]]:
    """What the installed package declares: the packages it cannot do without under "", and those of each extra."""
    try:
        declared = importlib.metadata.requires("lengthwise") or []
    except importlib.metadata.PackageNotFoundError:
        raise UsageError(
            "lengthwise is not installed, so what it requires is not known; run `pip install .` in its folder"
        ) from None
    found: dict[str, list[str]] = {"": []}
    for line in declared:
        requirement, _, marker = line.partition(";")
        name, extra = _NAME.match(requirement), _EXTRA.search(marker)
        if name:
            found.setdefault(extra[1] if extra else "", []).append(name[0])
    return {extra: packages for extra, packages in found.items() if extra not in _WORKSHOP}


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _threads() -> int | None:
    """The threads torch would use by itself; `train` uses one unless told otherwise."""
    try:
        import torch
    except ImportError:
        return None
    return torch.get_num_threads()


def _speed(seed: int) -> dict:
    """Steps of the default model on sorting, for about two seconds after a first few that do not count."""
    task, recipe = tasks.make("sort"), Recipe(steps=10, check_every=10)
    plan = Plan(task, preset(task)[0], recipe, 20, 20, seed=seed)
    seconds, steps = 0.0, 0
    with threads(1):
        train_model(build_model(plan), task, recipe, 20, seed)
        while seconds < TRIAL_SECONDS:
            history = train_model(build_model(plan), task, recipe, 20, seed)
            seconds, steps = seconds + history.seconds, steps + history.step
    return {
        "milliseconds_per_step": 1000 * seconds / steps,
        "task": "sort",
        "train_size": 20,
        "batch": 64,
        "threads": 1,
    }


def _write(content: dict) -> None:
    threads = f", torch threads: {content['threads']}" if content["threads"] else ""
    print(f"lengthwise {content['lengthwise']}, Python {content['python']}, {content['cores']} cores{threads}\n")
    write_rows([(name, version or f"MISSING: pip install {name}") for name, version in content["core"].items()])
    print("\ndevices")
    write_rows(list(content["devices"].items()))
    print("\nextras")
    for name, packages in content["extras"].items():
        absent = [package for package, version in packages.items() if version is None]
        have = [f"{package} {version}" for package, version in packages.items() if version]
        lack = [f"missing {', '.join(absent)}: pip install 'lengthwise[{name}]'"] if absent else []
        write_field(name, "; ".join(have + lack))
    if "speed" in content:
        print()
        write_field("speed", f"{content['speed']['milliseconds_per_step']:.1f} ms per training step")
        write_field("", "(sort, default model, sizes to 20, 64 items, one thread)")
    if content["missing"]:
        print(f"\nmissing: {', '.join(content['missing'])}")
