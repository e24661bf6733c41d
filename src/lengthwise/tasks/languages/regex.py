"""Regular expressions of the theory's kind, and their minimal automata.

    ab           the letters, one after the other; spaces are ignored
    x|y          either
    x* x+ x?     any number, one or more, at most one (`+` is never "or")
    x{3} x{2,} x{2,5}   repeated
    (x) ()       grouping; the empty word (also written ε)
    [abc] [a-z]  one of these letters; [] is the empty set
    {a,b} {ab,c} one of these words, as in {a,b}*d{b,c}*
    \\*           the sign after the backslash as a letter

Braces that follow an atom directly and hold `3`, `2,` or `2,5` repeat it, all others are a set: `{0,1,2}*02*` starts
with a set, and `{0,1}*{0,1}` ends with one; but `a{0,1}` is `a?`, so a followed by 0 or 1 is written `a[01]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.syntax import Join, Letters, Node, Repeat, parse

LARGEST = 10_000  # states of an automaton, and letters of an expression once its repetitions are written out
MOST_LETTERS = 1_000  # in an alphabet


def automaton(expression: str, alphabet: Iterable[str] = ()) -> Dfa:
    """The minimal automaton of an expression over its own letters and those of `alphabet`, in sorted order."""
    node = parse(expression)
    letters = tuple(sorted({*alphabet, *_letters(node)}))
    if not letters:
        raise UsageError(f"{expression!r} names no letter, so it describes the empty word or no word at all")
    if len(letters) > MOST_LETTERS:
        raise UsageError(f"{expression!r} has {len(letters):,} letters, and an alphabet holds at most {MOST_LETTERS:,}")
    if _size(node) > LARGEST:
        raise UsageError(f"{expression!r} has more than {LARGEST:,} letters once its repetitions are written out")
    places = _PatternPlaces()
    return _subsets(places, places.fragment(node), letters, expression).minimised()


@dataclass(frozen=True)
class _Fragment:
    """A part of the expression: whether it holds the empty word, and the places its words begin and end with."""

    empty: bool
    first: int
    last: int


_NOTHING_LEFT = _Fragment(True, 0, 0)


class _PatternPlaces:
    """Glushkov's automaton: a state for every letter written in the expression. Sets of places are bit masks."""

    def __init__(self) -> None:
        self.letters: list[frozenset[str]] = []
        self.follow: list[int] = []

    def fragment(self, node: Node) -> _Fragment:
        if isinstance(node, Letters):
            if not node.letters:
                return _Fragment(False, 0, 0)
            self.letters.append(node.letters)
            self.follow.append(0)
            return _Fragment(False, place := 1 << len(self.letters) - 1, place)
        if isinstance(node, Join):
            whole = _NOTHING_LEFT
            for part in reversed(node.parts):
                whole = self.joined(self.fragment(part), whole)
            return whole
        if isinstance(node, Repeat):
            return self.repeated(node)
        parts = [self.fragment(part) for part in node.parts]
        whole = _Fragment(False, 0, 0)
        for part in parts:
            whole = _Fragment(whole.empty or part.empty, whole.first | part.first, whole.last | part.last)
        return whole

    def repeated(self, node: Repeat) -> _Fragment:
        """The copies written out from the right, so that each is linked to its neighbours alone."""
        whole, copies = _NOTHING_LEFT, node.low
        if node.high is None:
            loop = self.fragment(node.part)
            self.link(loop.last, loop.first)
            whole = _Fragment(loop.empty or node.low == 0, loop.first, loop.last)
            copies -= 1
        else:
            for _ in range(node.high - node.low):
                longer = self.joined(self.fragment(node.part), whole)
                whole = _Fragment(True, longer.first, longer.last)
        for _ in range(copies):
            whole = self.joined(self.fragment(node.part), whole)
        return whole

    def joined(self, left: _Fragment, right: _Fragment) -> _Fragment:
        self.link(left.last, right.first)
        first = left.first | (right.first if left.empty else 0)
        return _Fragment(left.empty and right.empty, first, right.last | (left.last if right.empty else 0))

    def link(self, ends: int, beginnings: int) -> None:
        for place in _bits(ends):
            self.follow[place] |= beginnings


def _subsets(places: _PatternPlaces, whole: _Fragment, letters: tuple[str, ...], expression: str) -> Dfa:
    """The deterministic automaton whose states are the sets of places a prefix can end in."""
    start = 1 << len(places.follow)  # a place before every letter
    follow = [*places.follow, whole.first]
    ending = whole.last | (start if whole.empty else 0)
    masks = dict.fromkeys(letters, 0)
    for place, named in enumerate(places.letters):
        for letter in named:
            masks[letter] |= 1 << place
    number, rows = {start: 0}, []
    for subset in (queue := [start]):
        onward = 0
        for place in _bits(subset):
            onward |= follow[place]
        row = [onward & masks[letter] for letter in letters]
        for target in row:
            if target not in number:
                number[target] = len(number)
                queue.append(target)
        if len(number) > LARGEST:
            raise UsageError(f"the automaton of {expression!r} has more than {LARGEST:,} states")
        rows.append(tuple(number[target] for target in row))
    return Dfa(letters, tuple(rows), 0, frozenset(state for subset, state in number.items() if subset & ending))


def _bits(mask: int) -> Iterator[int]:
    digits = bin(mask)[:1:-1]  # searching text beats shifting a number of thousands of bits
    place = digits.find("1")
    while place >= 0:
        yield place
        place = digits.find("1", place + 1)


def _letters(node: Node) -> set[str]:
    if isinstance(node, Letters):
        return set(node.letters)
    parts = (node.part,) if isinstance(node, Repeat) else node.parts
    return {letter for part in parts for letter in _letters(part)}


def _size(node: Node) -> int:
    """An upper bound on the places of a part, at least 1 so that copies of the empty word count as well."""
    if isinstance(node, Letters):
        return 1
    if isinstance(node, Repeat):
        return _size(node.part) * max(1, node.low, node.high or 0)
    return max(1, sum(_size(part) for part in node.parts))
