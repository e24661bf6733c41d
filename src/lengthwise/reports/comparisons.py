"""What the encodings and the axes of a study do: paired differences and trends of the reach, as claims.

The reach is counted in training lengths, so that tasks and training sizes can be compared.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from lengthwise.records import Claim
from lengthwise.reports.content import Content
from lengthwise.statistics.paired import paired_difference, paired_over_tasks
from lengthwise.statistics.trends import page_trend, spearman_trend
from lengthwise.studies.cells import Cell

UNIT = "training lengths"
MOST_PAIRS = 15
MOST_CLAIMS = 400


def encoding_differences(content: Content) -> list[Claim]:
    """Encodings compared pair by pair: over the rows of the study, then by seed within a row where there are two."""
    claims = []
    for one, other in encoding_pairs(content):
        means: tuple[dict[str, float], dict[str, float]] = ({}, {})
        for row in content.rows:
            for side, encoding in zip(means, (one, other), strict=True):
                cell = content.cell(row, encoding)
                if cell is not None and (values := relative(cell)):
                    side[row.label] = sum(values.values()) / len(values)
        if len(means[0].keys() & means[1].keys()) >= 2:
            name = f"reach, {one} minus {other}, over {content.noun}s"
            claims.append(paired_over_tasks(name, *means, rule=str(content.rule), unit=UNIT))
    return [*claims, *itertools.islice(_within_rows(content), MOST_CLAIMS)]


def encoding_pairs(content: Content) -> list[tuple[str, str]]:
    """All pairs of encodings; where they are too many to read, the first against each of the others."""
    pairs = list(itertools.combinations(content.encodings, 2))
    return pairs if len(pairs) <= MOST_PAIRS else [pair for pair in pairs if pair[0] == content.encodings[0]]


def _within_rows(content: Content) -> Iterator[Claim]:
    for row in content.rows:
        for one, other in encoding_pairs(content):
            first, second = content.cell(row, one), content.cell(row, other)
            if first is None or second is None:
                continue
            values = relative(first), relative(second)
            if len(values[0].keys() & values[1].keys()) < 2:
                continue
            # A seed that one encoding lost is not in both, so it is out of the comparison by the same rule.
            done = {run.seed for cell in (first, second) for run in cell.done}
            left = sorted(done - values[0].keys() - values[1].keys())
            name = f"reach, {one} minus {other}, {row.label}"
            yield paired_difference(name, *values, discarded=left, rule=str(content.rule), unit=UNIT)


def trends(content: Content) -> list[Claim]:
    """For each number that varies between cells alike in everything else: does the reach rise with it?"""
    claims = []
    for axis in varying_axes(content):
        blocks = _blocks(content, axis)
        values = sorted({value for block in blocks.values() for value in block})
        whole = {name: block for name, block in blocks.items() if len(block) == len(values)}
        title = axis.replace("_", " ")
        if len(values) == 2 and len(whole) >= 2:
            low, high = ({name: block[value] for name, block in whole.items()} for value in values)
            name = f"reach, {title} {values[1]:g} minus {title} {values[0]:g}"
            claims.append(paired_over_tasks(name, high, low, rule=str(content.rule), unit=UNIT))
        elif len(values) >= 3 and len(whole) >= 2:
            table = [[block[value] for value in values] for block in whole.values()]
            conditions = [f"{title} {value:g}" for value in values]
            claims.append(page_trend(f"reach rises with {title}", table, conditions=conditions, blocks=list(whole)))
        for name, block in itertools.islice(blocks.items(), MOST_CLAIMS // 2):
            if len(block) >= 3:
                claims.append(spearman_trend(f"reach with {title}, {name}", list(block), list(block.values())))
    return claims


def varying_axes(content: Content) -> list[str]:
    """The numeric settings, and the training size, that take several values for one task and encoding."""
    seen: dict[tuple[str, str, str], set[Any]] = {}
    for cell in content.cells:
        for axis, value in numbers_of(cell).items():
            seen.setdefault((cell.task, cell.position, axis), set()).add(value)
    return list(dict.fromkeys(axis for (_, _, axis), values in seen.items() if len(values) > 1))


def numbers_of(cell: Cell) -> dict[str, float]:
    """The settings of a cell that are numbers, and its training size."""
    found = cell.runs[0].settings.items()
    numbers = {name: value for name, value in found if isinstance(value, int | float) and not isinstance(value, bool)}
    return {**numbers, "train_size": cell.train_size}


def _blocks(content: Content, axis: str) -> dict[str, dict[float, float]]:
    """Cells alike in all but one axis: name of the block → value of the axis → mean relative reach."""
    axes = varying_axes(content)
    blocks: dict[str, dict[float, float]] = {}
    for cell in content.cells:
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
