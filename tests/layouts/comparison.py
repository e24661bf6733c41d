"""Compare two decimal numbers, the lowest digits first: each column says which is larger up to there."""

import random


def starts(size):
    draw = random.Random(size)
    digits = "0123456789"
    for _ in range(2000):
        first = [draw.choice(digits) for _ in range(size)]
        second = [digit if draw.random() < 0.5 else draw.choice(digits) for digit in first]
        yield [(one, other, ".") for one, other in zip(first, second, strict=True)]


def step(state):
    at = next((at for at, (_, _, said) in enumerate(state) if said == "."), None)
    if at is None:
        return None
    one, other, _ = state[at]
    below = state[at - 1][2] if at else "="
    said = "<" if one < other else ">" if one > other else below
    return [*state[:at], (one, other, said), *state[at + 1 :]]
