"""What any probe found, cell by cell: the means over seeds of its claims, and its numbers against the reach.

Nothing here knows a probe by name, so a probe of a user's own is shown without another line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import LAYOUT, PageLayout, menu_of
from lengthwise.analyses.reach.answer import reach_of
from lengthwise.analyses.words import code, listed, short
from lengthwise.figures.style import (
    DASHES,
    alt,
    hover,
    multiple_axis,
    shade,
    template_of,
    title_lines,
    wrapping_legend,
)
from lengthwise.messages import explain, sentence
from lengthwise.records import Claim, Figure, Record, Table, columns
from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.studies.cells import Cell
from lengthwise.studies.record import RunRecord

MOST_GROUPS = 40

explain(
    {
        "probe.text": "What the probe measured on each trained model: means over the seeds shown in each cell.",
        "probe.figures": "By size: the mean over seeds, one colour per setting, with one dash per layer where a "
        "number belongs to a layer. Against the reach: one point per seed; a triangle is a reach that is a lower "
        "bound, a pale point a discarded seed.",
        "probe.extremes": "{group}: {what} is largest with {most} ({most_value:.3g}) and smallest with {least} "
        "({least_value:.3g}); {reaches}.",
        "probe.same": "{group}: {what} is {most_value:.3g} with every setting; {reaches}.",
        "probe.furthest": "the mean reach is greatest with {furthest} ({reach})",
        "probe.alike": "the mean reach is {reach} with every setting",
        "probe.claim": "{what}: {row}, encoding {position}, trained to {train_size}",
        "probe.table": "Means over seeds, cell by cell",
        "probe.menu": "Shown",
        "probe.one_setting": "the one setting",
        "probe.by_size": "{what} by size",
        "probe.against": "reach against {what}",
        "probe.panel": "{what}: {group}",
        "probe.words": "{what} for {group}, one colour each for {settings}.",
        "probe.group": "{task}, encoding {position}, trained to {train_size}",
        "probe.missing": "No finished run has a record of the probe {name}.",
    }
)


@dataclass(frozen=True)
class ProbeGroup:
    """The settings of one task, encoding and training size that a probe has looked at."""

    task: str
    position: str
    train_size: int
    cells: tuple[Cell, ...]

    @property
    def title(self) -> str:
        values = {"task": self.task, "position": self.position, "train_size": self.train_size}
        return sentence("probe.group", values)


@analyses.register("probe")
@dataclass(frozen=True)
class ProbeAnalysis(Analysis):
    """What the probe named `probe` found of the runs of a study."""

    probe: str

    def analyse(self, study: StudyContent) -> Record:
        groups = probe_groups(study, self.probe)
        if not groups:
            failed = sentence("probe.missing", {"name": self.probe})
            return Record(self.probe, title=self.probe, failed=failed)
        runs = (run for cell in groups[0].cells for run in cell.done)
        example = next(run.records[self.probe] for run in runs if self.probe in run.records)
        claims = [claim for group in groups for cell in group.cells for claim in _means(cell, self.probe)]
        figures = list(_figures(study, groups, self.probe)) if study.pictures else []
        title = example.title or self.probe
        notes = (sentence("probe.text"), *([sentence("probe.figures")] if figures else []))
        menus = menu_of(figures, "probe", "probe.menu")
        layout = PageLayout(title[:1].upper() + title[1:], notes=notes, claims=0, menus=menus)
        parts = (tuple(_extremes(groups, self.probe)), tuple(claims), (_table(study, claims),), tuple(figures))
        return Record(self.probe, {}, title, *parts, {LAYOUT: layout.plain()})


def probe_groups(study: StudyContent, probe: str) -> list[ProbeGroup]:
    """The groups with a finished run that has a record, in the order of the grid, the first few of them."""
    found: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in study.cells:
        if any(probe in run.records for run in cell.shown):
            found.setdefault((cell.task, cell.position, cell.train_size), []).append(cell)
    return [ProbeGroup(*key, tuple(own)) for key, own in found.items()][:MOST_GROUPS]


def setting_of(cell: Cell) -> str:
    """What distinguishes a cell from the others of its group."""
    return cell.variant or sentence("probe.one_setting")


def _numbers(run: RunRecord, probe: str) -> dict[tuple[str, str], tuple[float, Claim]]:
    """The claims of a run's record that are numbers, by key and title: one key may be claimed of several sizes."""
    claims = run.records[probe].claims if probe in run.records else ()
    return {
        (claim.key, claim.title): (float(claim.value), claim)
        for claim in claims
        if isinstance(claim.value, int | float) and not isinstance(claim.value, bool)
    }


