"""The theorems are scalings: ratios and exponents are right, and nothing pretends to be a length."""

from __future__ import annotations

import itertools
import random

import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.theorems import dfa_length, limit_claims, two_layer_bound
from lengthwise.tasks.languages.dfa import Dfa


def first_difference(one: Dfa, other: Dfa) -> int | None:
    """The length of the shortest word on which two automata differ, by searching pairs of states."""
    seen, layer, length = set(), {(one.start, other.start)}, 0
    while layer:
        if any((p in one.accepting) != (q in other.accepting) for p, q in layer):
            return length
        seen |= layer
        steps = {(one.transitions[p][a], other.transitions[q][a]) for p, q in layer for a in range(len(one.alphabet))}
        layer, length = steps - seen, length + 1
    return None


def test_no_two_automata_differ_later_than_the_bound() -> None:
    """Attack: all automata of two states over one and two letters, and many random ones; the bound is reached."""
    tight = 0
    small = [
        Dfa(tuple("ab"[:letters]), rows, 0, frozenset(accepting))
        for letters in (1, 2)
        for rows in itertools.product(itertools.product(range(2), repeat=letters), repeat=2)
        for accepting in ([], [0], [1], [0, 1])
    ]
    pairs = [(f, g) for f, g in itertools.product(small, small) if f.alphabet == g.alphabet]
    draw = random.Random(0)
    for _ in range(3000):
        pair = []
        for _ in range(2):
            states = draw.randint(1, 5)
            rows = tuple((draw.randrange(states),) for _ in range(states))
            pair.append(Dfa(("a",), rows, 0, frozenset(s for s in range(states) if draw.random() < 0.3)))
        pairs.append((pair[0], pair[1]))
    for f, g in pairs:
        found = first_difference(f, g)
        bound = dfa_length(len(f.transitions), len(g.transitions)).value
        assert found is None or found <= bound
        tight += found == bound
    assert tight > 0 and dfa_length(5).value == 8 and dfa_length(1).value == 0


def test_where_no_bound_exists_it_is_said() -> None:
    refused = two_layer_bound()
    assert refused.status == "refused" and refused.value is None and "2603.02238" in str(refused.reference)
    with pytest.raises(UsageError):
        dfa_length(0)


def test_claims_of_a_task() -> None:
    theorem, counting, refused = limit_claims(3, 1, 4, 50, 150)
    assert theorem.status == "vacuous" and theorem.kind == "predicted"
    assert counting.value == pytest.approx(3 / 100) and counting.kind == "heuristic"
    assert refused.status == "refused"
    assert limit_claims(1, 0, 2, 100, 200)[0].status == "unknown"  # 64 fits, but the constant is unknown
    assert limit_claims(1, 0, 2, 100, 100)[1].value == 0
    keys = [assumption.key for assumption in theorem.assumptions]
    assert "limit.constant_unknown" in keys and "limit.secondary" in keys  # nothing pretends to be a length
    assert theorem.evidence["exponents"] == {"period": 7, "alphabet": 6, "locality": 2}
    with pytest.raises(UsageError):
        limit_claims(0, 0, 2, 10, 20)
