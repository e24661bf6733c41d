"""What is known about a task from elsewhere, kept with the task: its class, its references, its published results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from lengthwise.records import Reference


@dataclass(frozen=True)
class Published:
    """One published curve: exact match in per cent on bins of sizes (first, last); the first bin was trained on.
    `intervals` are the published 95 % intervals of these values (low, high), where there are some."""

    encoding: str
    bins: tuple[tuple[int, int], ...]
    exact_match: tuple[float, ...]
    reference: Reference
    chance: float | None = None
    intervals: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True)
class Facts:
    """`crasp` says, for each encoding, whether a C-RASP program exists (None: not known); keys are position specs."""

    circuit_class: str = ""
    crasp: Mapping[str, bool | None] = field(default_factory=dict)
    references: tuple[Reference, ...] = ()
    published: tuple[Published, ...] = ()


HUANG = Reference("huang2025", "Figure 1 and its result files")
Bins = tuple[float, float, float]


def huang(
    circuit_class: str,
    offset: Bins,
    none: Bins,
    regularised: Bins | None = None,
    *,
    crasp: tuple[bool, bool],
    chance: float | None = None,
    references: tuple[Reference, ...] = (),
    trained: int = 50,
    step: int = 50,
) -> Facts:
    """The facts of a task of Huang et al. 2025: exact match in their three bins for learned positions with random
    offsets, for no encoding, and for offsets with the regulariser 1e-4, where they give it; and whether a C-RASP
    program exists with random offsets and without positions (`crasp`). They trained to length `trained` and tested on
    two further bins of `step` lengths, which differ by language."""
    bins = ((1, trained), (trained + 1, trained + step), (trained + step + 1, trained + 2 * step))
    rows = (("learned+offset", offset), ("none", none), ("learned+offset, regularised 1e-4", regularised))
    return Facts(
        circuit_class=circuit_class,
        crasp=dict(zip(("learned+offset", "none"), crasp, strict=True)),
        references=(HUANG, *references),
        published=tuple(Published(encoding, bins, values, HUANG, chance) for encoding, values in rows if values),
    )
