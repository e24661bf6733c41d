"""The words of a program's text, each with its line and column."""

from __future__ import annotations

import re
from typing import NamedTuple, cast

from lengthwise.errors import UsageError

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r]+|\#[^\n]*)|(?P<newline>\n|;)|(?P<symbol>"(?:[^"\\\n]|\\.)*")|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<number>\d+)|(?P<sign>:=|<=|>=|==|!=|\.\.|[-+*%<>()\[\],])"""
)

_BEGINNING = re.compile(r"\s*(\w+|next\[[^\n]*\])[ \t]*:=")  # of a definition


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
            unclosed = text[place] == '"'
            raise refusal(
                here, "the quoted symbol has no closing quote" if unclosed else f"{text[place]!r} means nothing here"
            )
        kind, word = cast(str, match.lastgroup), match[0]
        open_brackets = max(0, open_brackets + (word in ("(", "[")) - (word in (")", "]")))
        # A line goes on inside parentheses, unless the next one plainly begins a definition.
        ends = kind == "newline" and (not open_brackets or _BEGINNING.match(text, match.end()))
        if ends:
            open_brackets = 0
        if kind != "space" and (kind != "newline" or ends):
            found.append(Token(kind, word, line, place - start + 1))
        place = match.end()
        if word == "\n":
            line, start = line + 1, place
    return [*found, Token("newline", "\n", line, place - start + 1), Token("end", "", line, place - start + 1)]
