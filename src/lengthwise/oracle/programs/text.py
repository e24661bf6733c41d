"""Programs as text: what a person writes and reads.

    opened := count("(")
    closed := count(")")
    broken := opened < closed
    next["$"] := opened == closed and count(broken) == 0     # a comment

One definition a line; inside parentheses a line may go on. `docs/programs.md` describes the notation.
`parse_program(print_program(program)) == program` for every program.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast, get_args

from lengthwise.errors import UsageError
from lengthwise.oracle.programs.syntax import (
    And,
    Boolean,
    Choice,
    Compare,
    Constant,
    Count,
    Difference,
    Expression,
    Letter,
    Line,
    Multiple,
    Name,
    Not,
    Number,
    Or,
    Phase,
    Program,
    Relation,
    Sum,
    Truth,
)
from lengthwise.oracle.programs.tokens import Token, refusal, tokens

KEYWORDS = {"and", "or", "not", "true", "false", "if", "then", "else", "count", "position", "next", "back"}
_RELATIONS = get_args(Relation)


class _Part(NamedTuple):
    """A piece of an expression, whether it is a Boolean, and where it begins."""

    node: Expression
    boolean: bool
    token: Token


def load_program(path: str | Path) -> Program:
    """The program a text file holds."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot read the program {str(path)!r}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"{str(path)!r} is not a text file (UTF-8)") from error
    try:
        return parse_program(text)
    except UsageError as error:
        raise UsageError(f"{path}, {error}") from None


def parse_program(text: str) -> Program:
    """The program a text describes; what is wrong is said in one sentence with its line and column."""
    try:
        return _Parser(text).program()
    except RecursionError:
        raise UsageError("the program nests too deep; give inner parts a line and a name of their own") from None


