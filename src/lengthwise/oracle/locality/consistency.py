"""(n, r)-consistency of given steps: whether n windows of r columns, the anchor among them, settle every label.

A position of a state is settled by n windows when some n - 1 windows of the state, together with the window around the
position (the anchor), occur in no state in which the same anchor has another label. Where windows lie does not count,
nor how often they occur: a state is its set of windows [xiao2024, (n, r)-consistency]. For given r either some n is
enough, or two positions refute every n: the same anchor, different labels, all windows of one state among the other's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.steps import Steps
from lengthwise.oracle.locality.windows import Numbering, Refuted, WindowTable, certificates, recurring, windows_of
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.between import is_guess, written
from lengthwise.tasks.formulations.formulation import State

Verdict = Literal["REFUTED", "CONSISTENT", "PROVED"]
XIAO = Reference("xiao2024", "(n, r)-consistency, Theorems 3.5 to 3.7")
_RECURRING = 0.5  # of the changed places of a sample; below it windows recur too seldom to clash
explain(
    {
        "locality.windows": "{name}: windows of {r} columns",
        "locality.larger_sizes": "sizes above {up_to} bring no clash",
        "locality.recur": "the windows of a sample recur often enough to clash",
        "locality.long_enough": "states are long enough for windows to clash",
        "locality.intended": "the step function is the intended one",
        "locality.labels_found": "the model is asked for the labels that were found by comparing states",
        "locality.refuted": "REFUTED: no number of windows of width {r} settles a step.",
        "locality.growing": "Unknown, growing: the number of windows of width {r} that are needed is {numbers}.",
        "locality.more_than": "more than {most} windows",
        "locality.seldom": "Unknown: only {recurring:.0%} of the windows of {r} columns at which something changes "
        "occurred twice in {scope}, too few to judge by; no clash was found.",
        "locality.short": "Unknown: states up to size {up_to} have at most {longest} columns, too few to judge windows "
        "of {r} columns; no clash was found.",
        "locality.consistent_one": "CONSISTENT: one window of width {r} settles every step in {scope}.",
        "locality.consistent": "CONSISTENT: {n} windows of width {r} settle every step in {scope}.",
        "locality.no_new": "There are {pairs} windows with their labels; no new one appears from size {least_size} on.",
        "locality.still_new": "There are {pairs} windows with their labels; new ones still appear.",
        "locality.every_state": "all states up to size {up_to}",
        "locality.sample": "a sample of states up to size {up_to}",
        "locality.clash": "`{state}` needs {label!r} at the position in brackets and `{other_state}` needs "
        "{other_label!r}; the windows of width {r} around both are the same, and every window of width {r} of the "
        "first state occurs in the second, so no number of windows distinguishes them.",
        "locality.labels_compared": "The labels were found by comparing states; the file can define its own (labels).",
    }
)


@dataclass(frozen=True)
class WindowWitness:
    """Two positions with the same anchor and different labels; all windows of the first state are in the second."""

    r: int
    state: State
    position: int
    label: str
    other_state: State
    other_position: int
    other_label: str
    guessed: bool = False

    def holds(self) -> bool:
        """Checked again on the states themselves."""
        one, other = windows_of(self.state, self.r), windows_of(self.other_state, self.r)
        same_anchor = one[self.position] == other[self.other_position]
        return same_anchor and self.label != self.other_label and set(one) <= set(other)

    def explain(self) -> list[str]:
        found = [sentence("locality.clash", self.plain())]
        return [*found, sentence("locality.labels_compared")] if self.guessed else found

    def plain(self) -> dict[str, Any]:
        states = {"state": written(self.state, self.position)}
        states["other_state"] = written(self.other_state, self.other_position)
        return {"r": self.r, **states, "label": self.label, "other_label": self.other_label}


@dataclass(frozen=True)
class Consistency:
    """What given steps say about windows of r columns.

    `n` is the least number of windows, None when refuted or when more than `most` are needed; `by_size` gives it for
    the steps up to each size. `pairs` counts the (anchor window, label) pairs, and `least_size` is the size after which
    no new one appears (None when the last size still brought one). `recurring` is the share of changed places whose
    anchor another chain has too; it is 1 where all states were examined.
    """

    name: str
    verdict: Verdict
    n: int | None
    r: int
    up_to: int
    least_size: int | None
    pairs: int
    by_size: tuple[tuple[int, int | None], ...]
    states: int
    exhaustive: bool
    longest: int
    most: int
    witness: WindowWitness | None = None
    recurring: float = 1.0

    @property
    def growing(self) -> bool:
        """Whether no n can be named: more than `most` are needed, n rose without a new pair, or it rose last. An n that
        settles every size is reached with some finite set of states; one that still rises when every anchor and label
        is known is driven by the size itself."""
        if self.verdict == "REFUTED":
            return False
        numbers = dict(self.by_size)
        since = self.least_size if self.least_size in numbers else list(numbers)[-2:][0]
        before = numbers[since]
        return self.n is None or before is None or self.n > before

    @property
    def thin(self) -> bool:
        """Whether a missing clash says little: most windows of a sample occurred only once, or no state was longer than
        two windows, or for several windows no size is two above their width, so that most positions show where they
        are. One window that keeps settling when no new one appears is believed."""
        if self.verdict != "CONSISTENT":
            return False
        if self.recurring < _RECURRING:
            return True
        if self.n == 1:
            return self.longest <= 2 * self.r and self.least_size is None
        return self.longest <= 2 * self.r or self.up_to < self.r + 2

    @property
    def settled(self) -> bool:
        """Whether a number of windows can be named."""
        return self.verdict == "CONSISTENT" and self.n is not None and not self.growing and not self.thin

    @property
    def scope(self) -> str:
        return sentence("locality.every_state" if self.exhaustive else "locality.sample", {"up_to": self.up_to})

    def claim(self) -> Claim:
        key, evidence = "locality.windows", {"name": self.name, "r": self.r, "states": self.states}
        evidence |= {"up_to": self.up_to, "n_by_size": dict(self.by_size), "pairs": self.pairs}
        if self.witness is not None:
            given = [Assumption("locality.intended")]
            if self.witness.guessed:  # other labels might be settled
                given.append(Assumption("locality.labels_found"))
            status = "unknown" if self.witness.guessed else "refuted"
            evidence["witness"] = self.witness.plain()
            return Claim(key, "REFUTED", "", "proved", status, None, tuple(given), XIAO, evidence)
        assumptions = (
            Assumption("locality.larger_sizes", values={"up_to": self.up_to}),
            Assumption("locality.recur", "violated" if self.recurring < _RECURRING else "checked"),
            Assumption("locality.long_enough", "violated" if self.thin else "checked"),
        )
        value = f"({self.n}, {self.r})" if self.n else sentence("locality.more_than", {"most": self.most})
        return Claim(
            key, value, "", "measured", "holds" if self.settled else "unknown", None, assumptions, XIAO, evidence
        )

    @property
    def unsettled(self) -> str | None:
        """Why no number of windows can be named, as a key; None where one can, or where every number is refuted."""
        if self.verdict == "REFUTED" or self.settled:
            return None
        rare = "locality.seldom" if self.recurring < _RECURRING else "locality.short"
        return "locality.growing" if self.growing else rare

    def explain(self) -> list[str]:
        if self.witness is not None:
            return [sentence("locality.refuted", {"r": self.r}), *self.witness.explain()]
        values = {**vars(self), "scope": self.scope}
        if self.unsettled is not None:
            more = sentence("locality.more_than", {"most": self.most})
            values["numbers"] = ", ".join(f"{n or more} at {size}" for size, n in self.by_size)
            return [sentence(self.unsettled, values)]
        keys = ("consistent_one" if self.n == 1 else "consistent", "no_new" if self.least_size else "still_new")
        return [sentence(f"locality.{key}", values) for key in keys]


def consistency(steps: Steps, r: int, sizes: Iterable[int], most: int = 4) -> Consistency:
    """Decide (n, r)-consistency of the steps of these sizes, for n up to `most`; a refutation is for every n. Time is
    mainly that of entering the windows, O(states x length), and of the certificates of anchors with two labels."""
    table = WindowTable(Numbering(r))
    needs: dict[int, float] = {}  # of each anchor; infinite where it is more than `most`
    by_size: list[tuple[int, int | None]] = []
    witness = None
    for size in sizes:
        changed = {anchor for move in steps.moves(size) for anchor in table.add(move, size)}
        witness = _update(needs, table, changed, most, steps.guessed)
        largest = max(needs.values(), default=1)
        by_size.append((size, None if witness or largest == math.inf else int(largest)))
        if witness:
            break
    up_to, newest = by_size[-1][0] if by_size else 0, max(table.first.values(), default=0)
    return Consistency(
        steps.name,
        "REFUTED" if witness else "CONSISTENT",
        by_size[-1][1] if by_size else None,
        r,
        up_to,
        None if witness or newest == up_to else newest,
        len(table.first),
        tuple(by_size),
        table.states,
        steps.exhaustive,
        table.longest,
        most,
        witness,
        1.0 if witness or steps.exhaustive else recurring(steps, r, [size for size, _ in by_size]),
    )


def _update(
    needs: dict[int, float], table: WindowTable, changed: set[int], most: int, guessed: bool
) -> WindowWitness | None:
    """How many windows each changed anchor needs, or two positions that refute every number."""
    for anchor in changed:
        needs[anchor] = 1
        labels = table.found[anchor]
        for label, sets in labels.items() if len(labels) > 1 else ():
            differing = {name: found for name, found in labels.items() if name != label}
            others = {other for found in differing.values() for other in found}
            certified = certificates(sets, others, most - 1)
            if isinstance(certified, Refuted):
                one, its = sets[certified.own], certified.other
                other_label, other = next((name, found[its]) for name, found in differing.items() if its in found)
                guess = guessed and any(is_guess(place.move.state, place.move.after) for place in (one, other))
                places = one.move.state, one.position, label, other.move.state, other.position, other_label
                return WindowWitness(2 * table.numbering.radius + 1, *places, guess)
            counts = (math.inf if hit is None else 1 + hit.bit_count() for hit in certified.values())
            needs[anchor] = max(needs[anchor], *counts)
    return None
