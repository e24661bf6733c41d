"""Documents cut into windows of a model's length, and windows laid out for a model."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from lengthwise.guarantees.stretch import TOKENS, Rows, Stretch
from lengthwise.tasks.batch import Batch


class Window(NamedTuple):
    """Tokens of a document: each but the first is predicted from those before it in the window."""

    document: int
    tokens: list[int]


def windows_of(documents: Iterable[tuple[int, list[int]]], context: int) -> Iterator[Window]:
    """Every token but a document's first is predicted once, from at most `context` tokens before it.

    A window begins with the last token of the one before, so that no token is left out between two.
    """
    for number, tokens in documents:
        for first in range(0, len(tokens) - 1, context):
            yield Window(number, tokens[first : first + context + 1])


def stretches_of(windows: Iterable[Window], tokens: int) -> Iterator[Stretch]:
    """Windows in stretches of `tokens` predictions or a little more."""
    held: list[Window] = []
    count = 0
    for window in windows:
        held.append(window)
        count += len(window.tokens) - 1
        if count >= tokens:
            yield laid_out(held)
            held, count = [], 0
    if held:
        yield laid_out(held)


def laid_out(windows: list[Window]) -> Stretch:
    """Windows of about one length side by side, as many as one pass takes; shorter ones are filled up at the right."""
    by_length = sorted(range(len(windows)), key=lambda index: -len(windows[index].tokens))
    groups: list[list[int]] = []
    for index in by_length:
        widest = len(windows[groups[-1][0]].tokens) - 1 if groups else 0
        if groups and (len(groups[-1]) + 1) * widest <= max(TOKENS, widest):
            groups[-1].append(index)
        else:
            groups.append([index])
    return Stretch(tuple(_rows(windows, group) for group in groups))


def _rows(windows: list[Window], group: list[int]) -> Rows:
    width = max(len(windows[index].tokens) for index in group) - 1
    whole = np.zeros((len(group), width + 1), dtype=np.int64)
    scored = np.zeros((len(group), width), dtype=bool)
    for row, index in enumerate(group):
        tokens = windows[index].tokens
        whole[row, : len(tokens)] = tokens
        scored[row, : len(tokens) - 1] = True
    documents = np.array([windows[index].document for index in group], dtype=np.int64)
    return Rows(Batch(whole[:, :-1], whole[:, 1:], scored), documents, np.array(group, dtype=np.int64))
