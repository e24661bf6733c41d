"""What a training sample has to show, every window that settles a step, and which of them a sample shows.

Where one window settles a step, what has to be learned is the map from windows to labels. Where n windows do, it is a
family of certificates: an anchor window, up to n - 1 windows beside it anywhere in the state, and the label.
What was not seen is not constrained by the data [xiao2024, Theorems 3.1.1 and 3.7].
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.oracle.locality.certificates import Refuted, certificates
from lengthwise.oracle.locality.steps import Steps, drawn_steps, written
from lengthwise.oracle.locality.windows import Numbering, Table, bits_of, numbers_in
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import Formulation, Move, State

XIAO = Reference("xiao2024", "Theorems 3.1.1, 3.3 and 3.7")
_TOGETHER = 20_000  # items that are drawn at a time


@dataclass(frozen=True)
class Entry:
    """An anchor window, the windows beside it that settle its label, and the least size that shows them together."""

    window: State
    beside: tuple[State, ...]
    label: str
    size: int

    def __str__(self) -> str:
        beside = "".join(f" beside `{written(window)}`" for window in self.beside)
        return f"`{written(self.window, len(self.window) // 2)}`{beside} → {self.label} (from size {self.size} on)"


@dataclass(frozen=True)
class Coverage:
    """Every entry that the states up to a size have; `least_size` is the size that shows the last of them, None when
    the last size looked at still brought a new one."""

    name: str
    r: int
    n: int
    up_to: int
    exhaustive: bool
    entries: tuple[Entry, ...]
    numbering: Numbering = field(repr=False, compare=False)
    index: dict[int, list[tuple[int, int]]] = field(repr=False, compare=False)  # anchor → [(windows beside, entry)]

    @property
    def least_size(self) -> int | None:
        newest = max((entry.size for entry in self.entries), default=0)
        return None if newest == self.up_to else newest

    def by_size(self) -> dict[int, int]:
        """How many entries there are up to each size at which a new one comes."""
        sizes = sorted({entry.size for entry in self.entries})
        return {size: sum(entry.size <= size for entry in self.entries) for size in sizes}

    def settled_by(self, move: Move) -> list[tuple[int, list[int]]]:
        """For each position that is asked for something the entries that settle it."""
        anchors = self.numbering.known(move.state)
        together = bits_of([anchor for anchor in anchors if anchor is not None])
        return [
            (place, [entry for beside, entry in self.index.get(anchor, ()) if not beside & ~together])
            for place, (anchor, label) in enumerate(zip(anchors, move.labels, strict=True))
            if label is not None
            for anchor in [-1 if anchor is None else anchor]
        ]

    def claim(self) -> Claim:
        assumptions = (
            Assumption("larger sizes have no window that these lack", "assumed" if self.least_size else "violated"),
            Assumption(f"({self.n}, {self.r})-consistency at every size"),
        )
        return Claim(
            f"{self.name}: least training size", self.least_size, "", "measured",
            "holds" if self.least_size else "unknown",
            assumptions=assumptions, reference=XIAO, evidence={"entries": len(self.entries), "by_size": self.by_size()},
        )  # fmt: skip

    def explain(self) -> list[str]:
        states = f"{'all' if self.exhaustive else 'a sample of'} states up to size {self.up_to}"
        what = f"{len(self.entries)} {_kind(self.n)} of width {self.r} occur in {states}"
        if self.least_size is None:
            return [f"{what}, and the last size still brought new ones: the training size needed is not yet known."]
        return [f"Train to size {self.least_size} at least: {what}, and size {self.least_size} shows the last."]

    def plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "r": self.r,
            "n": self.n,
            "up_to": self.up_to,
            "exhaustive": self.exhaustive,
            "entries": len(self.entries),
            "by_size": self.by_size(),
            "least_size": self.least_size,
        }


def coverage(steps: Steps, r: int, sizes: Iterable[int], n: int = 1) -> Coverage:
    """The entries of (n, r) in the steps of these sizes. Steps that n windows do not settle are a usage error."""
    table, up_to = Table(Numbering(r)), 0
    for size in sizes:
        up_to = max(up_to, size)
        for move in steps.moves(size):
            for _ in table.add(move, size):
                pass
    entries: list[Entry] = []
    index: dict[int, list[tuple[int, int]]] = {}
    for anchor in table.found:
        for label, beside, size in _certified(table, anchor, n, r, steps.name):
            index.setdefault(anchor, []).append((beside, len(entries)))
            windows = tuple(table.numbering.window(number) for number in numbers_in(beside))
            entries.append(Entry(table.numbering.window(anchor), windows, label, size))
    return Coverage(steps.name, r, n, up_to, steps.exhaustive, tuple(entries), table.numbering, index)


def _certified(table: Table, anchor: int, n: int, r: int, name: str) -> list[tuple[str, int, int]]:
    """(label, windows beside, least size): a small family of certificates; one that fits is used again."""
    labels = table.found[anchor]
    if len(labels) == 1:
        (label,) = labels
        return [(label, 0, table.first[anchor, label])]
    chosen = []
    for label, sets in labels.items():
        others = {other for other_label, found in labels.items() if other_label != label for other in found}
        found = certificates(sets, others, n - 1) if n > 1 else None
        if found is None or isinstance(found, Refuted) or None in found.values():
            window = written(table.numbering.window(anchor), r // 2)
            said = "1 window does" if n == 1 else f"{n} windows do"
            raise UsageError(f"{name}: {said} not settle `{window}`; look for (n, r) that settle every step first")
        family: dict[int, int] = {}
        for together, place in sorted(sets.items(), key=lambda item: item[1].size):
            fitting = next((beside for beside in family if not beside & ~together), found[together])
            assert fitting is not None
            family.setdefault(fitting, place.size)
        chosen += [(label, beside, size) for beside, size in family.items()]
    return chosen


@dataclass(frozen=True)
class Seen:
    """Which entries of a coverage a training sample shows: `states` of them were looked at, of `planned` items. Where
    one window settles a step, `windows` are all that the sample shows, also those that the coverage does not list."""

    coverage: Coverage
    seen: frozenset[int]
    states: int
    sizes: tuple[int, ...]
    planned: int | None = None
    windows: frozenset[int] | None = None

    @property
    def share(self) -> float:
        return len(self.seen) / max(1, len(self.coverage.entries))

    @property
    def unseen(self) -> list[Entry]:
        """Those that the sample lacks, the ones that smaller sizes would show first."""
        lacking = [entry for number, entry in enumerate(self.coverage.entries) if number not in self.seen]
        return sorted(lacking, key=lambda entry: entry.size)

    def claim(self) -> Claim:
        evidence = {"states": self.states, "sizes": list(self.sizes), "unseen": [str(e) for e in self.unseen[:20]]}
        given = (Assumption("no other window exists", "assumed"),)
        if self.capped:
            evidence |= {"planned": self.planned, "note": self.capped}
        return Claim(
            f"{self.coverage.name}: share of {_kind(self.coverage.n)} in the sample", self.share, "", "measured",
            assumptions=given, reference=XIAO, evidence=evidence,
        )  # fmt: skip

    @property
    def capped(self) -> str:
        """A sentence if not all planned items were looked at."""
        if self.planned is None or self.planned <= self.states:
            return ""
        return f"Of {self.planned:,} planned items {self.states:,} were looked at; all of them show as much or more."

    def explain(self, most: int = 10) -> list[str]:
        total, largest = len(self.coverage.entries), max(self.sizes, default=0)
        if not self.unseen:
            return [f"The sample shows all {total} {_kind(self.coverage.n)}."]
        later = sum(entry.size > largest for entry in self.unseen)
        kind = _kind(self.coverage.n)
        lines = [f"{total} {kind} were found and the sample of {self.states} states misses {len(self.unseen)}."]
        if later:
            lines.append(f"{later} of them occur only in sizes above {largest}.")
        lines += [str(entry) for entry in self.unseen[:most]]
        lines += [f"… and {len(self.unseen) - most} more"] if len(self.unseen) > most else []
        return [*lines, self.capped] if self.capped else lines

    def plain(self) -> dict[str, Any]:
        unseen = [str(entry) for entry in self.unseen]
        looked = {"states": self.states, "planned": self.planned, "sizes": list(self.sizes)}
        return {"share": self.share, **looked, "unseen": unseen}


def seen_in(needed: Coverage, sample: Steps, sizes: Sequence[int]) -> Seen:
    """What a training sample shows of the entries that are needed."""
    moves = [move for size in sizes for move in sample.moves(size)]
    if needed.n == 1:
        windows = {
            anchor
            for move in moves
            for anchor, label in zip(needed.numbering.anchors(move.state), move.labels, strict=True)
            if label is not None
        }
        return _seen_windows(needed, windows, len(moves), sizes)
    seen = {entry for move in moves for _, entries in needed.settled_by(move) for entry in entries}
    return Seen(needed, frozenset(seen), len(moves), tuple(sizes))


def _seen_windows(needed: Coverage, windows: set[int], states: int, sizes: Sequence[int]) -> Seen:
    seen = frozenset(entry for window in windows for _, entry in needed.index.get(window, ()))
    return Seen(needed, seen, states, tuple(sizes), windows=frozenset(windows))


def seen_in_items(
    needed: Coverage, formulation: Formulation, items: int, sizes: Sequence[int], seed: int = 0, most: int = 10_000
) -> Seen:
    """What the training items of a run show of the entries that are needed: `items` over these sizes, as many of each.

    Where one window settles a step all items are drawn and only their different windows are looked up; the certificates
    of several windows take whole states one by one, and no more than `most` items are looked at. `Seen` says so.
    """
    each = max(1, items // max(1, len(sizes)))
    if needed.n > 1 or formulation.readout != "tags":
        looked = min(each, max(1, most // max(1, len(sizes))))
        seen = seen_in(needed, drawn_steps(formulation, looked, seed), sizes)
        return replace(seen, states=looked * len(sizes), planned=each * len(sizes))
    windows: set[int] = set()
    for size in sizes:
        for first in range(0, each, _TOGETHER):
            rows = formulation.draw(size, seed, range(first, min(each, first + _TOGETHER)), "train").prompts
            windows |= needed.numbering.anchors_in(rows, formulation.symbols)
    return replace(_seen_windows(needed, windows, each * len(sizes), sizes), planned=each * len(sizes))


def _kind(n: int) -> str:
    return "windows" if n == 1 else f"certificates of up to {n} windows"
