"""What `lengthwise tasks` does."""

from __future__ import annotations

import argparse
import dataclasses
import inspect
from typing import Any

from lengthwise.cli.options import task_chosen
from lengthwise.cli.output import narrate, warn, width, wrapped, write_field, write_object, write_paragraphs, write_rows
from lengthwise.errors import UsageError
from lengthwise.registry import format_spec
from lengthwise.tasks import tasks
from lengthwise.tasks.contract import check_own
from lengthwise.tasks.task import Task


def run(options: argparse.Namespace) -> int:
    spec = task_chosen(options)
    if spec is None:
        if options.show or options.size is not None:
            raise UsageError("--show and --size go with a task, as in `lengthwise tasks sort --show 3`")
        rows = [(name, first_line(tasks.maker(name))) for name in tasks.names()]
        hint = f"{len(rows)} tasks; `lengthwise tasks NAME --show 3` shows one of them"
        return write_names("tasks", rows, hint, options)
    task = tasks.make(spec)
    content = _about(task, options)
    warn(task.warnings(), options.quiet)
    if options.json:
        write_object("tasks", content)
    else:
        _write_about(task, content)
        _write_samples(content["samples"])
    return 0


def write_names(command: str, rows: list[tuple[str, str]], hint: str, options: argparse.Namespace) -> int:
    """The names that a command lists, each with its description; the exit code."""
    if options.json:
        write_object(command, {command: [{"name": name, "description": text} for name, text in rows]})
    else:
        write_rows(rows)
        narrate(hint, options.quiet)
    return 0


def first_line(maker) -> str:
    """The first line of the docstring of a class, or of the class a preset fills in."""
    return (inspect.getdoc(getattr(maker, "func", maker)) or "").partition("\n")[0]


def _about(task: Task, options: argparse.Namespace) -> dict:
    axis, facts = task.axes[0], task.facts
    some = task.sizes(axis.smallest, axis.smallest + 1000)
    if options.size is None and not some:
        raise UsageError(
            f"the task has no items of size {axis.smallest} to {axis.smallest + 1000}; name a larger size with --size"
        )
    size = some[min(5, len(some) - 1)] if options.size is None else options.size
    check_own(task, [size])
    samples = []
    drawn = task.draw(size, options.seed or 0, range(max(1, options.show)))
    for prompt, answer in list(zip(drawn.prompts, drawn.answers, strict=True))[: options.show]:
        written = [float(x) for x in answer] if task.readout == "numbers" else list(task.spelled(answer))
        samples.append({"prompt": list(task.spelled(prompt)), "answer": written})
    thing: Any = task
    settings = [field.name for field in dataclasses.fields(thing)] if dataclasses.is_dataclass(thing) else []
    return {
        "name": format_spec(tasks.spec_of(task)),
        "description": inspect.getdoc(type(task)) or "",
        "settings": {name: getattr(task, name) for name in settings},
        "readout": task.readout,
        "axes": [vars(a) for a in task.axes],
        "first_sizes": some[:6],
        "symbols": len(task.symbols),
        "chance": {"size": size, **vars(task.chance(size))},
        "circuit_class": facts.circuit_class,
        "crasp": dict(facts.crasp),
        "references": [str(reference) for reference in facts.references],
        "published": [
            {"encoding": p.encoding, "bins": p.bins, "exact_match": p.exact_match, "reference": str(p.reference)}
            for p in facts.published
        ],
        "preset": dict(task.preset),
        "samples": samples,
    }


def _write_about(task: Task, content: dict) -> None:
    meaning = {"answer": "written token by token", "tags": "one label a position", "numbers": "real numbers"}
    known = {True: "a program exists", False: "no program exists", None: "unknown"}
    print(wrapped(content["name"]))
    write_paragraphs(content["description"])
    print()
    sizes = ", ".join(map(str, content["first_sizes"]))
    write_field("size", f"{task.axes[0].meaning} ({sizes}{', …' if len(content['first_sizes']) > 5 else ''})")
    for other in task.axes[1:]:
        write_field("also grows", f"{other.name}: {other.meaning} (--axis {other.name} --at N)")
    if content["settings"]:
        write_field("settings", ", ".join(f"{key}={value}" for key, value in content["settings"].items()))
    write_field("answer", f"{meaning[task.readout]}; {content['symbols']} symbols")
    chance = content["chance"]
    exact, token = (f"{'≈ ' * bool(chance[f'{part}_error'])}{chance[part]:.1%}" for part in ("exact", "token"))
    write_field("chance", f"{exact} exact, {token} of tokens, at size {chance['size']}")
    if content["circuit_class"]:
        write_field("class", content["circuit_class"])
    for encoding, status in content["crasp"].items():
        write_field("C-RASP", f"{encoding}: {known[status]}")
    for row in content["published"]:
        values = ", ".join(f"{a}-{b} {v:g}%" for (a, b), v in zip(row["bins"], row["exact_match"], strict=True))
        write_field("published", f"{row['encoding']}: {values} ({row['reference'].split(',')[0]})")
    if content["references"]:
        write_field("references", "; ".join(content["references"]))


def _write_samples(samples: list[dict]) -> None:
    """A sample a line, with the arrows below one another; one that is too long takes a line for each half."""

    def text(values: list) -> str:
        return " ".join(f"{x:.4g}" if isinstance(x, float) else x for x in values)

    pairs = [(text(sample["prompt"]), text(sample["answer"])) for sample in samples]
    if not pairs:
        return
    print()
    wide = max(len(prompt) for prompt, _ in pairs)
    short = max(len(answer) for _, answer in pairs) + wide + 5 <= width()
    for prompt, answer in pairs:
        if short:
            print(f"{prompt:<{wide}}  →  {answer}".rstrip())
        else:
            print(wrapped(prompt), wrapped(answer, "  →  ", "     "), sep="\n")