def _means(cell: Cell, probe: str) -> list[Claim]:
    """The mean over the seeds shown of every claim of a cell."""
    values: dict[tuple[str, str], dict[int, float]] = {}
    units: dict[tuple[str, str], str] = {}
    for run in cell.shown:
        for name, (value, claim) in _numbers(run, probe).items():
            values.setdefault(name, {})[run.seed] = value
            units[name] = claim.unit
    found = []
    for (key, title), own in values.items():
        about = {"what": title, "measure": key, "row": cell.row, "task": cell.task, "variant": cell.variant}
        about |= {"position": cell.position, "train_size": cell.train_size}
        rule = str(cell.rule)
        found.append(mean_over_seeds("probe.claim", own, about=about, rule=rule, unit=units[key, title]))
    return found


def _table(study: StudyContent, claims: Sequence[Claim]) -> Table:
    """One row per cell and claim."""
    described = columns(
        "task:text | variant:text setting | position:text encoding | train_size:whole trained to | what:text claim | "
        "value | low from | high to | unit:text | n:whole seeds"
    )
    rows = []
    for claim in claims:
        known, ends = claim.evidence, claim.interval
        place = (known["task"], known["variant"] or None, known["position"], known["train_size"], known["what"])
        interval = (None, None) if ends is None else (ends.low, ends.high)
        value = claim.value if isinstance(claim.value, float) else None
        rows.append((*place, value, *interval, claim.unit or None, known.get("n")))
    detail = len(rows) > 4 * max(1, len(study.cells)) or len(rows) > 60
    return Table("probe.means", described, tuple(rows), sentence("probe.table"), detail=detail)


def _extremes(groups: Iterable[ProbeGroup], probe: str) -> Iterable[str]:
    """For each group: with which setting the first claim is largest and smallest, and which reaches furthest."""
    for group in groups:
        firsts = {setting_of(cell): claims[0] for cell in group.cells if (claims := _means(cell, probe))}
        values = {name: claim.value for name, claim in firsts.items() if isinstance(claim.value, float)}
        if len(values) < 2:
            continue
        most, least = (choose(values, key=lambda name: values[name]) for choose in (max, min))
        reaches = {setting_of(cell): reach_of(cell) for cell in group.cells}
        furthest = max(reaches.values())
        names = [code(name) for name, reach in reaches.items() if reach == furthest]
        far = {"furthest": listed(names, 3), "reach": short(furthest)}
        said = {"most": code(most), "most_value": values[most], "least": code(least), "least_value": values[least]}
        said |= {"reaches": sentence("probe.alike" if len(names) == len(reaches) else "probe.furthest", far)}
        key = "probe.same" if values[most] == values[least] else "probe.extremes"
        yield sentence(key, {"group": group.title, "what": firsts[most].evidence["what"], **said})


def _figures(study: StudyContent, groups: Sequence[ProbeGroup], probe: str) -> Iterable[Figure]:
    """For every number a table has by size: a panel per group; for every claim: the reach against it."""
    settings = list(dict.fromkeys(setting_of(cell) for group in groups for cell in group.cells))
    columns, titles = _columns_by_size(groups, probe), _claimed(groups, probe)
    sizes = {name: _by_size_template(settings, title) for name, title in columns.items()}
    against = {title: _reach_template(settings, title, study.furthest) for title in titles}
    for place, group in enumerate(groups, start=1):
        panels = [
            *((sentence("probe.by_size", {"what": title}), sizes[name], _by_size(group, probe, name))
              for name, title in columns.items()),
            *((sentence("probe.against", {"what": title}), against[title], _reaches(group, probe, title))
              for title in titles),
        ]  # fmt: skip
        for number, (what, template, rows) in enumerate(panels, start=1):
            if rows:
                names = ", ".join(setting_of(cell) for cell in group.cells)
                values = {"what": what, "group": group.title, "settings": names}
                title, words = sentence("probe.panel", values), sentence("probe.words", values)
                yield Figure(f"{probe}.{number}.{place}", template, {"rows": rows}, title, words, what)


def _tables(run: RunRecord, probe: str) -> Iterable[Table]:
    """The tables of a record that have a size in each row."""
    tables = run.records[probe].tables if probe in run.records else ()
    return (table for table in tables if any(column.name == "size" for column in table.columns))


