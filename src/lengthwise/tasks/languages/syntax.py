"""Reading regular expressions of the theory's kind: from text to a tree. The notation is described in `regex.py`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from lengthwise.errors import UsageError

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
        return UsageError(f"{self.expression!r}: column {column}: {what}")

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
