"""What `lengthwise measure` does with a language model that is asked by prompt."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengthwise.cli.options import check_place, number
from lengthwise.cli.output import warn, written
from lengthwise.errors import UsageError
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.plots import line_figure
from lengthwise.figures.style import alt, paper_spec
from lengthwise.probes.curve.standard import too_few_items
from lengthwise.probes.probe import Context, Probe, ask
from lengthwise.probes.prompted import PromptedProbe
from lengthwise.probes.prompted.asking import ITEMS, check_askable
from lengthwise.probes.prompted.estimate import estimates
from lengthwise.probes.prompted.result import SIZES, overview
from lengthwise.records import Record
from lengthwise.reports.eval_log import write_eval_log

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject

FOLDER = "measured"
EXPORTS = ("eval",)
_SETTINGS = ("shots", "budget", "reasoning")
_OWN = (*_SETTINGS, "chat", "plain", "template", "folder", "dry_run", "price", "export")


def check_prompt_options(options: argparse.Namespace, is_prompted: bool) -> None:
    """Refuse, before any work, options that go with prompts where none are asked, and files that cannot be written."""
    given = [name for name in _OWN if getattr(options, name)]
    if given and not is_prompted:
        option = f"--{given[0].replace('_', '-')}"
        raise UsageError(f"{option} goes with a language model that is asked by prompt, or with --probe prompted")
    if options.chat and options.plain:
        raise UsageError("--chat and --plain exclude each other; give one of them")
    if options.export:
        kind, file = options.export
        if kind not in EXPORTS:
            raise UsageError(f"--export writes {' or '.join(EXPORTS)}, not {kind!r}")
        check_place(file, "--export eval", (".eval",))
    _price(options.price)


def with_options(probe: Probe, options: argparse.Namespace) -> Probe:
    """The probe with what the options say."""
    if not isinstance(probe, PromptedProbe):
        return probe
    given: dict[str, Any] = {name: value for name in _SETTINGS if (value := getattr(options, name)) is not None}
    if options.chat or options.plain:
        given["chat"] = "chat" if options.chat else "plain"
    if options.template is not None:
        given["rendering"] = options.template
    return dataclasses.replace(probe, folder=options.folder or probe.folder or FOLDER, **given)


def by_prompt(
    probe: PromptedProbe, subject: Subject, contexts: Sequence[Context], options: argparse.Namespace
) -> list[Record]:
    """One record per task; what cannot be asked is said before anything is. With --dry-run, what it would take."""
    quiet = options.quiet or vars(options).get("warned", False)
    for context in contexts:
        warn(check_askable(context.task, context.sizes, subject.name).warnings(), quiet)
    warn(too_few_items(options.items or ITEMS), quiet)
    if options.dry_run:
        return estimates(probe, subject, contexts, _price(options.price))
    records = [ask(probe, subject, context) for context in contexts]
    if options.export:
        for record, path in zip(records, _files(options.export[1], records), strict=True):
            with written(str(path), options.quiet, "log"):
                write_eval_log(record, path)
    return [*records, overview(records)] if len(records) > 1 else records


def draw_prompted(name: str, records: Sequence[Record], quiet: bool) -> None:
    """Right answers by size, one line per task."""
    series: dict[str, list[tuple[float, ...]]] = {}
    for record in records:
        rows: list[dict[str, Any]] = list(record.table(SIZES).records())
        known = [row for row in rows if row["lenient"] is not None]
        shares = ("lenient", "low", "high")
        series[record.data["task"]] = [(row["size"], *(100 * row[name] for name in shares)) for row in known]
    axes = ("size", "right, %")
    title = f"{records[0].data['subject']}: right answers by size"
    figure = line_figure("prompted.tasks", title, "", axes, series, "x")
    with written(name, quiet):
        save_chart(Path(name), alt.Chart.from_dict(paper_spec(figure)), title, [])


def _files(name: str, records: Sequence[Record]) -> list[Path]:
    """One log per task: sort.eval, or logs-sort.eval where there are several."""
    path = Path(name)
    if len(records) == 1:
        return [path]
    slugs = [Path(record.data["folder"]).name for record in records]
    return [path.with_name(f"{path.stem}-{slug}{path.suffix}") for slug in slugs]


def _price(text: str | None) -> tuple[float, float] | None:
    """`0.15,0.6` → the prices of a million tokens read and written."""
    if text is None:
        return None
    try:
        read, write = (number(part) for part in text.split(","))
    except (argparse.ArgumentTypeError, ValueError):
        raise UsageError(f"--price takes two numbers separated by a comma, such as 0.15,0.6, not {text!r}") from None
    return read, write