def _columns_by_size(groups: Iterable[ProbeGroup], probe: str) -> dict[str, str]:
    """The columns of numbers by size: name → title."""
    found: dict[str, str] = {}
    for group in groups:
        for run in (run for cell in group.cells for run in cell.done):
            for table in _tables(run, probe):
                for column in table.columns:
                    if column.type in ("number", "share"):
                        found.setdefault(column.name, column.title or column.name)
    return found


def _claimed(groups: Iterable[ProbeGroup], probe: str) -> list[str]:
    titles = (title for g in groups for cell in g.cells for run in cell.done for _, title in _numbers(run, probe))
    return list(dict.fromkeys(titles))


def _by_size(group: ProbeGroup, probe: str, column: str) -> list[dict[str, Any]]:
    """The mean over the seeds shown at every size, and layer where there are some."""
    rows = []
    for cell in group.cells:
        found: dict[tuple[int, int], list[float]] = {}
        for run in cell.shown:
            for row in (row for table in _tables(run, probe) for row in table.records()):
                value = row.get(column)
                if isinstance(value, int | float):
                    found.setdefault((int(row["size"] or 0), int(row.get("layer") or 0)), []).append(float(value))
        for (size, layer), values in sorted(found.items()):
            place = {"setting": setting_of(cell), "layer": layer, "size": size, "multiple": size / cell.train_size}
            rows.append({**place, "value": sum(values) / len(values), "seeds": len(values)})
    return rows


def _reaches(group: ProbeGroup, probe: str, title: str) -> list[dict[str, Any]]:
    """One point per run, including those that are not kept."""
    rows = []
    for cell in group.cells:
        for run in cell.done:
            values = {own: value for (_, own), (value, _) in _numbers(run, probe).items()}
            if title in values and run.summary is not None:
                reach = {"multiple": run.summary.reach / group.train_size, "seed": run.seed}
                reach |= {"bound": "at least" if run.summary.censored else "reach"}
                kept = {"kept": "kept", "strength": 0.9} if run in cell.kept else {"kept": "discarded", "strength": 0.3}
                rows.append({"setting": setting_of(cell), "value": values[title], **reach, **kept})
    return rows


def _colour(settings: Sequence[str], symbol: str = "stroke") -> Any:
    legend = wrapping_legend(settings, 2, symbolType=symbol)
    return alt.Color("setting:N", scale=alt.Scale(domain=list(settings)), legend=legend)


def _by_size_template(settings: Sequence[str], title: str) -> Mapping[str, Any]:
    base = alt.Chart(alt.NamedData("rows")).encode(
        x=multiple_axis("size ÷ training length", zero=True),
        y=alt.Y("value:Q", title=title_lines(title), scale=alt.Scale(zero=True)),
        color=_colour(settings),
        tooltip=hover("setting:N", "layer:Q", "size:Q", ("value:Q", title, ".3g"), "seeds:Q"),
    )
    dash = alt.StrokeDash("layer:N", scale=alt.Scale(range=DASHES), legend=wrapping_legend(range(8), 8, title="layer"))
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dash)
    layers = alt.layer(shade(0, 1), lines, base.mark_point(size=40, filled=True))
    return template_of(layers.properties(width=420, height=220))


def _reach_template(settings: Sequence[str], title: str, furthest: float) -> Mapping[str, Any]:
    ends = alt.Scale(domain=["reach", "at least"], range=["circle", "triangle-up"])
    reach, scale = "reach ÷ training length", alt.Scale(domain=[0, furthest * 1.04], nice=False)
    numbers = (("value:Q", title, ".3g"), ("multiple:Q", reach, ".2f"))
    points = alt.Chart(alt.NamedData("rows")).encode(
        x=alt.X("value:Q", title=title_lines(title)),
        y=alt.Y("multiple:Q", title=reach, scale=scale),
        color=_colour(settings, "circle"),
        opacity=alt.Opacity("strength:Q", scale=None, legend=None),
        shape=alt.Shape("bound:N", scale=ends, legend=None),
        tooltip=hover("setting:N", "seed:Q", *numbers, ("bound:N", "the reach is"), ("kept:N", "seed is")),
    )
    layers = alt.layer(points.mark_point(size=70, filled=True))
    return template_of(layers.properties(width=420, height=220))
