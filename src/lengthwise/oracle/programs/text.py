"""Programs as text: what a person writes and reads.

    opened := count("(")
    closed := count(")")
    broken := opened < closed
    next["$"] := opened == closed and count(broken) == 0     # a comment

One definition per line; inside parentheses a line may continue. `docs/explanation/programs.md` describes the notation.
`parse_program(print_program(program)) == program` for every program.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, cast, get_args

from lengthwise.errors import UsageError
from lengthwise.oracle.programs import syntax
from lengthwise.oracle.programs.syntax import Boolean, Expression, Line, Number, Program, Relation
from lengthwise.reading import parse_json, read_text

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\#[^\n]*)|(?P<newline>\n|;)|(?P<symbol>"(?:[^"\\\n]|\\.)*")|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<number>\d+)|(?P<sign>:=|<=|>=|==|!=|\.\.|[-+*%<>()\[\],])"""
)

_BEGINNING = re.compile(r"\s*(\w+|next\[[^\n]*\])[ \t]*:=")  # of a definition
KEYWORDS = {"and", "or", "not", "true", "false", "if", "then", "else", "count", "position", "next", "back"}
_RELATIONS = get_args(Relation)
_DIGITS = 300  # of a number in a program
# How tightly a form holds its parts together; a part that holds less tightly than its place asks is put in parentheses.
_CHOICE, _OR, _AND, _NOT, _COMPARE, _SUM, _PRODUCT, _ATOM = range(8)


class Token(NamedTuple):
    kind: str
    text: str
    line: int
    column: int


def refusal(token: Token, sentence: str) -> UsageError:
    return UsageError(f"line {token.line}, column {token.column}: {sentence}")


def tokens(text: str) -> list[Token]:
    found: list[Token] = []
    line, start, place, open_brackets = 1, 0, 0, 0
    while place < len(text):
        match = _TOKEN.match(text, place)
        here = Token("end", text[place], line, place - start + 1)
        if match is None:
            what = f"{text[place]!r} means nothing here"
            raise refusal(here, "the quoted symbol has no closing quote" if text[place] == '"' else what)
        kind, word = cast(str, match.lastgroup), match[0]
        open_brackets = max(0, open_brackets + (word in ("(", "[")) - (word in (")", "]")))
        # A line continues inside parentheses, unless the next one plainly begins a definition.
        ends = kind == "newline" and (not open_brackets or _BEGINNING.match(text, match.end()))
        if ends:
            open_brackets = 0
        if kind != "space" and (kind != "newline" or ends):
            found.append(Token(kind, word, line, place - start + 1))
        place = match.end()
        if word == "\n":
            line, start = line + 1, place
    return [*found, Token("newline", "\n", line, place - start + 1), Token("end", "", line, place - start + 1)]


class _Typed(NamedTuple):
    """A piece of an expression, whether it is a Boolean, and where it begins."""

    node: Expression
    boolean: bool
    token: Token


def load_program(path: str | Path) -> Program:
    """The program a text file holds."""
    text = read_text(path)
    try:
        return parse_program(text)
    except UsageError as error:
        raise UsageError(f"{path}, {error}") from None


def parse_program(text: str) -> Program:
    """The program a text describes; what is wrong is said in one sentence with its line and column."""
    try:
        return _ProgramParser(text).program()
    except RecursionError:
        raise UsageError("the program nests too deep; give inner parts a line and a name of their own") from None


