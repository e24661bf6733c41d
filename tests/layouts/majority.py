"""Append whether most bits are ones: no finite state is enough."""

import itertools


def starts(size):
    return ([*bits, "="] for bits in itertools.product("01", repeat=size))


def step(state):
    if state[-1] != "=":
        return None
    return [*state, "yes" if 2 * state.count("1") > len(state) - 1 else "no"]
