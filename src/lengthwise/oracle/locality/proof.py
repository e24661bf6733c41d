"""The least window that settles a bimachine, for all lengths, or the proof that none does.

With the domain folded in, a left state x is a pair (left scanner, domain), a right state m is a pair (right scanner,
set of domain states from which the rest is accepted), and the output F(x, a, m) is defined exactly where the whole word
is in the domain. Two left contexts look alike through k columns when they end in the same k letters, or are the same
shorter word, for the window shows the border. So the pairs of left states that look alike through k columns are

    S(0) = all pairs,    S(k + 1) = the diagonal + the images of S(k) under each letter,

a decreasing chain of finite sets, and T(k) likewise on the right. Left and right contexts are chosen independently:
windows of k columns to the left and l to the right settle the step if and only if there is no letter a, (x, x') in S(k)
and (m, m') in T(l) with F(x, a, m) and F(x', a, m') both defined and different. When both chains have become constant
and such a clash remains, no finite window settles the step. docs/locality.md has the proof.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.oracle.locality.bimachine import Bimachine
from lengthwise.oracle.locality.folding import Folded, fold
from lengthwise.records import Assumption, Claim, Reference

Pairs = NDArray[np.bool_]  # [states, states]
XIAO = Reference("xiao2024", "(1, r)-consistency; the procedure for bimachines is proved in docs/locality.md")


@dataclass(frozen=True)
class Clash:
    """Two words of the domain with the same window of this radius and different labels at its middle."""

    radius: int
    word: tuple[str, ...]
    position: int
    label: str
    other_word: tuple[str, ...]
    other_position: int
    other_label: str

    def explain(self) -> list[str]:
        one, other = (
            " ".join(f"[{letter}]" if at == mark else letter for at, letter in enumerate(word))
            for word, mark in ((self.word, self.position), (self.other_word, self.other_position))
        )
        same = f"the window of {2 * self.radius + 1} around it is the same"
        return [
            f"`{one}` needs {self.label!r} at the place in brackets and `{other}` needs {self.other_label!r}; {same}."
        ]

    def plain(self) -> dict[str, Any]:
        return {
            "radius": self.radius,
            "word": " ".join(self.word),
            "position": self.position,
            "label": self.label,
            "other_word": " ".join(self.other_word),
            "other_position": self.other_position,
            "other_label": self.other_label,
        }


@dataclass(frozen=True)
class Proof:
    """The least radius of a window that settles the step for all lengths, None when no radius does.

    `left` and `right` are columns that are enough on each side: the fewest on the left with `radius` on the right, and
    then the fewest on the right. `clash` shows that one column less, or with no finite window a large one, is not
    enough.
    """

    radius: int | None
    left: int | None
    right: int | None
    clash: Clash | None
    exact: bool
    rounds: int

    @property
    def r(self) -> int | None:
        """The width of the window."""
        return None if self.radius is None else 2 * self.radius + 1

    def claim(self, name: str = "step") -> Claim:
        given = [Assumption("the bimachine computes the step")]
        given.append(
            Assumption("its domain holds every state" if not self.exact else "its domain is the set of states")
        )
        evidence: dict[str, Any] = {"rounds": self.rounds, "left": self.left, "right": self.right}
        if self.clash:
            evidence["clash"] = self.clash.plain()
        if self.radius is None:
            status = "refuted" if self.exact else "unknown"
            value: str = "no finite window"
        else:
            status, value = "holds", f"(1, {self.r})"
        return Claim(
            f"{name}: (1, r) for all sizes", value, "", "proved", status,
            assumptions=tuple(given), reference=XIAO, evidence=evidence,
        )  # fmt: skip

    def explain(self) -> list[str]:
        if self.radius is None:
            head = "PROVED: no finite window settles the step."
        else:
            head = f"PROVED: one window of {self.r} columns settles the step at every size."
            if self.clash and self.exact:
                head += f" Windows of {2 * self.clash.radius + 1} do not."
        return [head, *(self.clash.explain() if self.clash and (self.exact or self.radius is None) else [])]

    def plain(self) -> dict[str, Any]:
        return {
            "radius": self.radius,
            "r": self.r,
            "left": self.left,
            "right": self.right,
            "exact": self.exact,
            "clash": None if self.clash is None else self.clash.plain(),
        }


def prove(machine: Bimachine, shown: int = 4) -> Proof:
    """The least radius, with a clash one column below; where no radius is enough, a clash at the radius `shown`.

    O(states^2 x letters) a round and at most states^2 rounds.
    """
    folded = fold(machine)
    lefts, rights = [_all(folded.left)], [_all(folded.right)]
    while _clash(folded, lefts[-1], rights[-1]) is not None:
        lefts.append(_narrowed(lefts[-1], folded.left))
        rights.append(_narrowed(rights[-1], folded.right))
        if (lefts[-1] == lefts[-2]).all() and (rights[-1] == rights[-2]).all():
            return Proof(None, None, None, clash_at(folded, shown), machine.exact, len(lefts) - 1)
    radius = len(lefts) - 1
    left = next(k for k in range(radius + 1) if _clash(folded, lefts[k], rights[radius]) is None)
    right = next(k for k in range(radius + 1) if _clash(folded, lefts[left], rights[k]) is None)
    below = clash_at(folded, radius - 1) if radius else None
    return Proof(radius, left, right, below, machine.exact, radius)


def clash_at(folded: Folded, radius: int) -> Clash | None:
    """Two words that look alike through a window of this radius and need different labels, if there are any."""
    lefts, rights = [_all(folded.left)], [_all(folded.right)]
    for _ in range(radius):
        lefts.append(_narrowed(lefts[-1], folded.left))
        rights.append(_narrowed(rights[-1], folded.right))
    found = _clash(folded, lefts[-1], rights[-1])
    if found is None:
        return None
    x, other_x, letter, m, other_m = found
    before, other_before = _contexts(lefts, folded.left, x, other_x)
    after, other_after = _contexts(rights, folded.right, m, other_m)
    words = []
    for head, tail in ((before, after), (other_before, other_after)):
        numbers = [*head, letter, *tail[::-1]]
        words.append((tuple(folded.alphabet[number] for number in numbers), len(head)))
    (word, position), (other_word, other_position) = words
    label, other = folded.label(x, letter, m), folded.label(other_x, letter, other_m)
    return Clash(radius, word, position, label, other_word, other_position, other)


def _all(table: NDArray[np.int64]) -> Pairs:
    return np.ones((len(table), len(table)), dtype=bool)


def _narrowed(pairs: Pairs, table: NDArray[np.int64]) -> Pairs:
    """The pairs that still look alike through one column more."""
    narrowed = np.eye(len(table), dtype=bool)
    ones, others = np.nonzero(pairs)
    for letter in range(table.shape[1]):
        narrowed[table[ones, letter], table[others, letter]] = True
    return narrowed


def _clash(folded: Folded, lefts: Pairs, rights: Pairs) -> tuple[int, int, int, int, int] | None:
    """(x, x', letter, m, m') with alike contexts and different outputs.

    For each letter and label c: with A = [F = c] and B = [F defined and not c], a clash is an entry of A T B' in S.
    """
    alike = rights.astype(np.float32)
    for letter in range(len(folded.alphabet)):
        outputs = folded.outputs[letter]
        for label in np.unique(outputs[outputs >= 0])[:-1]:  # of two labels that clash one is not the largest
            is_label = (outputs == label).astype(np.float32)
            is_other = ((outputs >= 0) & (outputs != label)).astype(np.float32)
            reach = is_label @ alike
            meeting = (reach @ is_other.T > 0) & lefts
            if meeting.any():
                x, other_x = (int(at) for at in np.argwhere(meeting)[0])
                both = np.outer(is_label[x], is_other[other_x]) * alike
                m, other_m = (int(at) for at in np.argwhere(both > 0)[0])
                return x, other_x, letter, m, other_m
    return None


def _contexts(layers: list[Pairs], table: NDArray[np.int64], one: int, other: int) -> tuple[list[int], list[int]]:
    """Two words that lead to these states and look alike through one letter a layer above the first."""
    shared: list[int] = []
    access = _access(table)
    for pairs in layers[-2::-1]:
        if one == other:  # the same word on both sides looks alike through any window
            break
        ones, others = np.nonzero(pairs)
        for letter in range(table.shape[1]):
            hits = np.flatnonzero((table[ones, letter] == one) & (table[others, letter] == other))
            if len(hits):
                shared.append(letter)
                one, other = int(ones[hits[0]]), int(others[hits[0]])
                break
    return access[one] + shared[::-1], access[other] + shared[::-1]


def _access(table: NDArray[np.int64]) -> list[list[int]]:
    """A shortest word that leads from state 0 to each state."""
    words: dict[int, list[int]] = {0: []}
    for state in (queue := [0]):
        for letter in range(table.shape[1]):
            target = int(table[state, letter])
            if target not in words:
                words[target] = [*words[state], letter]
                queue.append(target)
    return [words[state] for state in range(len(table))]
