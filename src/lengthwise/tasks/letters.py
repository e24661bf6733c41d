"""The letters that tasks over an alphabet of letters share."""

from __future__ import annotations

import string

from lengthwise.errors import UsageError


def check_letters(count: int) -> None:
    """Refuse a number of letters that the alphabet does not have, or that leaves nothing to tell apart."""
    if not 2 <= count <= len(string.ascii_lowercase):
        raise UsageError(f"the number of letters lies between 2 and {len(string.ascii_lowercase)}, not {count}")


def first_letters(count: int) -> tuple[str, ...]:
    """`a`, `b` and so on."""
    return tuple(string.ascii_lowercase[:count])
