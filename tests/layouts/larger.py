"""Which of two numbers is larger, most significant digit first: `1 0 < 1 1 ?` → `1 0 < 1 1 ? second`."""

import itertools


def starts(size):
    for digits in itertools.product("012", repeat=2 * size):
        yield [*digits[:size], "<", *digits[size:], "?"]


def step(state):
    if state[-1] != "?":
        return None
    at = state.index("<")
    one, two = state[:at], state[at + 1 : -1]
    return [*state, "equal" if one == two else "first" if one > two else "second"]
