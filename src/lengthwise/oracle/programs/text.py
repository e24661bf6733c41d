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
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn, cast, get_args

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

KEYWORDS = {"and", "or", "not", "true", "false", "if", "then", "else", "count", "position", "next", "back"}
_RELATIONS = get_args(Relation)
_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\#[^\n]*)|(?P<newline>\n|;)|(?P<symbol>"(?:[^"\\\n]|\\.)*")|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<number>\d+)|(?P<sign>:=|<=|>=|==|!=|\.\.|[-+*%<>()\[\],])"""
)

_BEGINNING = re.compile(r"\s*(\w+|next\[[^\n]*\])[ \t]*:=")  # of a definition


class _Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int


class _Part(NamedTuple):
    """A piece of an expression, whether it is a Boolean, and where it begins."""

    node: Expression
    boolean: bool
    token: _Token


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
        return _Parser(_tokens(text)).program()
    except RecursionError:
        raise UsageError("the program nests too deep; give inner parts a line and a name of their own") from None


def _refuse(token: _Token, sentence: str) -> NoReturn:
    raise UsageError(f"line {token.line}, column {token.column}: {sentence}")


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    line, start, place, open_brackets = 1, 0, 0, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        here = _Token("end", text[place], line, place - start + 1)
        if match is None:
            unclosed = text[place] == '"'
            _refuse(
                here, "the quoted symbol has no closing quote" if unclosed else f"{text[place]!r} means nothing here"
            )
        kind, word = cast(str, match.lastgroup), match[0]
        open_brackets = max(0, open_brackets + (word in ("(", "[")) - (word in (")", "]")))
        # A line goes on inside parentheses, unless the next one plainly begins a definition.
        ends = kind == "newline" and (not open_brackets or _BEGINNING.match(text, match.end()))
        if ends:
            open_brackets = 0
        if kind != "space" and (kind != "newline" or ends):
            tokens.append(_Token(kind, word, line, place - start + 1))
        place = match.end()
        if word == "\n":
            line, start = line + 1, place
    return [*tokens, _Token("newline", "\n", line, place - start + 1), _Token("end", "", line, place - start + 1)]


class _Parser:
    """Recursive descent: choice, or, and, not, comparison, sum, product, atom."""

    def __init__(self, tokens: list[_Token]) -> None:
        self.tokens, self.place = tokens, 0
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
            _refuse(token, f"{name!r} is defined twice; every name has one line")
        self.expect(":=")
        part = self.expression()
        if not self.take("newline"):
            _refuse(self.here, f"the line should end before {self.here.text!r}, or an operator is missing")
        if is_output:
            outputs.add(name)
            return Line(name, self.boolean(part), output=True)
        self.kinds[name] = part.boolean
        return Line(name, part.node)

    def new_name(self) -> str:
        token = self.here
        if token.kind != "word" or token.text in KEYWORDS:
            _refuse(token, f'a line begins with a name of your own or with next["symbol"], not with {token.text!r}')
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
            _refuse(self.here, "comparisons do not chain; join two of them by `and`")
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
            _refuse(part.token, "a multiple is written with the whole number first, as in 3 * opened")
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
                _refuse(token, f'{token.text!r} is not defined above; a letter is written in quotes, "{token.text}"')
            self.place += 1
            return _Part(Name(token.text), self.kinds[token.text], token)
        what = repr(token.text) if token.text.strip() else "the end of the line"
        _refuse(token, f"a letter in quotes, a name, a number, count(...) or ( is due, not {what}")

    def count(self, token: _Token) -> _Part:
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
                _refuse(here, "the steps back increase, as in back 0..2 or back 1, 3")
            back.extend(range(low, high + 1))
        self.expect(")")
        return _Part(Count(what, tuple(back) or None), False, token)

    def phase(self, token: _Token) -> _Part:
        self.expect("%")
        modulus = self.whole()
        self.expect("==")
        residue = self.whole()
        if not 0 <= residue < modulus:
            _refuse(token, f"position % {modulus} is a number from 0 to {modulus - 1}, never {residue}")
        return _Part(Phase(modulus, residue), True, token)

    @property
    def here(self) -> _Token:
        return self.tokens[self.place]

    def take(self, text: str) -> bool:
        """Step over a token if it is this one ("newline" names its kind)."""
        found = self.here.kind == text or (self.here.text == text and self.here.kind in ("word", "sign"))
        self.place += found
        return found

    def expect(self, text: str) -> None:
        if not self.take(text):
            found = repr(self.here.text) if self.here.text.strip() else "the end of the line"
            _refuse(self.here, f"{text!r} is due, not {found}")

    def symbol(self) -> str:
        token = self.here
        if token.kind != "symbol":
            _refuse(token, f"a symbol in quotes is due, not {token.text!r}")
        self.place += 1
        try:
            return json.loads(token.text)
        except ValueError:
            _refuse(
                token, f'{token.text} is not a symbol in quotes; a quote inside is written \\" and a backslash \\\\'
            )

    def whole(self) -> int:
        token = self.here
        if token.kind != "number":
            _refuse(token, f"a whole number is due, not {token.text!r}")
        self.place += 1
        return int(token.text)

    def boolean(self, part: _Part) -> Boolean:
        if not part.boolean:
            _refuse(part.token, "a Boolean is due here, and this is a number; compare it, as in count(...) >= 1")
        return cast(Boolean, part.node)

    def number(self, part: _Part) -> Number:
        if part.boolean:
            _refuse(part.token, "a number is due here, and this is a Boolean; count it, or write if ... then 1 else 0")
        return cast(Number, part.node)
