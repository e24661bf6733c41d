"""What a training sample has to show: every window that settles a step, which of them a sample shows, and which test
instances need one that it does not show.

Where one window settles a step, what has to be learned is the map from windows to labels. Where n windows do, it is a
family of certificates: an anchor window, up to n - 1 windows elsewhere in the state, and the label. What was not seen
is not constrained by the data [xiao2024, Theorems 3.1.1 and 3.7]. That a window was not shown is a fact about the data,
not a prediction of failure: a network may be right on windows it was never shown.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.steps import Steps, drawn_steps
from lengthwise.oracle.locality.windows import Numbering, Refuted, WindowTable, bits_of, certificates, numbers_in
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.between import written
from lengthwise.tasks.formulations.formulation import Formulation, State, StepMove

XIAO = Reference("xiao2024", "Theorems 3.1.1, 3.3 and 3.7")
_TOGETHER = 20_000  # items that are drawn at a time
explain(
    {
        "locality.training_size": "{name}: least training size",
        "locality.no_larger_window": "larger sizes have no window that these lack",
        "locality.consistent_everywhere": "({n}, {r})-consistency at every size",
        "locality.entries": "{entries} {kind} of width {r} occur in {scope}, and new ones still appear at the last "
        "size: the training size needed is not yet known.",
        "locality.train_to": "Train to size {least_size} at least: {entries} {kind} of width {r} occur in {scope}, and "
        "size {least_size} shows the last.",
        "locality.kind_windows": "windows",
        "locality.kind_certificates": "certificates of up to {n} windows",
        "locality.entry": "`{window}`{others} → {label} (from size {size} on)",
        "locality.others": " together with `{window}`",
        "locality.share_seen": "{name}: share of {kind} in the sample",
        "locality.no_other_window": "no other window exists",
        "locality.capped": "Of {planned:,} planned items {states:,} were examined; all of them show at least as much.",
        "locality.seen_all": "The sample shows all {entries} {kind}.",
        "locality.seen_some": "{entries} {kind} were found, and the sample of {states:,} states misses {missed}.",
        "locality.seen_later": "{later} of them occur only in sizes above {largest}.",
        "locality.and_more": "… and {more} more",
        "locality.unshown": "{name}: share of instances of size {size} with a step that the planned items do not show",
        "locality.drawn_alike": "the planned training items are drawn like those examined",
        "locality.unshown_shares": "Instances with a step that the planned items do not show: {shares}.",
        "locality.share_at": "{share:.1%} at size {size}",
        "locality.nothing_settles": "In `{state}` nothing seen settles the position in brackets.",
    }
)


@dataclass(frozen=True)
class Entry:
    """An anchor window, the windows that settle its label with it, and the least size that shows them together."""

    window: State
    others: tuple[State, ...]
    label: str
    size: int

    def __str__(self) -> str:
        others = "".join(sentence("locality.others", {"window": written(window)}) for window in self.others)
        anchor = written(self.window, len(self.window) // 2)
        values = {"window": anchor, "others": others, "label": self.label, "size": self.size}
        return sentence("locality.entry", values)


@dataclass(frozen=True)
class Coverage:
    """Every entry that the states up to a size have; `least_size` is the size that shows the last of them, None when
    the last size examined still brought a new one."""

    name: str
    r: int
    n: int
    up_to: int
    exhaustive: bool
    entries: tuple[Entry, ...]
    numbering: Numbering = field(repr=False, compare=False)
    index: dict[int | None, list[tuple[int, int]]] = field(repr=False, compare=False)  # anchor → (other windows, entry)

    @property
    def least_size(self) -> int | None:
        newest = max((entry.size for entry in self.entries), default=0)
        return None if newest == self.up_to else newest

    def by_size(self) -> dict[int, int]:
        """How many entries there are up to each size at which a new one comes."""
        sizes = sorted({entry.size for entry in self.entries})
        return {size: sum(entry.size <= size for entry in self.entries) for size in sizes}

    def settled_by(self, move: StepMove) -> list[tuple[int, list[int]]]:
        """For each position that is asked for something the entries that settle it."""
        anchors = self.numbering.known(move.state)
        together = bits_of([anchor for anchor in anchors if anchor is not None])
        return [
            (place, [entry for others, entry in self.index.get(anchor, ()) if not others & ~together])
            for place, (anchor, label) in enumerate(zip(anchors, move.labels, strict=True))
            if label is not None
        ]

    def claim(self) -> Claim:
        given = Assumption("locality.no_larger_window", "assumed" if self.least_size else "violated")
        everywhere = Assumption("locality.consistent_everywhere", values={"n": self.n, "r": self.r})
        evidence = {"name": self.name, "entries": len(self.entries), "by_size": self.by_size()}
        status = "holds" if self.least_size else "unknown"
        return Claim(
            "locality.training_size", self.least_size, "", "measured", status, None, (given, everywhere), XIAO, evidence
        )

    def explain(self) -> list[str]:
        scope = sentence("locality.every_state" if self.exhaustive else "locality.sample", {"up_to": self.up_to})
        values = {"entries": len(self.entries), "kind": self.kind, "r": self.r, "scope": scope}
        key = "locality.entries" if self.least_size is None else "locality.train_to"
        return [sentence(key, {**values, "least_size": self.least_size})]

    @property
    def kind(self) -> str:
        """What the entries are, in words."""
        return sentence("locality.kind_windows" if self.n == 1 else "locality.kind_certificates", {"n": self.n})


def coverage(steps: Steps, r: int, sizes: Iterable[int], n: int = 1) -> Coverage:
    """The entries of (n, r) in the steps of these sizes. Steps that n windows do not settle are a usage error."""
    table, up_to = WindowTable(Numbering(r)), 0
    for size in sizes:
        up_to = max(up_to, size)
        for move in steps.moves(size):
            table.add(move, size)
    entries: list[Entry] = []
    index: dict[int | None, list[tuple[int, int]]] = {}
    for anchor in table.found:
        for label, others, size in _certified(table, anchor, n, r, steps.name):
            index.setdefault(anchor, []).append((others, len(entries)))
            windows = tuple(table.numbering.window(number) for number in numbers_in(others))
            entries.append(Entry(table.numbering.window(anchor), windows, label, size))
    return Coverage(steps.name, r, n, up_to, steps.exhaustive, tuple(entries), table.numbering, index)


def _certified(table: WindowTable, anchor: int, n: int, r: int, name: str) -> list[tuple[str, int, int]]:
    """(label, other windows, least size): a small family of certificates; one that fits is used again."""
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
            fitting = next((others for others in family if not others & ~together), found[together])
            assert fitting is not None
            family.setdefault(fitting, place.size)
        chosen += [(label, others, size) for others, size in family.items()]
    return chosen


@dataclass(frozen=True)
class SeenWindows:
    """Which entries of a coverage a training sample shows: `states` of them were examined, of `planned` items. Where
    one window settles a step, `windows` are all that the sample shows, also those that the coverage does not list."""

    coverage: Coverage
    seen: frozenset[int]
    states: int
    sizes: tuple[int, ...]
    planned: int | None = None
    windows: frozenset[int] | None = None

    @property
    def unseen(self) -> list[Entry]:
        """Those that the sample lacks, the ones that smaller sizes would show first."""
        lacking = [entry for number, entry in enumerate(self.coverage.entries) if number not in self.seen]
        return sorted(lacking, key=lambda entry: entry.size)

    def claim(self) -> Claim:
        evidence = {"name": self.coverage.name, "kind": self.coverage.kind, "states": self.states}
        evidence |= {"sizes": list(self.sizes), "unseen": [str(entry) for entry in self.unseen[:20]]}
        if self.capped:
            evidence |= {"planned": self.planned, "note": self.capped}
        given = (Assumption("locality.no_other_window"),)
        share = len(self.seen) / max(1, len(self.coverage.entries))
        return Claim("locality.share_seen", share, "", "measured", "holds", None, given, XIAO, evidence)

    @property
    def capped(self) -> str:
        """A sentence if not all planned items were examined."""
        if self.planned is None or self.planned <= self.states:
            return ""
        return sentence("locality.capped", {"planned": self.planned, "states": self.states})

    def explain(self, most: int = 10) -> list[str]:
        largest, missed = max(self.sizes, default=0), len(self.unseen)
        later = sum(entry.size > largest for entry in self.unseen)
        values = {"entries": len(self.coverage.entries), "kind": self.coverage.kind, "states": self.states}
        values |= {"missed": missed, "later": later, "largest": largest, "more": missed - most}
        if not missed:
            return [sentence("locality.seen_all", values)]
        lines = [sentence("locality.seen_some", values), sentence("locality.seen_later", values) if later else ""]
        lines += [str(entry) for entry in self.unseen[:most]]
        lines += [sentence("locality.and_more", values) if missed > most else "", self.capped]
        return [line for line in lines if line]


def seen_in(needed: Coverage, sample: Steps, sizes: Sequence[int]) -> SeenWindows:
    """What a training sample shows of the entries that are needed."""
    moves = [move for size in sizes for move in sample.moves(size)]
    if needed.n == 1:
        asked = (zip(needed.numbering.anchors(move.state), move.labels, strict=True) for move in moves)
        windows = {anchor for pairs in asked for anchor, label in pairs if label is not None}
        return _seen_windows(needed, windows, len(moves), sizes)
    seen = {entry for move in moves for _, entries in needed.settled_by(move) for entry in entries}
    return SeenWindows(needed, frozenset(seen), len(moves), tuple(sizes))


def _seen_windows(needed: Coverage, windows: set[int], states: int, sizes: Sequence[int]) -> SeenWindows:
    seen = frozenset(entry for window in windows for _, entry in needed.index.get(window, ()))
    return SeenWindows(needed, seen, states, tuple(sizes), windows=frozenset(windows))


def seen_in_items(
    needed: Coverage, formulation: Formulation, items: int, sizes: Sequence[int], seed: int = 0, most: int = 10_000
) -> SeenWindows:
    """What a run's training items show of the entries that are needed: `items` over these sizes, as many of each.
    Where one window settles a step all items are drawn and only their different windows are looked up; certificates of
    several windows take whole states one by one, so no more than `most` items are examined."""
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


@dataclass(frozen=True)
class Unshown:
    """The share of test instances, by size, with a step that nothing in the sample settles, and the first one.
    `instances` is how many of each size were examined."""

    name: str
    shares: tuple[tuple[int, float], ...]
    instances: int
    example: str

    @property
    def last(self) -> tuple[int, float]:
        """The largest size and its share."""
        return self.shares[-1]

    def claim(self) -> Claim:
        size, share = self.last
        given = (Assumption("locality.drawn_alike"),)
        evidence = {"name": self.name, "size": size, "shares": dict(self.shares)}
        evidence |= {"instances": self.instances, "example": self.example}
        return Claim("locality.unshown", share, "", "measured", "holds", None, given, XIAO, evidence)

    def explain(self) -> list[str]:
        shares = [sentence("locality.share_at", {"share": share, "size": size}) for size, share in self.shares]
        return [sentence("locality.unshown_shares", {"shares": ", ".join(shares)}), *filter(None, [self.example])]


def unshown(seen: SeenWindows, tests: Steps, sizes: Sequence[int]) -> Unshown:
    """Which test instances have a step that no seen entry settles, in any state of their chain."""
    shares, example, fewest = [], "", 0
    for size in sizes:
        instances = lacking = 0
        for chain in tests.chains(size):
            instances += 1
            found = next(((move, place) for move in chain for place in _unsettled(seen, move)), None)
            if found is not None:
                lacking += 1
                state = written(found[0].state, found[1])
                example = example or sentence("locality.nothing_settles", {"state": state})
        if instances:
            shares.append((size, lacking / instances))
            fewest = min(fewest or instances, instances)
    if not shares:
        raise UsageError(f"{tests.name} has no instances of the sizes {', '.join(map(str, sizes))}")
    return Unshown(tests.name, tuple(shares), fewest, example)


def _unsettled(seen: SeenWindows, move: StepMove) -> list[int]:
    if seen.windows is not None:
        asked = zip(seen.coverage.numbering.known(move.state), move.labels, strict=True)
        return [at for at, (anchor, label) in enumerate(asked) if label is not None and anchor not in seen.windows]
    return [place for place, entries in seen.coverage.settled_by(move) if seen.seen.isdisjoint(entries)]
