"""Versions, threads, a two-second speed trial, extras, and what is missing."""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform

EXTRAS = {
    "ot": ("POT", "ortools"),
    "hf": ("transformers", "datasets", "gguf"),
    "ray": ("ray",),
    "slurm": ("submitit",),
    "track": ("mlflow", "trackio", "tensorboard"),
    "pdf": ("matplotlib",),
}
CORE = ("torch", "numpy", "scipy", "rich", "pydantic", "safetensors", "jinja2", "altair", "vl-convert-python")


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-speed", action="store_true", help="skip the speed trial")


def run(options: argparse.Namespace) -> int:
    from lengthwise import __version__
    from lengthwise.cli.output import write_object

    core = {name: _version(name) for name in CORE}
    extras = {name: {package: _version(package) for package in packages} for name, packages in EXTRAS.items()}
    content = {
        "lengthwise": __version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
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


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _speed(seed: int) -> dict:
    """Steps of the default model on sorting, for about two seconds."""
    import time

    from lengthwise.positions import make_position
    from lengthwise.runs.environment import threads
    from lengthwise.runs.plan import Plan, preset
    from lengthwise.runs.run import build_model
    from lengthwise.tasks import tasks
    from lengthwise.training.loop import Recipe, train_model

    task = tasks.make("sort")
    architecture = preset(task)[0]
    plan = Plan(task, architecture, Recipe(steps=5, check_every=5), 20, 20, seed=seed)
    with threads(1):
        history, spent = None, 0.0
        began = time.perf_counter()
        steps = 0
        while spent < 2.0:
            history = train_model(build_model(plan), task, plan.recipe, 20, seed)
            steps += history.step
            spent = time.perf_counter() - began
    return {
        "milliseconds_per_step": 1000 * spent / steps,
        "threads": 1,
        "position": make_position("none").__class__.__name__,
    }


def _write(content: dict) -> None:
    print(f"lengthwise {content['lengthwise']}, Python {content['python']}, {content['cores']} cores")
    for name, version in content["core"].items():
        print(f"  {name:<18} {version or 'MISSING: pip install ' + name}")
    print("extras")
    for name, packages in content["extras"].items():
        absent = [package for package, version in packages.items() if version is None]
        have = ", ".join(f"{package} {version}" for package, version in packages.items() if version)
        lack = f"missing {', '.join(absent)}: pip install 'lengthwise[{name}]'" if absent else ""
        print(f"  {name:<18} {'; '.join(text for text in (have, lack) if text)}")
    if "speed" in content:
        print(
            f"speed: {content['speed']['milliseconds_per_step']:.1f} ms a training step (sort, size to 20, batch 64, one thread)"
        )
    if content["missing"]:
        print(f"missing: {', '.join(content['missing'])}")
