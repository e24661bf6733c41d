"""Bimachines: a step whose label at a position follows from what one automaton saw on the left and one on the right.

A letter is a whole column written as text. The left scanner reads from the left border to the position, the right one
from the right border, and the output is a function of both states and of the letter between. A third scanner says which
words are states at all. `fold` puts it into both, so that the output is defined exactly on words of the domain.

The least window that settles a bimachine, for all lengths, or the proof that none does; and all its windows.

With the domain folded in, a left state x is a pair (left scanner, domain), a right state m is a pair (right scanner,
set of domain states from which the rest is accepted), and the output F(x, a, m) is defined exactly where the whole word
is in the domain. Two left contexts look alike through k columns when they end in the same k letters, or are the same
shorter word, for the window shows the border. So the pairs of left states that look alike through k columns are

    S(0) = all pairs,    S(k + 1) = the diagonal + the images of S(k) under each letter,

a decreasing chain of finite sets, and T(k) likewise on the right. Left and right contexts are chosen independently:
windows of k columns to the left and l to the right settle the step if and only if there is no letter a, (x, x') in S(k)
and (m, m') in T(l) with F(x, a, m) and F(x', a, m') both defined and different. When both chains have become constant
and such a clash remains, no finite window settles the step. docs/explanation/locality.md has the proof.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.oracle.crasp.automata import explored
from lengthwise.oracle.locality.windows import PAD
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.tasks.formulations.formulation import Formulation, State, column

Step = Callable[[Any, str], Hashable]
Output = Callable[[Any, str, Any], str]
UNDEFINED = -1
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
XIAO = Reference(
    "xiao2024", "(1, r)-consistency; the procedure for bimachines is proved in docs/explanation/locality.md"
)


@dataclass(frozen=True)
class Scanner:
    """A deterministic automaton as a table: `table[state][letter]` is the next state; `names` say what states mean."""

    names: tuple[Hashable, ...]
    table: tuple[tuple[int, ...], ...]

    def run(self, letters: Sequence[int]) -> list[int]:
        """The states before each letter and after the last, from state 0."""
        states = [0]
        for letter in letters:
            states.append(self.table[states[-1]][letter])
        return states


def scanner(alphabet: Sequence[str], start: Hashable, step: Step, most: int = 5000) -> Scanner:
    """The automaton of all states that `step` reaches from `start`; state 0 is the start."""
    names, table = explored(start, alphabet, step, most)
    if len(names) > most:
        raise UsageError(f"a scanner has finitely many states, and this one has more than {most}")
    return Scanner(names, table)


@dataclass(frozen=True)
class Bimachine:
    """`left`, `right` and `output` give the label of each position; `domain` and `accepting` say which words count.
    `exact` says that the domain is exactly the set of states of the formulation; otherwise it is larger, and a window
    that settles it settles the formulation too, but a smaller one might."""

    alphabet: tuple[str, ...]
    left: Scanner
    right: Scanner
    output: Output
    domain: Scanner
    accepting: frozenset[int]
    exact: bool = True

    def accepts(self, word: Sequence[str]) -> bool:
        """Whether a word is a state."""
        known = all(letter in self._index for letter in word)
        return known and self.domain.run([self._index[letter] for letter in word])[-1] in self.accepting

    def labels(self, word: Sequence[str]) -> tuple[str, ...]:
        """The label of each position of a word."""
        letters = [self._index[letter] for letter in word]
        before, after = self.left.run(letters), self.right.run(letters[::-1])
        return tuple(
            self.output(self.left.names[before[at]], letter, self.right.names[after[len(word) - 1 - at]])
            for at, letter in enumerate(word)
        )

    @functools.cached_property
    def _index(self) -> dict[str, int]:
        return {letter: number for number, letter in enumerate(self.alphabet)}


def bimachine(
    alphabet: Sequence[str],
    left: tuple[Hashable, Step],
    right: tuple[Hashable, Step],
    output: Output,
    domain: tuple[Hashable, Step, Callable[[Any], bool]],
    exact: bool = True,
) -> Bimachine:
    """A bimachine from start states and step functions; `domain` has a third part, which states of it accept."""
    scope = scanner(alphabet, domain[0], domain[1])
    accepting = frozenset(number for number, name in enumerate(scope.names) if domain[2](name))
    return Bimachine(
        tuple(alphabet), scanner(alphabet, *left), scanner(alphabet, *right), output, scope, accepting, exact
    )


@dataclass(frozen=True, eq=False)
class Folded:
    """`left[x, a]` and `right[m, a]` are the next states; `outputs[a][x, m]` numbers the label, or is UNDEFINED."""

    alphabet: tuple[str, ...]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    outputs: NDArray[np.int64]
    labels: tuple[str, ...]


def fold(machine: Bimachine) -> Folded:
    """The product of both scanners with the domain. On the right the domain is read backwards: a right context is known
    by the domain states from which it leads to acceptance, and the state after the letter must be one of them."""
    domain, letters = machine.domain.table, range(len(machine.alphabet))

    def forward(state: tuple[int, int], letter: int) -> tuple[int, int]:
        return machine.left.table[state[0]][letter], domain[state[1]][letter]

    def backward(state: tuple[int, frozenset[int]], letter: int) -> tuple[int, frozenset[int]]:
        into = frozenset(source for source, row in enumerate(domain) if row[letter] in state[1])
        return machine.right.table[state[0]][letter], into

    lefts, left = explored((0, 0), letters, forward)
    rights, right = explored((0, machine.accepting), letters, backward)
    numbers: dict[str, int] = {}
    outputs = np.full((len(letters), len(lefts), len(rights)), UNDEFINED)
    for (number, letter), (x, (p, d)) in itertools.product(enumerate(machine.alphabet), enumerate(lefts)):
        for m, (q, accepted) in enumerate(rights):
            if domain[d][number] in accepted:
                label = machine.output(machine.left.names[p], letter, machine.right.names[q])
                outputs[number, x, m] = numbers.setdefault(label, len(numbers))
    return Folded(machine.alphabet, np.array(left), np.array(right), outputs, tuple(numbers))


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
    """The least radius of a window that settles the step for all lengths, None when no radius does. `left` and `right`
    are columns that are enough on each side: the fewest on the left with `radius` on the right, and then the fewest on
    the right. `clash` shows that one column less, or with no finite window a large one, is not enough."""

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
    O(states^2 x letters) a round and at most states^2 rounds."""
    folded = fold(machine)
    lefts, rights = _layers(folded, 0)
    while _clash(folded, lefts[-1], rights[-1]) is not None:
        _narrow(folded, lefts, rights)
        if (lefts[-1] == lefts[-2]).all() and (rights[-1] == rights[-2]).all():
            return WindowProof(None, None, None, clash_at(folded, shown), machine.exact, len(lefts) - 1)
    radius = len(lefts) - 1
    left = next(k for k in range(radius + 1) if _clash(folded, lefts[k], rights[radius]) is None)
    right = next(k for k in range(radius + 1) if _clash(folded, lefts[left], rights[k]) is None)
    below = clash_at(folded, radius - 1) if radius else None
    return WindowProof(radius, left, right, below, machine.exact, radius)


