"""List the tasks with one line each, or show one: what is known about it, and worked samples."""

from __future__ import annotations

import argparse
import inspect

from lengthwise.cli.options import add_task_options, task_chosen, whole


def add_options(parser: argparse.ArgumentParser) -> None:
    add_task_options(parser)
    parser.add_argument("--show", type=whole, default=0, metavar="N", help="print N worked samples")
    parser.add_argument("--size", type=whole, help="the size of the samples (a small one)")


def run(options: argparse.Namespace) -> int:
    from lengthwise.cli.output import write_object
    from lengthwise.tasks import tasks

    spec = task_chosen(options)
    if spec is None:
        rows = [(name, first_line(tasks.maker(name))) for name in tasks.names()]
        if options.json:
            write_object("tasks", {"tasks": [{"name": name, "description": text} for name, text in rows]})
        else:
            write_rows(rows)
            if not options.quiet:
                print(
                    f"\n{len(rows)} tasks; `lengthwise tasks NAME --show 3` shows one. Settings: NAME:key=value,key=value"
                )
        return 0
    task = tasks.make(spec)
    content = _about(task, options)
    if options.json:
        write_object("tasks", content)
    else:
        _write_about(task, content)
    return 0


def first_line(maker) -> str:
    """The first line of the docstring of a class, or of the class a preset fills in."""
    return (inspect.getdoc(getattr(maker, "func", maker)) or "").splitlines()[0]


def write_rows(rows: list[tuple[str, str]]) -> None:
    """One line each, cut to the width of a terminal; whole where the output is read by a program."""
    import shutil
    import sys

    most = shutil.get_terminal_size().columns if sys.stdout.isatty() else 10_000
    wide = min(26, max(len(name) for name, _ in rows))
    for name, text in rows:
        line = f"{name:<{wide}} {text}"
        print(line if len(line) <= most else line[: most - 1] + "…")


def _about(task, options: argparse.Namespace) -> dict:
    from lengthwise.errors import UsageError
    from lengthwise.registry import format_spec
    from lengthwise.tasks import tasks

    if options.show < 0:
        raise UsageError(f"--show takes a number of samples from 0 on, not {options.show}")
    axis, facts = task.axes[0], task.facts
    some = task.sizes(axis.smallest, axis.smallest + 1000)
    size = some[min(5, len(some) - 1)] if options.size is None else options.size
    samples = []
    if options.show:
        drawn = task.draw(size, options.seed or 0, range(options.show))
        for prompt, answer in zip(drawn.prompts, drawn.answers, strict=True):
            written = [float(x) for x in answer] if task.readout == "numbers" else list(task.spelled(answer))
            samples.append({"prompt": list(task.spelled(prompt)), "answer": written})
    return {
        "name": format_spec(tasks.spec_of(task)),
        "description": inspect.getdoc(type(task)),
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


def _write_about(task, content: dict) -> None:
    meaning = {"answer": "written token by token", "tags": "one label a position", "numbers": "real numbers"}
    print(f"{content['name']}\n{content['description']}\n")
    axis, sizes = task.axes[0], ", ".join(map(str, content["first_sizes"]))
    print(f"size        {axis.meaning} ({sizes}, …)")
    for other in task.axes[1:]:
        print(f"also grows  {other.name}: {other.meaning} (--axis {other.name} --at N)")
    print(f"answer      {meaning[task.readout]}; {content['symbols']} symbols")
    chance = content["chance"]
    print(f"chance      {chance['exact']:.1%} exact, {chance['token']:.1%} of tokens, at size {chance['size']}")
    if content["circuit_class"]:
        print(f"class       {content['circuit_class']}")
    for encoding, status in content["crasp"].items():
        print(
            f"C-RASP      {encoding}: {'a program exists' if status else 'no program exists' if status is False else 'unknown'}"
        )
    for row in content["published"]:
        values = ", ".join(f"{a}-{b} {v:g}%" for (a, b), v in zip(row["bins"], row["exact_match"], strict=True))
        print(f"published   {row['encoding']}: {values} ({row['reference'].split(',')[0]})")
    if content["references"]:
        print(f"references  {'; '.join(content['references'])}")
    if content["samples"]:
        print()
    for sample in content["samples"]:
        print(
            " ".join(sample["prompt"])
            + "  →  "
            + " ".join(f"{x:.4g}" if isinstance(x, float) else x for x in sample["answer"])
        )
