"""Erase the leftmost one until none is left: `0 1 0 1` → `0 0 0 1` → `0 0 0 0`. It may be anywhere."""

import itertools


def starts(size):
    return itertools.product("01", repeat=size)


def draw(size, random):
    return random.choices("01", k=size)


def step(state):
    if "1" not in state:
        return None
    at = state.index("1")
    return [*state[:at], "0", *state[at + 1 :]]
