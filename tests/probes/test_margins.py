"""Margins of attention logits, against logits that are written down."""

import math

import pytest
import torch

from lengthwise.models.forward import BlockTrace, Trace
from lengthwise.models.parts import Anatomy, AttentionPart, BlockPart, MlpPart
from lengthwise.probes.margins.head_margins import margins

INF = math.inf


def anatomy(rule: str = "softmax") -> Anatomy:
    w, m = torch.zeros(1, 2, 2).double(), torch.zeros(2, 2).double()
    attention = AttentionPart(w, w, w, w, None, None, None, None, 1.0, True, rule=rule)
    block = BlockPart("pre", None, attention, None, MlpPart("plain", m, None, None, m, None, "relu"))
    return Anatomy("test", torch.zeros(5, 2).double(), None, None, (block,), None, None)


def trace(logits: list[list[float]]) -> Trace:
    rows = torch.tensor(logits).double()[None, None]
    x = torch.zeros(1, len(logits), 2).double()
    return Trace(x, (BlockTrace(x, x, rows, rows.softmax(-1), x, x, x),), x, None)


def test_margins_are_the_best_minus_the_second_best():
    found = margins(anatomy(), trace([[1, -INF, -INF], [4, 1, -INF], [2, 2.5, 0]]))
    (head,) = found.heads
    assert (head.layer, head.head, head.queries, head.ties) == (0, 0, 2, 0.0)  # the first query sees one key
    assert (head.least, head.median) == (0.5, 0.5)  # of two values the median is the lower
    expected = [1 / (1 + math.exp(-3)), 1 / (1 + math.exp(-0.5) + math.exp(-2.5))]
    assert head.weight == pytest.approx(sum(expected) / 2)


def test_ties_are_counted_and_not_taken_for_tiny_margins():
    found = margins(anatomy(), trace([[0, -INF, -INF], [3, 3, -INF], [7, 7 + 1e-12, 0]]))
    assert found.heads[0].ties == 1.0 and found.heads[0].least is None
    (claim,) = found.claims()
    assert claim.status == "unknown" and claim.value is None
    some = margins(anatomy(), trace([[0, -INF, -INF], [3, 3, -INF], [7, 7.25, 0]]))
    assert [claim.value for claim in some.claims()] == [0.25, 0.5]


def test_hardmax_ties_by_its_own_rule():
    logits = [[0.0, -INF], [3.0, 3.01]]
    assert margins(anatomy("hardmax:tie=0.1"), trace(logits)).heads[0].ties == 1.0
    assert margins(anatomy("hardmax:tie=0.001"), trace(logits)).heads[0].ties == 0.0


def test_a_single_token_has_no_margin():
    assert margins(anatomy(), trace([[2.0]])).heads[0].queries == 0