class _Parser:
    """Recursive descent: choice, or, and, not, comparison, sum, product, atom."""

    def __init__(self, text: str) -> None:
        self.tokens, self.place = tokens(text), 0
        self.kinds: dict[str, bool] = {}

    def program(self) -> Program:
        lines: list[Line] = []
        outputs: set[str] = set()
        while self.here.kind != "end":
            if not self.take("newline"):
                lines.append(self.line(outputs))
        if not lines:
            raise UsageError('line 1, column 1: the program has no line; write one as in: opened := count("(")')
        return Program(tuple(lines))

    def line(self, outputs: set[str]) -> Line:
        token = self.here
        is_output = self.take("next")
        if is_output:
            self.expect("[")
            name = self.symbol()
            self.expect("]")
        else:
            name = self.new_name()
        if name in (outputs if is_output else self.kinds):
            raise refusal(token, f"{name!r} is defined twice; every name has one line")
        self.expect(":=")
        part = self.expression()
        if not self.take("newline"):
            raise refusal(self.here, f"the line should end before {self.here.text!r}, or an operator is missing")
        if is_output:
            outputs.add(name)
            return Line(name, self.boolean(part), output=True)
        self.kinds[name] = part.boolean
        return Line(name, part.node)

    def new_name(self) -> str:
        token = self.here
        if token.kind != "word" or token.text in KEYWORDS:
            raise refusal(
                token, f'a line begins with a name of your own or with next["symbol"], not with {token.text!r}'
            )
        self.place += 1
        return token.text

    def expression(self) -> _Part:
        token = self.here
        if not self.take("if"):
            return self.joined("or", lambda: self.joined("and", self.negation))
        condition = self.boolean(self.expression())
        self.expect("then")
        yes = self.number(self.sum())
        self.expect("else")
        no = self.number(self.expression() if self.here.text == "if" else self.sum())
        return _Part(Choice(condition, yes, no), False, token)

    def joined(self, word: str, operand: Callable[[], _Part]) -> _Part:
        first = operand()
        if self.here.text != word or self.here.kind != "word":
            return first
        parts = [self.boolean(first)]
        while self.take(word):
            parts.append(self.boolean(operand()))
        return _Part((And if word == "and" else Or)(tuple(parts)), True, first.token)

    def negation(self) -> _Part:
        token = self.here
        return _Part(Not(self.boolean(self.negation())), True, token) if self.take("not") else self.comparison()

    def comparison(self) -> _Part:
        left = self.sum()
        relation = self.here.text
        if self.here.kind != "sign" or relation not in _RELATIONS:
            return left
        self.place += 1
        node = Compare(cast(Relation, relation), self.number(left), self.number(self.sum()))
        if self.here.kind == "sign" and self.here.text in _RELATIONS:
            raise refusal(self.here, "comparisons do not chain; join two of them by `and`")
        return _Part(node, True, left.token)

    def sum(self) -> _Part:
        left = self.product()
        while self.here.kind == "sign" and self.here.text in "+-":
            kind = Sum if self.here.text == "+" else Difference
            self.place += 1
            left = _Part(kind(self.number(left), self.number(self.product())), False, left.token)
        return left

    def product(self) -> _Part:
        part = self.atom()
        if not self.take("*"):
            return part
        if not isinstance(part.node, Constant):
            raise refusal(part.token, "a multiple is written with the whole number first, as in 3 * opened")
        return _Part(Multiple(part.node.value, self.number(self.product())), False, part.token)

    def atom(self) -> _Part:
        token = self.here
        if token.kind == "symbol":
            return _Part(Letter(self.symbol()), True, token)
        if token.kind == "number" or token.text == "-":
            sign = -1 if self.take("-") else 1
            return _Part(Constant(sign * self.whole()), False, token)
        if self.take("("):
            part = self.expression()
            self.expect(")")
            return part
        if self.take("count"):
            return self.count(token)
        if self.take("position"):
            return self.phase(token)
        if self.take("true") or self.take("false"):
            return _Part(Truth(token.text == "true"), True, token)
        if token.kind == "word" and token.text not in KEYWORDS:
            if token.text not in self.kinds:
                raise refusal(
                    token, f'{token.text!r} is not defined above; a letter is written in quotes, "{token.text}"'
                )
            self.place += 1
            return _Part(Name(token.text), self.kinds[token.text], token)
        what = repr(token.text) if token.text.strip() else "the end of the line"
        raise refusal(token, f"a letter in quotes, a name, a number, count(...) or ( is due, not {what}")

    def count(self, token: Token) -> _Part:
        self.expect("(")
        what = self.boolean(self.expression())
        back: list[int] = []
        while self.take(","):
            if not back:
                self.expect("back")
            here = self.here
            low = self.whole()
            high = self.whole() if self.take("..") else low
            if high < low or (back and low <= back[-1]):
                raise refusal(here, "the steps back increase, as in back 0..2 or back 1, 3")
            back.extend(range(low, high + 1))
        self.expect(")")
        return _Part(Count(what, tuple(back) or None), False, token)

    def phase(self, token: Token) -> _Part:
        self.expect("%")
        modulus = self.whole()
        self.expect("==")
        residue = self.whole()
        if not 0 <= residue < modulus:
            raise refusal(token, f"position % {modulus} is a number from 0 to {modulus - 1}, never {residue}")
        return _Part(Phase(modulus, residue), True, token)

    @property
    def here(self) -> Token:
        return self.tokens[self.place]

    def take(self, text: str) -> bool:
        """Step over a token if it is this one ("newline" names its kind)."""
        found = self.here.kind == text or (self.here.text == text and self.here.kind in ("word", "sign"))
        self.place += found
        return found

    def expect(self, text: str) -> None:
        if not self.take(text):
            found = repr(self.here.text) if self.here.text.strip() else "the end of the line"
            raise refusal(self.here, f"{text!r} is due, not {found}")

    def symbol(self) -> str:
        token = self.here
        if token.kind != "symbol":
            raise refusal(token, f"a symbol in quotes is due, not {token.text!r}")
        self.place += 1
        try:
            return json.loads(token.text)
        except ValueError as error:
            rule = 'a quote inside is written \\" and a backslash \\\\'
            raise refusal(token, f"{token.text} is not a symbol in quotes; {rule}") from error

    def whole(self) -> int:
        token = self.here
        if token.kind != "number":
            raise refusal(token, f"a whole number is due, not {token.text!r}")
        self.place += 1
        return int(token.text)

    def boolean(self, part: _Part) -> Boolean:
        if not part.boolean:
            raise refusal(part.token, "a Boolean is due here, and this is a number; compare it, as in count(...) >= 1")
        return cast(Boolean, part.node)

    def number(self, part: _Part) -> Number:
        if part.boolean:
            raise refusal(
                part.token, "a number is due here, and this is a Boolean; count it, or write if ... then 1 else 0"
            )
        return cast(Number, part.node)
