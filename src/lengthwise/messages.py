"""The catalogue: the sentences people read, each under the key that code uses.

Code branches on keys and compares keys. What a key says to a person is written next to the code that makes it, with
`explain`, and looked up when something is shown, so that wording can change without changing behaviour:

    explain({"curve.exact": "exact match, sizes {first} to {last}"})
    sentence("curve.exact", {"first": 1, "last": 20})

A sentence may use format fields, which are filled from the values that come with the key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SENTENCES: dict[str, str] = {}


def explain(sentences: Mapping[str, str]) -> None:
    """Add sentences to the catalogue. A key has one sentence in the whole package."""
    for key, text in sentences.items():
        if _SENTENCES.get(key, text) != text:
            raise ValueError(f"the key {key!r} is explained twice: {_SENTENCES[key]!r} and {text!r}")
        _SENTENCES[key] = text


def is_explained(key: str) -> bool:
    """Whether the catalogue has a sentence for a key. It has those of the modules that were imported."""
    return key in _SENTENCES


def sentence(key: str, values: Mapping[str, Any] = {}) -> str:
    """What a key says, with its fields filled in; the key itself where nobody has explained it."""
    text = _SENTENCES.get(key)
    return key if text is None else text.format_map(values)
