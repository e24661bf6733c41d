"""How long the decision for C-RASP takes: 1,000 random automata, and hard ones of 60 states."""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

from rows import Row, standalone

from lengthwise.oracle.crasp.decide import decide
from lengthwise.oracle.crasp.promised import decide_absolute
from lengthwise.oracle.crasp.verify import verify
from lengthwise.tasks import tasks
from lengthwise.tasks.languages.dfa import Dfa
from lengthwise.tasks.languages.regular import RegularLanguage

MEDIAN = 0.020  # seconds
SLOWEST = 10.0
STATES = 60


def random_automaton(source: random.Random, states: int, letters: int) -> Dfa:
    """Moves are uniform over the states, half of which accept."""
    rows = tuple(tuple(source.randrange(states) for _ in range(letters)) for _ in range(states))
    return Dfa(tuple("abcdefgh"[:letters]), rows, 0, frozenset(q for q in range(states) if source.random() < 0.5))


def connected(source: random.Random, letters: int) -> Dfa:
    """Uniform moves and one cycle through all states."""
    dfa = random_automaton(source, STATES, letters)
    rows = [list(row) for row in dfa.transitions]
    for state, row in enumerate(rows):
        row[source.randrange(letters)] = (state + 1) % STATES
    return Dfa(dfa.alphabet, tuple(map(tuple, rows)), 0, dfa.accepting)


def cycle(source: random.Random, letters: int) -> Dfa:
    """The repetitions of one random word of 59 letters; every other word is rejected."""
    sink = STATES - 1
    rows = [[sink] * letters for _ in range(STATES)]
    for state in range(sink):
        rows[state][source.randrange(letters)] = (state + 1) % sink
    return Dfa(tuple("abcdefgh"[:letters]), tuple(map(tuple, rows)), 0, frozenset([0]))


def hard(source: random.Random) -> dict[str, Dfa]:
    """Automata of 60 states."""
    nested = tasks.make("d_n:depth=58")
    assert isinstance(nested, RegularLanguage)
    found = {"D_58": nested.automaton, "(a^60)*": cycle_of_a()}
    for letters in (2, 3, 8):
        found[f"strongly connected, {letters} letters"] = connected(source, letters)
        found[f"one cycle, {letters} letters"] = cycle(source, letters)
    return found


def cycle_of_a() -> Dfa:
    return Dfa(("a",), tuple(((state + 1) % STATES,) for state in range(STATES)), 0, frozenset([0]))


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def rows(quick: bool = False) -> list[Row]:
    source = random.Random(0)
    small = [random_automaton(source, source.randint(1, 6), 3) for _ in range(50 if quick else 1000)]
    times = [seconds(lambda dfa=dfa: decide(dfa)) for dfa in small]
    faults = sum(bool(verify(decide(dfa))) for dfa in small)
    large = hard(source)
    exact = {name: seconds(lambda dfa=dfa: decide(dfa)) for name, dfa in large.items()}
    placed = {name: seconds(lambda dfa=dfa: decide_absolute(dfa)) for name, dfa in large.items()}
    found = {name: decide_absolute(dfa).claim().status for name, dfa in large.items()} if not quick else {}
    return [
        Row("decision of a random automaton of up to 6 states, median", statistics.median(times), "s", most=MEDIAN),
        Row("the slowest of them", max(times), "s"),
        Row("witnesses that do not hold", faults, "", most=0),
        Row("the slowest decision of 60 states", max(exact.values()), "s", most=SLOWEST),
        Row("the slowest with positions", max(placed.values()), "s", most=SLOWEST),
        *(Row(f"60 states: {name}", value, "s") for name, value in exact.items()),
        *(Row(f"60 states with positions: {n}, {found.get(n, '')}".rstrip(", "), v, "s") for n, v in placed.items()),
    ]


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
