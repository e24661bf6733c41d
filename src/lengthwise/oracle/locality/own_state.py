"""What a user may write as a state, and the state it is."""

from __future__ import annotations

from typing import Any

from lengthwise.errors import UsageError
from lengthwise.tasks.formulations.formulation import Column, State, column


def state_of(value: Any, where: str = "") -> State:
    """Text split at white space, or a list of tokens or of columns; `|` separates the lines of a column."""
    said = f"{where}: " if where else ""
    if isinstance(value, str):
        state = tuple([column(word) for word in value.split()])
    elif isinstance(value, list | tuple):
        state = tuple([_column(part, said) for part in value])
    else:
        raise UsageError(f"{said}a state is text or a list of tokens or columns, not {str(value)[:40]!r}")
    if not state:
        raise UsageError(f"{said}a state has at least one column")
    return state


def _column(part: Any, said: str) -> Column:
    if isinstance(part, str) and part and not part.isspace():
        return column(part)
    if isinstance(part, int) and not isinstance(part, bool):
        return (str(part),)
    if isinstance(part, list | tuple) and part:
        tokens = tuple(str(token) if isinstance(token, int) else token for token in part)
        if all(isinstance(token, str) and token and "|" not in token for token in tokens):
            return tokens
    raise UsageError(f"{said}a column is a token, or a list of tokens one a line, not {str(part)[:40]!r}")
