"""The least window that settles a bimachine, for all lengths, or the proof that none does; and all its windows.

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

from lengthwise.messages import explain, sentence
from lengthwise.oracle.locality.bimachine import Bimachine, Folded, fold
from lengthwise.oracle.locality.windows import PAD
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import Formulation, State, column

Pairs = NDArray[np.bool_]  # [states, states]
Context = dict[tuple[int, ...], dict[int, int]]  # what stands next to the middle → state → least length
_BORDER = -1
_LIMIT = 100_000  # windows to examine: a few seconds' work
explain(
    {
        "locality.all_sizes": "{name}: (1, r) for all sizes",
        "locality.no_finite_window": "no finite window",
        "locality.is_the_step": "the bimachine computes the step",
        "locality.domain_holds": "its domain contains every state",
        "locality.domain_is": "its domain is the set of states",
        "locality.proved": "PROVED: one window of {r} columns settles the step at every size.",
        "locality.proved_narrower": "PROVED: one window of {r} columns settles the step at every size; windows of "
        "{narrower} do not.",
        "locality.proved_none": "PROVED: no finite window settles the step.",
        "locality.word_clash": "`{one}` needs {label!r} at the position in brackets and `{other}` needs "
        "{other_label!r}; the window of {width} columns around it is the same.",
    }
)
XIAO = Reference("xiao2024", "(1, r)-consistency; the procedure for bimachines is proved in docs/locality.md")


@dataclass(frozen=True)
class WindowClash:
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
        values = {"one": one, "other": other, "label": self.label, "other_label": self.other_label}
        return [sentence("locality.word_clash", {**values, "width": 2 * self.radius + 1})]

    def plain(self) -> dict[str, Any]:
        return {**vars(self), "word": " ".join(self.word), "other_word": " ".join(self.other_word)}


@dataclass(frozen=True)
class WindowProof:
    """The least radius of a window that settles the step for all lengths, None when no radius does.

    `left` and `right` are columns that are enough on each side: the fewest on the left with `radius` on the right, and
    then the fewest on the right. `clash` shows that one column less, or with no finite window a large one, is not
    enough.
    """

    radius: int | None
    left: int | None
    right: int | None
    clash: WindowClash | None
    exact: bool
    rounds: int

    @property
    def r(self) -> int | None:
        """The width of the window."""
        return None if self.radius is None else 2 * self.radius + 1

    def claim(self, name: str = "step", checked: Assumption | None = None) -> Claim:
        """The conclusion, which rests on the bimachine being the step: assumed, or `checked`."""
        domain = Assumption("locality.domain_is" if self.exact else "locality.domain_holds")
        given = (Assumption("locality.is_the_step"), domain) if checked is None else (checked,)
        evidence: dict[str, Any] = {"name": name, "rounds": self.rounds, "left": self.left, "right": self.right}
        if self.clash:
            evidence["clash"] = self.clash.plain()
        status, value = "holds", f"(1, {self.r})"
        if self.radius is None:
            status, value = "refuted" if self.exact else "unknown", sentence("locality.no_finite_window")
        return Claim("locality.all_sizes", value, "", "proved", status, None, given, XIAO, evidence)

    def explain(self) -> list[str]:
        if self.clash is None or not (self.exact or self.radius is None):
            return [sentence("locality.proved", {"r": self.r})]
        key = "locality.proved_none" if self.radius is None else "locality.proved_narrower"
        values = {"r": self.r, "narrower": 2 * self.clash.radius + 1}
        return [sentence(key, values), *self.clash.explain()]


def prove(machine: Bimachine, shown: int = 4) -> WindowProof:
    """The least radius, with a clash one column below; where no radius is enough, a clash at the radius `shown`.

    O(states^2 x letters) a round and at most states^2 rounds.
    """
    folded = fold(machine)
    lefts, rights = [_all(folded.left)], [_all(folded.right)]
    while _clash(folded, lefts[-1], rights[-1]) is not None:
        lefts.append(_narrowed(lefts[-1], folded.left))
        rights.append(_narrowed(rights[-1], folded.right))
        if (lefts[-1] == lefts[-2]).all() and (rights[-1] == rights[-2]).all():
            return WindowProof(None, None, None, clash_at(folded, shown), machine.exact, len(lefts) - 1)
    radius = len(lefts) - 1
    left = next(k for k in range(radius + 1) if _clash(folded, lefts[k], rights[radius]) is None)
    right = next(k for k in range(radius + 1) if _clash(folded, lefts[left], rights[k]) is None)
    below = clash_at(folded, radius - 1) if radius else None
    return WindowProof(radius, left, right, below, machine.exact, radius)


def clash_at(folded: Folded, radius: int) -> WindowClash | None:
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
    return WindowClash(radius, word, position, label, other_word, other_position, other)


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


def all_windows(machine: Bimachine, radius: int) -> dict[tuple[State, str], int] | None:
    """(window, label) → the length of the shortest word of the domain that shows it; None if there are too many.

    A window occurs when some left context that ends in its left half and some right context that begins with its right
    half make a word of the domain; the shortest of each are found breadth first.
    """
    folded = fold(machine)
    alive = folded.outputs >= 0
    before = _halves(folded.left, radius, np.asarray(alive.any(axis=(0, 2))))
    after = _halves(folded.right, radius, np.asarray(alive.any(axis=(0, 1))))
    if len(before) * len(folded.alphabet) * len(after) > _LIMIT:
        return None
    shortest: dict[tuple[State, str], int] = {}
    for left, lefts in before.items():
        for right, rights in after.items():
            _enter(shortest, folded, left, lefts, right, rights)
    return shortest


def least_training_size(machine: Bimachine, radius: int, formulation: Formulation) -> int | None:
    """The least size whose states, with those of smaller sizes, show every window: L* for all sizes."""
    windows = all_windows(machine, radius)
    if windows is None or not machine.exact:
        return None
    longest = max(windows.values())
    return next(
        size
        for size in range(1, longest + 2)
        if formulation.has(size) and len(formulation.start(size, next(iter(formulation.every(size))))) >= longest
    )


def _halves(table: NDArray[np.int64], radius: int, alive: NDArray[np.bool_]) -> Context:
    """The last `radius` letters read (with borders before the first) and the state, with the fewest letters."""
    start: tuple[tuple[int, ...], int] = ((_BORDER,) * radius, 0)
    lengths: dict[tuple[tuple[int, ...], int], int] = {start: 0}
    queue: list[tuple[tuple[int, ...], int]] = [start]
    for node in queue:
        seen, state = node
        for letter in range(table.shape[1]):
            target = int(table[state, letter])
            onward: tuple[tuple[int, ...], int] = ((*seen, letter)[1:] if radius else (), target)
            if alive[target] and onward not in lengths:
                lengths[onward] = lengths[node] + 1
                queue.append(onward)
    grouped: Context = {}
    for (seen, state), length in lengths.items():
        grouped.setdefault(seen, {})[state] = length
    return grouped


def _enter(
    shortest: dict[tuple[State, str], int],
    folded: Folded,
    left: tuple[int, ...],
    lefts: dict[int, int],
    right: tuple[int, ...],
    rights: dict[int, int],
) -> None:
    lengths = np.add.outer(list(lefts.values()), list(rights.values())) + 1
    outputs = folded.outputs[:, list(lefts), :][:, :, list(rights)]
    for letter, label in {(int(at[0]), int(outputs[tuple(at)])) for at in np.argwhere(outputs >= 0)}:
        columns = [PAD if at == _BORDER else column(folded.alphabet[at]) for at in (*left, letter, *right[::-1])]
        key = tuple(columns), folded.labels[label]
        least = int(lengths[outputs[letter] == label].min())
        shortest[key] = min(shortest.get(key, least), least)
