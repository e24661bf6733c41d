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

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lengthwise.errors import UsageError
from lengthwise.limits import shown_text
from lengthwise.tasks.languages.dfa import Dfa

LARGEST = 10_000  # states of an automaton, and letters of an expression once its repetitions are written out
MOST_LETTERS = 1_000  # in an alphabet


def automaton(expression: str, alphabet: Iterable[str] = ()) -> Dfa:
    """The minimal automaton of an expression over its own letters and those of `alphabet`, in sorted order."""
    node = parse(expression)
    letters = tuple(sorted({*alphabet, *_letters(node)}))
    if not letters:
        raise UsageError(f"{shown_text(expression)} names no letter, so it describes the empty word or no word at all")
    if len(letters) > MOST_LETTERS:
        said = f"{len(letters):,} letters, and an alphabet holds at most {MOST_LETTERS:,}"
        raise UsageError(f"{shown_text(expression)} has {said}")
    if _size(node) > LARGEST:
        said = f"more than {LARGEST:,} letters once its repetitions are written out"
        raise UsageError(f"{shown_text(expression)} has {said}")
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
            raise UsageError(f"the automaton of {shown_text(expression)} has more than {LARGEST:,} states")
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


DEEPEST = 50  # parentheses inside one another

_SIGNS = "|*+?()[]{}.^$,-ε"
_QUANTIFIER = re.compile(r"\{([0-9]+)(,?)([0-9]*)\}")


@dataclass(frozen=True)
class Letters:
    """One of these letters; none at all makes the empty set."""

    letters: frozenset[str]


@dataclass(frozen=True)
class Join:
    """The parts one after the other; no part at all makes the empty word."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Either:
    """Any one of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True)
class Repeat:
    """The part `low` to `high` times; None is without end."""

    part: Node
    low: int
    high: int | None


Node = Letters | Join | Either | Repeat


def parse(expression: str) -> Node:
    """The tree of an expression; a mistake is a UsageError that names its column."""
    return _RegexParser(expression).whole()


class _RegexToken(NamedTuple):
    """One character with its column; `sign` is "" for a letter (an escaped sign is a letter)."""

    sign: str
    text: str
    column: int