class _ProgramParser:
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
            name = token.text
            if token.kind != "word" or name in KEYWORDS:
                raise refusal(token, f'a line begins with a name of your own or with next["symbol"], not with {name!r}')
            self.place += 1
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

    def expression(self) -> _Typed:
        token = self.here
        if not self.take("if"):
            return self.joined("or", lambda: self.joined("and", self.negation))
        condition = self.boolean(self.expression())
        self.expect("then")
        yes = self.number(self.sum())
        self.expect("else")
        no = self.number(self.expression() if self.here.text == "if" else self.sum())
        return _Typed(syntax.Conditional(condition, yes, no), False, token)

    def joined(self, word: str, operand: Callable[[], _Typed]) -> _Typed:
        first = operand()
        if self.here.text != word or self.here.kind != "word":
            return first
        parts = [self.boolean(first)]
        while self.take(word):
            parts.append(self.boolean(operand()))
        return _Typed((syntax.And if word == "and" else syntax.Or)(tuple(parts)), True, first.token)

    def negation(self) -> _Typed:
        token = self.here
        return _Typed(syntax.Not(self.boolean(self.negation())), True, token) if self.take("not") else self.comparison()

    def comparison(self) -> _Typed:
        left = self.sum()
        relation = self.here.text
        if self.here.kind != "sign" or relation not in _RELATIONS:
            return left
        self.place += 1
        node = syntax.Compare(cast(Relation, relation), self.number(left), self.number(self.sum()))
        if self.here.kind == "sign" and self.here.text in _RELATIONS:
            raise refusal(self.here, "comparisons do not chain; join two of them by `and`")
        return _Typed(node, True, left.token)

    def sum(self) -> _Typed:
        left = self.product()
        while self.here.kind == "sign" and self.here.text in "+-":
            kind = syntax.Sum if self.here.text == "+" else syntax.Difference
            self.place += 1
            left = _Typed(kind(self.number(left), self.number(self.product())), False, left.token)
        return left

    def product(self) -> _Typed:
        part = self.atom()
        if not self.take("*"):
            return part
        if not isinstance(part.node, syntax.Constant):
            raise refusal(part.token, "a multiple is written with the whole number first, as in 3 * opened")
        return _Typed(syntax.Multiple(part.node.value, self.number(self.product())), False, part.token)

    def atom(self) -> _Typed:
        token = self.here
        if token.kind == "symbol":
            return _Typed(syntax.Letter(self.symbol()), True, token)
        if token.kind == "number" or token.text == "-":
            sign = -1 if self.take("-") else 1
            return _Typed(syntax.Constant(sign * self.whole()), False, token)
        if self.take("("):
            part = self.expression()
            self.expect(")")
            return part
        if self.take("count"):
            return self.count(token)
        if self.take("position"):
            return self.phase(token)
        if self.take("true") or self.take("false"):
            return _Typed(syntax.Truth(token.text == "true"), True, token)
        if token.kind == "word" and token.text not in KEYWORDS:
            if token.text not in self.kinds:
                what = f'{token.text!r} is not defined above; a letter is written in quotes, "{token.text}"'
                raise refusal(token, what)
            self.place += 1
            return _Typed(syntax.Name(token.text), self.kinds[token.text], token)
        what = repr(token.text) if token.text.strip() else "the end of the line"
        raise refusal(token, f"a letter in quotes, a name, a number, count(...) or ( is due, not {what}")

    def count(self, token: Token) -> _Typed:
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
        return _Typed(syntax.Count(what, tuple(back) or None), False, token)

    def phase(self, token: Token) -> _Typed:
        self.expect("%")
        modulus = self.whole()
        self.expect("==")
        residue = self.whole()
        if not 0 <= residue < modulus:
            raise refusal(token, f"position % {modulus} is a number from 0 to {modulus - 1}, never {residue}")
        return _Typed(syntax.Phase(modulus, residue), True, token)

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

    def expect_kind(self, kind: str, what: str) -> Token:
        token = self.here
        if token.kind != kind:
            raise refusal(token, f"{what} is due, not {token.text!r}")
        self.place += 1
        return token

    def symbol(self) -> str:
        token = self.expect_kind("symbol", "a symbol in quotes")
        try:
            return parse_json(token.text)
        except ValueError as error:
            rule = 'a quote inside is written \\" and a backslash \\\\'
            raise refusal(token, f"{token.text} is not a symbol in quotes; {rule}") from error

    def whole(self) -> int:
        token = self.expect_kind("number", "a whole number")
        if len(token.text) > _DIGITS:
            raise refusal(token, f"a whole number has at most {_DIGITS} digits, and this one has {len(token.text):,}")
        return int(token.text)

    def boolean(self, part: _Typed) -> Boolean:
        if not part.boolean:
            raise refusal(part.token, "a Boolean is due here, and this is a number; compare it, as in count(...) >= 1")
        return cast(Boolean, part.node)

    def number(self, part: _Typed) -> Number:
        if part.boolean:
            what = "a number is due here, and this is a Boolean; count it, or write if ... then 1 else 0"
            raise refusal(part.token, what)
        return cast(Number, part.node)


def print_program(program: Program) -> str:
    """The program as text, one line per definition."""
    text = ""
    for line in program.lines:
        target = f"next[{_quoted(line.name)}]" if line.output else line.name
        text += f"{target} := {_text(line.expression, _CHOICE)}\n"
    return text


def _text(expression: Expression, place: int) -> str:
    text, strength = _form(expression)
    return text if strength >= place else f"({text})"


def _form(expression: Expression) -> tuple[str, int]:
    """An expression's text and how tightly it holds together."""
    match expression:
        case syntax.Letter(symbol):
            return _quoted(symbol), _ATOM
        case syntax.Name(name):
            return name, _ATOM
        case syntax.Truth(value):
            return ("true" if value else "false"), _ATOM
        case syntax.Phase(modulus, residue):
            return f"position % {modulus} == {residue}", _ATOM
        case syntax.Not(part):
            return f"not {_text(part, _NOT)}", _NOT
        case syntax.And(parts):
            return " and ".join(_text(part, _NOT) for part in parts), _AND
        case syntax.Or(parts):
            return " or ".join(_text(part, _AND) for part in parts), _OR
        case syntax.Compare(relation, left, right):
            return f"{_text(left, _SUM)} {relation} {_text(right, _SUM)}", _COMPARE
        case syntax.Constant(value):
            # A negative number is an atom as text; before * it reads as its factor, so there it stands in parentheses.
            return str(value), _ATOM
        case syntax.Count(what, back):
            return f"count({_text(what, _CHOICE)}{'' if back is None else ', back ' + _steps(back)})", _ATOM
        case syntax.Sum(left, right):
            return f"{_text(left, _SUM)} + {_text(right, _PRODUCT)}", _SUM
        case syntax.Difference(left, right):
            return f"{_text(left, _SUM)} - {_text(right, _PRODUCT)}", _SUM
        case syntax.Multiple(factor, term):
            return f"{factor} * {_text(term, _PRODUCT)}", _PRODUCT
        case syntax.Conditional(condition, yes, no):
            return f"if {_text(condition, _CHOICE)} then {_text(yes, _SUM)} else {_text(no, _SUM)}", _CHOICE


def _quoted(symbol: str) -> str:
    return json.dumps(symbol, ensure_ascii=False)


def _steps(back: tuple[int, ...]) -> str:
    """(0, 1, 2, 5) → `0..2, 5`."""
    runs = []
    for _, group in itertools.groupby(enumerate(back), key=lambda pair: pair[1] - pair[0]):
        steps = [step for _, step in group]
        runs.append(str(steps[0]) if len(steps) == 1 else f"{steps[0]}..{steps[-1]}")
    return ", ".join(runs)
