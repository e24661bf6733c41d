"""How sparse the attention of trained models is, setting by setting, for studies that ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lengthwise.probes.sparsity import Sparsity, rows_of
from lengthwise.records import Claim
from lengthwise.reports.content import Content
from lengthwise.reports.words import percent, short
from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.studies.cells import Cell
from lengthwise.studies.record import RunRecord

Number = Literal["entropy", "best"]
MEASURES: dict[Number, tuple[str, str]] = {
    "best": ("weight of the best key", "share"),
    "entropy": ("entropy of attention", "nats"),
}
MOST_GROUPS = 40
ONE_SETTING = "the one setting"


@dataclass(frozen=True)
class Group:
    """The settings of one task, encoding and training size whose attention was looked at."""

    task: str
    position: str
    train_size: int
    cells: tuple[Cell, ...]

    @property
    def title(self) -> str:
        return f"{self.task}, encoding {self.position}, trained to {self.train_size}"


def sparsity_groups(content: Content) -> list[Group]:
    """The groups with a finished run that was looked at, in the order of the grid, the first few of them."""
    found: dict[tuple[str, str, int], list[Cell]] = {}
    for cell in content.cells:
        if any(looked_at(run) for run in cell.shown):
            found.setdefault((cell.task, cell.position, cell.train_size), []).append(cell)
    return [Group(*key, tuple(own)) for key, own in found.items()][:MOST_GROUPS]


def looked_at(run: RunRecord) -> list[Sparsity]:
    """What was found of the attention of a run; nothing where nobody looked."""
    record = run.record("sparsity")
    return [] if record is None else rows_of(record)


def setting_of(cell: Cell) -> str:
    """What sets a cell apart from the others of its group."""
    return cell.variant or ONE_SETTING


def over_layers(run: RunRecord, size: int, number: Number) -> float | None:
    """The mean over the layers of a run at one size; None where it was not looked at there."""
    found = [getattr(one, number) for one in looked_at(run) if one.size == size]
    return sum(found) / len(found) if found else None


def at_layer(cell: Cell, size: int, layer: int) -> list[Sparsity]:
    """What was found at one size and layer, one record a seed shown."""
    return [one for run in cell.shown for one in looked_at(run) if (one.size, one.layer) == (size, layer)]


def ends(cell: Cell) -> tuple[int, int]:
    """The first and the last size at which the attention of a cell was looked at: within training, and far beyond."""
    sizes = sorted({one.size for run in cell.shown for one in looked_at(run)})
    return sizes[0], sizes[-1]


def sparsity_claims(content: Content) -> list[Claim]:
    """The weight of the best key and the entropy of each cell, at the first and the last size looked at."""
    return [
        claim
        for group in sparsity_groups(content)
        for cell in group.cells
        for number in MEASURES
        for size in dict.fromkeys(ends(cell))
        if (claim := _claim(cell, size, number)) is not None
    ]


def _claim(cell: Cell, size: int, number: Number) -> Claim | None:
    values = {run.seed: over_layers(run, size, number) for run in cell.shown}
    found = {seed: value for seed, value in values.items() if value is not None}
    if not found:
        return None
    name, unit = MEASURES[number]
    where = f"{cell.row}, encoding {cell.position}, trained to {cell.train_size}, at size {size}"
    return mean_over_seeds(f"{name}, mean over layers: {where}", found, rule=str(cell.rule), unit=unit)


def sparsity_sentences(content: Content) -> list[str]:
    """For each group: which setting is the sharpest, which the flattest, and which reaches furthest."""
    return [text for group in sparsity_groups(content) if (text := _sentence(group))]


def _sentence(group: Group) -> str:
    claims = {setting_of(cell): _claim(cell, ends(cell)[0], "best") for cell in group.cells}
    weights = {name: float(claim.value) for name, claim in claims.items() if claim and isinstance(claim.value, float)}
    if len(weights) < 2:
        return ""
    sharpest, flattest = (choose(weights, key=lambda name: weights[name]) for choose in (max, min))
    reaches = {setting_of(cell): _mean(list(cell.values("reach").values())) for cell in group.cells}
    furthest = max(reaches.values())
    names = [f"`{name}`" for name, reach in reaches.items() if reach == furthest]
    return (
        f"{group.title}: attention is sharpest with `{sharpest}` ({percent(weights[sharpest])} on the best key at the "
        f"end of the training range) and flattest with `{flattest}` ({percent(weights[flattest])}); the mean reach is "
        f"greatest with {' and '.join(names)} ({short(furthest)})."
    )


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)
