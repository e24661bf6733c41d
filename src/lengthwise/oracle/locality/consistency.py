"""(n, r)-consistency of given steps: whether n windows of r columns, the anchor among them, settle every label.

A position of a state is settled by n windows when some n - 1 windows of the state, together with the window around the
position (the anchor), occur in no state in which the same anchor bears another label. Where windows lie does not count,
nor how often they occur: a state is its set of windows [xiao2024, (n, r)-consistency]. For given r either some n is
enough, or two places refute every n: the same anchor, different labels, all windows of one state among the other's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

from lengthwise.oracle.locality.certificates import Refuted, certificates
from lengthwise.oracle.locality.own_labels import is_guess
from lengthwise.oracle.locality.steps import Steps, check_width
from lengthwise.oracle.locality.windows import Numbering, Place, Table, recurring
from lengthwise.oracle.locality.witness import Witness
from lengthwise.records import Assumption, Check, Claim, Reference

Verdict = Literal["REFUTED", "CONSISTENT", "PROVED"]
XIAO = Reference("xiao2024", "(n, r)-consistency, Theorems 3.5 to 3.7")
_RECURRING = 0.5  # of the changed places of a sample; below it windows meet too seldom to clash


@dataclass(frozen=True)
class Consistency:
    """What given steps say about windows of r columns.

    `n` is the least number of windows, None when refuted or when more than `most` are needed; `by_size` gives it for
    the steps up to each size. `pairs` counts the (anchor window, label) pairs, and `least_size` is the size after which
    no new one comes (None when the last size still brought one). `recurring` is the share of changed places whose
    anchor another chain has too; it is 1 where all states were looked at.
    """

    name: str
    verdict: Verdict
    n: int | None
    r: int
    up_to: int
    least_size: int | None
    pairs: int
    pairs_by_size: tuple[tuple[int, int], ...]
    by_size: tuple[tuple[int, int | None], ...]
    states: int
    exhaustive: bool
    longest: int
    most: int
    witness: Witness | None = None
    recurring: float = 1.0

    @property
    def growing(self) -> bool:
        """Whether no n can be named: more than `most` are needed, n rose although no new pair came, or it rose last.

        An n that settles every size is reached with some finite set of states; one that still rises when every anchor
        and label is known is driven by the size itself.
        """
        if self.verdict == "REFUTED":
            return False
        numbers = dict(self.by_size)
        since = self.least_size if self.least_size in numbers else list(numbers)[-2:][0]
        before = numbers[since]
        return self.n is None or before is None or self.n > before

    @property
    def thin(self) -> bool:
        """Whether a missing clash says little: most windows of a sample came only once, or no state was longer than two
        windows, or for several windows no size is two above their width, so that most places show where they are. One
        window that keeps settling when no new one comes is believed."""
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
        return f"{'all' if self.exhaustive else 'a sample of'} states up to size {self.up_to}"

    def claim(self) -> Claim:
        name = f"{self.name}: windows of {self.r}"
        evidence = {"states": self.states, "up_to": self.up_to, "n_by_size": dict(self.by_size), "pairs": self.pairs}
        if self.witness is not None:
            evidence["witness"] = self.witness.plain()
            return self._refuted(name, evidence)
        assumptions = (
            Assumption(f"sizes above {self.up_to} bring no clash"),
            Assumption("the windows of a sample meet often enough to clash", self._meeting),
            Assumption("states are long enough for windows to clash", "violated" if self.thin else "checked"),
        )
        status = "holds" if self.settled else "unknown"
        value = f"({self.n}, {self.r})" if self.n else f"more than {self.most} windows"
        return Claim(name, value, "", "measured", status, assumptions=assumptions, reference=XIAO, evidence=evidence)

    @property
    def _meeting(self) -> Check:
        return "violated" if self.recurring < _RECURRING else "checked"

    def _refuted(self, name: str, evidence: dict[str, Any]) -> Claim:
        given = [Assumption("the step function is the intended one")]
        guessed = self.witness is not None and self.witness.guessed
        if guessed:  # other labels might be settled
            given.append(Assumption("a model is asked for the labels that were found by comparing states"))
        status = "unknown" if guessed else "refuted"
        return Claim(name, "REFUTED", "", "proved", status, assumptions=tuple(given), reference=XIAO, evidence=evidence)

    def explain(self) -> list[str]:
        if self.witness is not None:
            return [f"REFUTED: no number of windows of width {self.r} settles a step.", *self.witness.explain()]
        if self.growing:
            numbers = ", ".join(f"{n or f'more than {self.most}'} at {size}" for size, n in self.by_size)
            return [f"Unknown, growing: the number of windows of width {self.r} that are needed is {numbers}."]
        if self.recurring < _RECURRING:
            seen = f"only {self.recurring:.0%} of the windows of {self.r} at which something changes came twice"
            return [f"Unknown: {seen} in {self.scope}, too few to judge by; no clash was found."]
        if self.thin:
            seen = f"states up to size {self.up_to} have at most {self.longest} columns"
            return [f"Unknown: {seen}, too few to judge windows of {self.r}; no clash was found."]
        enough = f"from size {self.least_size} on no new one comes" if self.least_size else "new ones still come"
        count = "one window" if self.n == 1 else f"{self.n} windows"
        return [
            f"CONSISTENT: {count} of width {self.r} settle{'s' if self.n == 1 else ''} every step in {self.scope}.",
            f"There are {self.pairs} windows with their labels; {enough}.",
        ]

    def plain(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "verdict": self.verdict,
            "n": self.n,
            "r": self.r,
            "up_to": self.up_to,
            "least_size": self.least_size,
            "pairs": self.pairs,
            "n_by_size": [list(pair) for pair in self.by_size],
            "states": self.states,
            "exhaustive": self.exhaustive,
            "growing": self.growing,
            "thin": self.thin,
            "recurring": self.recurring,
            "witness": None if self.witness is None else self.witness.plain(),
        }


def consistency(steps: Steps, r: int, sizes: Iterable[int], most: int = 4) -> Consistency:
    """Decide (n, r)-consistency of the steps of these sizes, for n up to `most`; a refutation is for every n.

    Time is mainly that of entering the windows, O(states x length), and of the certificates of anchors that bear two
    labels.
    """
    check_width(r)
    table = Table(Numbering(r))
    needs: dict[int, int | None] = {}
    by_size: list[tuple[int, int | None]] = []
    pairs: list[tuple[int, int]] = []
    refuted: tuple[int, str, Refuted] | None = None
    for size in sizes:
        changed = {anchor for move in steps.moves(size) for anchor in table.add(move, size)}
        refuted = _update(needs, table, changed, most)
        pairs.append((size, table.pairs))
        by_size.append((size, None if refuted else _largest(needs)))
        if refuted:
            break
    return _result(steps, r, most, table, by_size, pairs, refuted)


def _update(
    needs: dict[int, int | None], table: Table, changed: set[int], most: int
) -> tuple[int, str, Refuted] | None:
    """How many windows each changed anchor needs, or the anchor, label and sets that refute every number."""
    for anchor in changed:
        labels = table.found[anchor]
        needs[anchor] = 1
        for label, sets in labels.items() if len(labels) > 1 else ():
            others = {other for name, found in labels.items() if name != label for other in found}
            certified = certificates(sets, others, most - 1)
            if isinstance(certified, Refuted):
                return anchor, label, certified
            needs[anchor] = _most(needs[anchor], certified.values())
    return None


def _most(before: int | None, certified: Iterable[int | None]) -> int | None:
    for certificate in certified:
        if before is None or certificate is None:
            return None
        before = max(before, 1 + certificate.bit_count())
    return before


def _largest(needs: dict[int, int | None]) -> int | None:
    """None, more than is looked for, is the largest."""
    numbers = list(needs.values())
    return None if None in numbers else max((n for n in numbers if n is not None), default=1)


def _result(
    steps: Steps,
    r: int,
    most: int,
    table: Table,
    by_size: list[tuple[int, int | None]],
    pairs: list[tuple[int, int]],
    refuted: tuple[int, str, Refuted] | None,
) -> Consistency:
    up_to = by_size[-1][0] if by_size else 0
    newest = max(table.first.values(), default=0)
    return Consistency(
        steps.name,
        "REFUTED" if refuted else "CONSISTENT",
        by_size[-1][1] if by_size else None,
        r,
        up_to,
        None if refuted or newest == up_to else newest,
        table.pairs,
        tuple(pairs),
        tuple(by_size),
        table.states,
        steps.exhaustive,
        table.longest,
        most,
        _witness(table, r, steps.guessed, *refuted) if refuted else None,
        1.0 if refuted or steps.exhaustive else recurring(steps, r, [size for size, _ in by_size]),
    )


def _witness(table: Table, r: int, guessed: bool, anchor: int, label: str, sets: Refuted) -> Witness:
    labels = table.found[anchor]
    one: Place = labels[label][sets.own]
    other_label, other = next(
        (name, found[sets.other]) for name, found in labels.items() if name != label and sets.other in found
    )
    guessed = guessed and any(is_guess(place.move.state, place.move.after) for place in (one, other))
    return Witness(r, one.move.state, one.position, label, other.move.state, other.position, other_label, guessed)
