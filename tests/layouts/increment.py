"""Add one to a decimal number, the lowest digit first; + marks the digit that one is still to be added to."""

import random


def starts(size):
    draw = random.Random(size)
    for _ in range(2000):
        nines = draw.randint(0, size)  # a carry that runs through all of them
        digits = ["9"] * nines + [draw.choice("0123456789") for _ in range(size - nines)]
        yield [(digit, "+" if at == 0 else ".") for at, digit in enumerate([*digits, "0"])]


def step(state):
    at = next((at for at, (_, mark) in enumerate(state) if mark == "+"), None)
    if at is None:
        return None
    digit = int(state[at][0])
    after = list(state)
    after[at] = (str((digit + 1) % 10), ".")
    if digit == 9:
        after[at + 1] = (state[at + 1][0], "+")
    return after
