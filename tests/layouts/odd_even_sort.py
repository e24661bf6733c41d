"""Odd-even transposition sort: odd pairs first, an even pair where both odd pairs next to it are in order."""

import random


def starts(size):
    draw = random.Random(size)
    return [[(draw.choice("0123"), "oe"[at % 2]) for at in range(size)] for _ in range(2000)]


def wrong(state, at):
    return 0 <= at < len(state) - 1 and state[at][0] > state[at + 1][0]


def step(state):
    odd = [at for at in range(0, len(state) - 1, 2) if wrong(state, at)]
    even = [at for at in range(1, len(state) - 1, 2) if wrong(state, at)]
    swaps = odd + [at for at in even if not wrong(state, at - 1) and not wrong(state, at + 1)]
    values = [value for value, _ in state]
    for at in swaps:
        values[at], values[at + 1] = values[at + 1], values[at]
    return [(value, mark) for value, (_, mark) in zip(values, state, strict=True)] if swaps else None