class _RegexParser:
    """Recursive descent over the characters that are not spaces."""

    def __init__(self, expression: str) -> None:
        self.expression = expression
        self.tokens = list(self.split())
        self.at = 0
        self.depth = 0

    def split(self) -> Iterator[_RegexToken]:
        characters = enumerate(self.expression, start=1)
        for column, text in characters:
            if text == "\\":
                _, text = next(characters, (0, ""))
                if not text or text.isalnum():
                    raise self.fail(
                        column, "a backslash makes a letter of the sign or space after it, and there is none"
                    )
                yield _RegexToken("", text, column)
            elif not text.isspace():
                yield _RegexToken(text if text in _SIGNS else "", text, column)
        yield _RegexToken("end", "", len(self.expression) + 1)

    def fail(self, column: int, what: str) -> UsageError:
        return UsageError(f"{shown_text(self.expression)}: column {column}: {what}")

    @property
    def here(self) -> _RegexToken:
        return self.tokens[self.at]

    def take(self) -> _RegexToken:
        self.at += 1
        return self.tokens[self.at - 1]

    def whole(self) -> Node:
        node = self.either()
        if self.here.sign == ")":
            raise self.fail(self.here.column, "this parenthesis was never opened")
        return node

    def either(self) -> Node:
        parts = [self.join()]
        while self.here.sign == "|":
            self.take()
            parts.append(self.join())
        return parts[0] if len(parts) == 1 else Either(tuple(parts))

    def join(self) -> Node:
        parts: list[Node] = []
        while self.here.sign not in ("end", "|", ")"):
            parts.append(self.repeated())
        if not parts:
            raise self.fail(self.here.column, "a letter or a group is expected here (the empty word is written ())")
        return parts[0] if len(parts) == 1 else Join(tuple(parts))

    def repeated(self) -> Node:
        node = self.atom()
        if bounds := self.quantifier():
            node = Repeat(node, *bounds)
        signs = set()
        while self.here.sign and self.here.sign in "*+?":
            signs.add(self.take().sign)
        if signs:  # several in a row come to one: (x+)? and (x?)+ are x*
            node = Repeat(node, int(signs == {"+"}), 1 if signs == {"?"} else None)
        return node

    def quantifier(self) -> tuple[int, int | None] | None:
        """The bounds, when braces here repeat what is before them; None when they are a set or there are none."""
        if self.here.sign != "{":
            return None
        closing = next((i for i in range(self.at, len(self.tokens)) if self.tokens[i].sign == "}"), self.at)
        inside = [
            token.text if token.sign or token.text.isalnum() else "\\" for token in self.tokens[self.at : closing + 1]
        ]
        match = _QUANTIFIER.fullmatch("".join(inside))
        if not match:
            return None
        low, comma, high = match.groups()
        if max(len(low), len(high)) > 9:
            raise self.fail(self.here.column, "this repeats too often")
        if high and int(high) < int(low):
            raise self.fail(self.here.column, f"at least {low} and at most {high} times is impossible")
        self.at = closing + 1
        return int(low), int(high) if high else None if comma else int(low)

    def atom(self) -> Node:
        sign, text, column = self.take()
        if sign in ("", ",", "-"):
            return Letters(frozenset(text))
        if sign == "ε":
            return Join(())
        if sign == "(":
            return self.group(column)
        if sign == "[":
            return self.letters(column)
        if sign == "{":
            return self.words(column)
        if sign in "*+?":
            raise self.fail(column, f"there is nothing before {sign} to repeat")
        what = "was never opened" if sign in "]}" else f"has no meaning here; write \\{sign} for the sign itself"
        raise self.fail(column, f"this {sign} {what}")

    def group(self, column: int) -> Node:
        self.depth += 1
        if self.depth > DEEPEST:
            raise self.fail(column, f"parentheses are nested more than {DEEPEST} deep")
        node = Join(()) if self.here.sign == ")" else self.either()
        if self.take().sign != ")":
            raise self.fail(column, "this parenthesis is never closed")
        self.depth -= 1
        return node

    def letters(self, column: int) -> Node:
        """`[abc-f]`, after its opening bracket."""
        if self.here.sign == "^":
            raise self.fail(self.here.column, "a class lists its letters; ^ for all the others has no meaning here")
        found: set[str] = set()
        while (token := self.take()).sign != "]":
            if token.sign == "end":
                raise self.fail(column, "this [ is never closed")
            last = self.tokens[min(self.at + 1, len(self.tokens) - 1)]
            if self.here.sign == "-" and last.sign not in ("]", "end"):
                if last.text < token.text:
                    raise self.fail(token.column, f"{token.text}-{last.text} runs backwards")
                found.update(map(chr, range(ord(token.text), ord(last.text) + 1)))
                self.at += 2
            else:
                found.add(token.text)
        return Letters(frozenset(found))

    def words(self, column: int) -> Node:
        """`{ab,c}`, after its opening brace."""
        words = [""]
        if self.here.sign == "}":
            self.take()
            return Letters(frozenset())
        while (token := self.take()).sign != "}":
            if token.sign == "end":
                raise self.fail(column, "this { is never closed")
            if token.sign not in ("", ",", "-"):
                raise self.fail(token.column, "a set in braces lists words, as in {a,b}")
            words = [*words, ""] if token.sign == "," else [*words[:-1], words[-1] + token.text]
        if not all(words):
            raise self.fail(column, "a word of this set is missing, as in {a,,b} (the empty word is written ())")
        if all(len(word) == 1 for word in words):
            return Letters(frozenset(words))
        return Either(tuple(Join(tuple(Letters(frozenset(letter)) for letter in word)) for word in words))
