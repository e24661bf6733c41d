"""What `lengthwise measure` does with --rope, --text and --conform."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from lengthwise.cli.output import written
from lengthwise.errors import UsageError
from lengthwise.figures.chart_files import save_chart
from lengthwise.figures.style import alt, paper_spec
from lengthwise.positions.scaling import RopeScaling, make_scaling
from lengthwise.probes.conformance import ConformanceProbe
from lengthwise.probes.perplexity import PerplexityProbe
from lengthwise.probes.probe import Context, Probe
from lengthwise.probes.scalings import SOURCE, compared
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject

OF_TEXTS = (PerplexityProbe, ConformanceProbe)


def check_rope_options(options: argparse.Namespace, asked: Sequence[Probe]) -> None:
    """Refuse, before any work, what does not go together."""
    if not options.rope and not options.text and not options.conform:
        return
    if options.rope and options.position is not None:
        raise UsageError("--rope and --position both say how positions are read; give one of them")
    if options.rope and options.export:
        raise UsageError("--export writes the answers of one reading; leave --rope out")
    if options.text and not Path(options.text).is_file():
        raise UsageError(f"there is no file {options.text}")
    if options.conform and asked:
        raise UsageError("--conform is a measurement of its own; leave --probe out")
    scalings_of(options)


def scalings_of(options: argparse.Namespace) -> list[RopeScaling]:
    found = [make_scaling(spec) for spec in options.rope or ()]
    if len(set(found)) < len(found):
        raise UsageError("a scaling is given twice")
    return found


def with_texts(asked: tuple[Probe, ...], usual: Probe, options: argparse.Namespace, tasks: bool) -> tuple[Probe, ...]:
    """The probes that were asked for, or the usual one where there is something to ask it; and the loss on a text. With
    --conform, the comparison alone."""
    if options.conform:
        return (ConformanceProbe(options.conform),)
    asked = asked or ((usual,) if tasks or not options.text else ())
    has_text = any(isinstance(probe, PerplexityProbe) for probe in asked)
    return (*asked, PerplexityProbe()) if options.text and not has_text else asked


def split(
    asked: tuple[Probe, ...], context: Context, options: argparse.Namespace, first: bool
) -> list[tuple[Sequence[Probe], Context]]:
    """Probes and what they are asked: those of a task together, then each that reads a text, with the `first` task."""
    found: list[tuple[Sequence[Probe], Context]] = []
    found.append(([probe for probe in asked if not isinstance(probe, OF_TEXTS)], context))
    if first:
        found += [([probe], of_text(probe, context, options)) for probe in asked if isinstance(probe, OF_TEXTS)]
    return found


def of_text(probe: Probe, context: Context, options: argparse.Namespace) -> Context:
    """What a probe that reads a text is asked; lengths are in tokens."""
    try:
        sizes = tuple(int(part) for part in (options.sizes or "").split(",") if part.strip())
    except ValueError:
        sizes = ()
    return dataclasses.replace(context, data=options.text, sizes=sizes if isinstance(probe, ConformanceProbe) else ())


def by_scaling(name: str, options: argparse.Namespace, measured: Callable[[RopeScaling], list[Record]]) -> list[Record]:
    """What `measured` gives for each scaling, with the tables that compare them first."""
    found = []
    for one in scalings_of(options):
        found.append((str(one), measured(one)))
        options.warned = True  # once is enough
    tables = []
    for group in zip(*(records for _, records in found), strict=True):
        what = str(group[0].data.get("task") or group[0].data.get("text") or group[0].source)
        one = compared(name, what, [(scaling, record) for (scaling, _), record in zip(found, group, strict=True)])
        tables += [] if one is None else [one]
    return [*tables, *(record for _, records in found for record in records)]


def of_one_length(asked: tuple[Probe, ...], subjects: Sequence[Subject]) -> tuple[Probe, ...]:
    """The probes, of which those that read a text take windows as long as the longest context."""
    if not any(isinstance(probe, PerplexityProbe) for probe in asked):
        return asked
    most = max(subject.capability("predictor").longest or 0 for subject in subjects)
    return tuple(
        dataclasses.replace(probe, length=most) if isinstance(probe, PerplexityProbe) and not probe.length else probe
        for probe in asked
    )


def shown_records(records: list[Record]) -> list[Record]:
    """What a terminal shows: of scalings that were compared, the comparison alone."""
    return [record for record in records if record.source == SOURCE] or records


def draw_compared(name: str, records: Sequence[Record], quiet: bool) -> None:
    """The figure of the first comparison."""
    figure = next(record for record in records if record.source == SOURCE).figures[0]
    with written(name, quiet):
        save_chart(Path(name), alt.Chart.from_dict(paper_spec(figure)), figure.title, [])
