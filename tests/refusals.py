"""What a user is told when something is refused, for tests of several parts."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lengthwise.errors import UsageError


def refused(call: Callable[[], object]) -> str:
    """The sentence of a usage error; one sentence and not a dump."""
    with pytest.raises(UsageError) as error:
        call()
    sentence = str(error.value)
    assert "\n" not in sentence and 20 < len(sentence) < 400
    return sentence
