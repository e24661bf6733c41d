"""Depth thresholds: the peeling lemma on random words, stacks counted one by one, and the tasks they are for."""

from __future__ import annotations

import itertools
import math
import random

import pytest

from lengthwise.errors import UsageError
from lengthwise.oracle.depth import Nesting, hops, peeling_rounds, read_trace

PAIRS = ("()", "[]", "<>")


def random_word(draw: random.Random, pairs: int, kinds: int) -> tuple[list[str], int]:
    """A balanced word and its depth by a stack."""
    word, stack, deepest = [], [], 0
    opened = 0
    while opened < pairs or stack:
        if opened < pairs and (not stack or draw.random() < draw.choice([0.3, 0.5, 0.8])):
            kind = draw.randrange(kinds)
            word.append(PAIRS[kind][0])
            stack.append(kind)
            opened += 1
            deepest = max(deepest, len(stack))
        else:
            word.append(PAIRS[stack.pop()][1])
    return word, deepest


def test_rounds_of_peeling_are_the_depth() -> None:
    draw = random.Random(0)
    for _ in range(2000):
        word, depth = random_word(draw, draw.randint(1, 25), draw.randint(1, 3))
        assert peeling_rounds(word) == depth
        prefix = word[: draw.randint(1, len(word))]  # a trace may end with brackets open
        height = max(itertools.accumulate(1 if symbol in "([<" else -1 for symbol in prefix))
        assert read_trace(prefix).depth == height


@pytest.mark.parametrize(("kinds", "depth"), [(1, 1), (1, 6), (2, 1), (2, 4), (3, 3), (4, 2)])
def test_stacks_are_counted_by_enumeration(kinds: int, depth: int) -> None:
    """The stacks a bounded Dyck word can have, and each pair of them is told apart by some continuation."""
    stacks = {s for height in range(depth + 1) for s in itertools.product(range(kinds), repeat=height)}
    reached, layer = {()}, {()}
    while layer:
        layer = {(*s, kind) for s in layer for kind in range(kinds) if len(s) < depth} - reached
        reached |= layer
    nesting = Nesting(kinds, depth)
    assert reached == stacks and len(stacks) == nesting.configurations
    formula = (kinds ** (depth + 1) - 1) // (kinds - 1) if kinds > 1 else depth + 1
    assert nesting.configurations == formula
    assert nesting.stack_bits == pytest.approx(math.log2(formula))
    closers = {tuple(reversed(s)) for s in stacks}  # a stack is emptied by its own closers and by no other's
    assert len(closers) == len(stacks)


def test_the_bits_of_a_stack() -> None:
    assert Nesting(2, 3).configurations == 15 and 3 < Nesting(2, 3).claims()[3].value < 4
    assert Nesting(128, 5000).claims()[3].value == pytest.approx(35000, rel=1e-3)  # beyond a float


@pytest.mark.parametrize(("depth", "layers"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (10, 4)])
def test_hops(depth: int, layers: int) -> None:
    assert hops(depth) == layers == math.ceil(math.log2(depth))


def test_every_threshold_names_its_class() -> None:
    claims = Nesting(8, 10).claims()
    assert [claim.value for claim in claims[:3]] == [11, 4, 2]
    of_class = {"depth.hard_attention", "depth.sublinear", "depth.soft_attention", "depth.one_vector"}
    assert all(any(a.key in of_class for a in claim.assumptions) for claim in claims)
    assert [claim.kind for claim in claims] == ["predicted", "heuristic", "predicted", "proved"]


def test_traces_are_read() -> None:
    assert read_trace("( [ ] [ < > ] )") == Nesting(3, 3)
    assert read_trace("([][") == Nesting(2, 2)
    assert read_trace("(4 (5 )5 )4") == Nesting(2, 2)
    for bad, sentence in (("", "at least one"), ("( ]", "token 2"), (")", "an opening bracket"), ("a b", "token 1")):
        with pytest.raises(UsageError, match=sentence):
            read_trace(bad)
    with pytest.raises(UsageError, match="not balanced"):
        peeling_rounds(list("([)]"))
    with pytest.raises(UsageError, match="at least 1"):
        Nesting(0, 1)
