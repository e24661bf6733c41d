"""What the encodings and the axes of a study do: paired differences and trends of the reach, as claims.

The reach is counted in training lengths, so that tasks and training sizes can be compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from lengthwise.analyses.analysis import Analysis, analyses
from lengthwise.analyses.content import StudyContent
from lengthwise.analyses.layout import PageLayout, arranged
from lengthwise.messages import explain, sentence
from lengthwise.records import Claim, Record
from lengthwise.statistics.paired import paired_difference, paired_over_tasks
from lengthwise.statistics.trends import page_trend, spearman_trend
from lengthwise.studies.cells import Cell

UNIT = "training lengths"
MOST_PAIRS = 15
MOST_CLAIMS = 400

explain(
    {
        "comparisons.title": "Encodings and settings compared",
        "comparisons.link": "Comparisons",
        "comparisons.text": (
            "The reach in training lengths: encodings compared pair by pair over {noun}s, and how it changes "
            "with the settings that vary. The table of claims also has the comparisons within each {noun}."
        ),
        "comparisons.pairs": (
            "Of {possible} pairs of encodings, only the {pairs} that include the first encoding are compared."
        ),
        "comparisons.most": "At most {most} comparisons within one {noun} are listed.",
        "comparisons.over_rows": "reach, {one} minus {other}, over {noun}s",
        "comparisons.within_row": "reach, {one} minus {other}, {label}",
        "comparisons.axis_pair": "reach, {axis} {high:g} minus {axis} {low:g}",
        "comparisons.axis_trend": "reach rises with {axis}",
        "comparisons.block_trend": "reach with {axis}, {block}",
    }
)


@analyses.register("comparisons")
@dataclass(frozen=True)
class ComparisonsAnalysis(Analysis):
    """Whether the encodings, and the settings that vary, make a difference."""

    def analyse(self, study: StudyContent) -> Record:
        claims = [*encoding_differences(study), *trends(study)]
        first = ("comparisons.over_rows", "comparisons.axis_pair", "comparisons.axis_trend")
        claims.sort(key=lambda claim: claim.key not in first)  # a stable sort: the general before the particular
        general = sum(claim.key in first for claim in claims)
        number, pairs = len(study.encodings), len(encoding_pairs(study))
        possible = number * (number - 1) // 2
        text = [sentence("comparisons.text", {"noun": study.noun})]
        if pairs < possible:
            text.append(sentence("comparisons.pairs", {"possible": possible, "pairs": pairs}))
        if pairs * len(study.rows) > MOST_CLAIMS:
            text.append(sentence("comparisons.most", {"noun": study.noun, "most": MOST_CLAIMS}))
        return arranged("comparisons", PageLayout(notes=tuple(text), claims=general), claims=claims)

    def applies(self, study: StudyContent) -> bool:
        several = len(study.encodings) > 1 or bool(varying_axes(study))
        return several and any(relative(cell) for cell in study.cells)


def encoding_differences(study: StudyContent) -> list[Claim]:
    """Encodings compared pair by pair: over the rows of the study, then by seed within a row where there are two."""
    claims = []
    for one, other in encoding_pairs(study):
        means: tuple[dict[str, float], dict[str, float]] = ({}, {})
        for row in study.rows:
            for side, encoding in zip(means, (one, other), strict=True):
                cell = study.cell(row, encoding)
                if cell is not None and (values := relative(cell)):
                    side[row.label] = sum(values.values()) / len(values)
        if len(means[0].keys() & means[1].keys()) >= 2:
            about = {"one": one, "other": other, "noun": study.noun}
            rule = str(study.rule)
            claims.append(paired_over_tasks("comparisons.over_rows", *means, about=about, rule=rule, unit=UNIT))
    return [*claims, *itertools.islice(_within_rows(study), MOST_CLAIMS)]


def encoding_pairs(study: StudyContent) -> list[tuple[str, str]]:
    """All pairs of encodings; where they are too many to read, the first against each of the others."""
    pairs = list(itertools.combinations(study.encodings, 2))
    return pairs if len(pairs) <= MOST_PAIRS else [pair for pair in pairs if pair[0] == study.encodings[0]]


def _within_rows(study: StudyContent) -> Iterator[Claim]:
    for row in study.rows:
        for one, other in encoding_pairs(study):
            first, second = study.cell(row, one), study.cell(row, other)
            if first is None or second is None:
                continue
            values = relative(first), relative(second)
            if len(values[0].keys() & values[1].keys()) < 2:
                continue
            # A seed that one encoding lost is not in both, so it is out of the comparison by the same rule.
            done = {run.seed for cell in (first, second) for run in cell.done}
            left = sorted(done - values[0].keys() - values[1].keys())
            about, rule = {"one": one, "other": other, "label": row.label}, str(study.rule)
            key = "comparisons.within_row"
            yield paired_difference(key, *values, about=about, discarded=left, rule=rule, unit=UNIT)


def trends(study: StudyContent) -> list[Claim]:
    """For each number that varies between cells alike in everything else: does the reach rise with it?"""
    claims = []
    for axis in varying_axes(study):
        blocks = _blocks(study, axis)
        values = sorted({value for block in blocks.values() for value in block})
        whole = {name: block for name, block in blocks.items() if len(block) == len(values)}
        title = axis.replace("_", " ")
        if len(values) == 2 and len(whole) >= 2:
            low, high = ({name: block[value] for name, block in whole.items()} for value in values)
            about, rule = {"axis": title, "low": values[0], "high": values[1]}, str(study.rule)
            claims.append(paired_over_tasks("comparisons.axis_pair", high, low, about=about, rule=rule, unit=UNIT))
        elif len(values) >= 3 and len(whole) >= 2:
            table = [[block[value] for value in values] for block in whole.values()]
            conditions = [f"{title} {value:g}" for value in values]
            given = {"about": {"axis": title}, "conditions": conditions, "blocks": list(whole)}
            claims.append(page_trend("comparisons.axis_trend", table, **given))
        for name, block in itertools.islice(blocks.items(), MOST_CLAIMS // 2):
            if len(block) >= 3:
                about = {"axis": title, "block": name}
                key = "comparisons.block_trend"
                claims.append(spearman_trend(key, list(block), list(block.values()), about=about))
    return claims


def varying_axes(study: StudyContent) -> list[str]:
    """The numeric settings, and the training size, that take several values for one task and encoding."""
    seen: dict[tuple[str, str, str], set[Any]] = {}
    for cell in study.cells:
        for axis, value in numbers_of(cell).items():
            seen.setdefault((cell.task, cell.position, axis), set()).add(value)
    return list(dict.fromkeys(axis for (_, _, axis), values in seen.items() if len(values) > 1))


def numbers_of(cell: Cell) -> dict[str, float]:
    """The settings of a cell that are numbers, and its training size."""
    found = cell.runs[0].settings.items()
    numbers = {name: value for name, value in found if isinstance(value, int | float) and not isinstance(value, bool)}
    return {**numbers, "train_size": cell.train_size}


def _blocks(study: StudyContent, axis: str) -> dict[str, dict[float, float]]:
    """Cells alike in all but one axis: name of the block → value of the axis → mean relative reach."""
    axes = varying_axes(study)
    blocks: dict[str, dict[float, float]] = {}
    for cell in study.cells:
        numbers, values = numbers_of(cell), relative(cell)
        if axis not in numbers or not values:
            continue
        others = [f"{name.replace('_', ' ')} {numbers[name]:g}" for name in axes if name in numbers and name != axis]
        name = ", ".join([cell.task, f"encoding {cell.position}", *others])
        blocks.setdefault(name, {})[numbers[axis]] = sum(values.values()) / len(values)
    return {name: dict(sorted(block.items())) for name, block in blocks.items() if len(block) > 1}


def relative(cell: Cell) -> dict[int, float]:
    """The reach of every seed that learned, in training lengths; nothing of a cell that was not learned."""
    if not cell.learned:
        return {}
    return {seed: reach / cell.train_size for seed, reach in cell.values("reach").items()}