def clash_at(folded: Folded, radius: int) -> WindowClash | None:
    """Two words that look alike through a window of this radius and need different labels, if there are any."""
    lefts, rights = _layers(folded, radius)
    found = _clash(folded, lefts[-1], rights[-1])
    if found is None:
        return None
    x, other_x, letter, m, other_m = found
    heads, tails = _contexts(lefts, folded.left, x, other_x), _contexts(rights, folded.right, m, other_m)
    places: list[Any] = []
    for head, tail, ends in zip(heads, tails, ((x, m), (other_x, other_m)), strict=True):
        word = tuple(folded.alphabet[number] for number in (*head, letter, *tail[::-1]))
        places += [word, len(head), folded.labels[folded.outputs[letter, *ends]]]
    return WindowClash(radius, *places)


def _layers(folded: Folded, radius: int) -> tuple[list[Pairs], list[Pairs]]:
    """S(0), ..., S(radius) and T(0), ..., T(radius)."""
    lefts, rights = ([np.ones((len(table), len(table)), dtype=bool)] for table in (folded.left, folded.right))
    for _ in range(radius):
        _narrow(folded, lefts, rights)
    return lefts, rights


def _narrow(folded: Folded, lefts: list[Pairs], rights: list[Pairs]) -> None:
    lefts.append(_narrowed(lefts[-1], folded.left))
    rights.append(_narrowed(rights[-1], folded.right))


def _narrowed(pairs: Pairs, table: NDArray[np.int64]) -> Pairs:
    """The pairs that still look alike through one column more."""
    narrowed = np.eye(len(table), dtype=bool)
    ones, others = np.nonzero(pairs)
    for letter in range(table.shape[1]):
        narrowed[table[ones, letter], table[others, letter]] = True
    return narrowed


def _clash(folded: Folded, lefts: Pairs, rights: Pairs) -> tuple[int, int, int, int, int] | None:
    """(x, x', letter, m, m') with alike contexts and different outputs. For each letter and label c: with A = [F = c]
    and B = [F defined and not c], a clash is an entry of A T B' in S."""
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
    """Two words that lead to these states and look alike through one letter per layer above the first."""
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
    """(window, label) → the length of the shortest word of the domain that shows it; None if there are too many. A
    window occurs when some left context that ends in its left half and some right context that begins with its right
    half make a word of the domain; the shortest of each are found breadth first."""
    folded = fold(machine)
    alive = folded.outputs >= 0
    before = _halves(folded.left, radius, np.asarray(alive.any(axis=(0, 2))))
    after = _halves(folded.right, radius, np.asarray(alive.any(axis=(0, 1))))
    if len(before) * len(folded.alphabet) * len(after) > _LIMIT:
        return None
    shortest: dict[tuple[State, str], int] = {}
    for (left, lefts), (right, rights) in itertools.product(before.items(), after.items()):
        lengths = np.add.outer(list(lefts.values()), list(rights.values())) + 1
        outputs = folded.outputs[:, list(lefts), :][:, :, list(rights)]
        for letter, label in {(int(at[0]), int(outputs[tuple(at)])) for at in np.argwhere(outputs >= 0)}:
            columns = [PAD if at == _BORDER else column(folded.alphabet[at]) for at in (*left, letter, *right[::-1])]
            key = tuple(columns), folded.labels[label]
            least = int(lengths[outputs[letter] == label].min())
            shortest[key] = min(shortest.get(key, least), least)
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
    lengths: dict[tuple[tuple[int, ...], int], int] = {((_BORDER,) * radius, 0): 0}
    for seen, state in (queue := list(lengths)):
        for letter, target in enumerate(table[state].tolist()):
            onward = ((*seen, letter)[1:] if radius else (), target)
            if alive[target] and onward not in lengths:
                lengths[onward] = lengths[seen, state] + 1
                queue.append(onward)
    grouped: Context = {}
    for (seen, state), length in lengths.items():
        grouped.setdefault(seen, {})[state] = length
    return grouped
