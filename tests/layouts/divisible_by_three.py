"""Append after each bit whether the number of ones so far is divisible by three: `1 1 1 0 =` → `n n y y`."""

import itertools


def starts(size):
    return ([*bits, "="] for bits in itertools.product("01", repeat=size))


def draw(size, random):
    return [*random.choices("01", k=size), "="]


def step(state):
    at = state.index("=")
    written = len(state) - at - 1
    if written == at:
        return None
    return [*state, "n" if state[: written + 1].count("1") % 3 else "y"]
