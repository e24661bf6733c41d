"""Collapse, rank and entropy of states made by hand, and the places that are looked at."""

import math

import numpy as np
import pytest
import torch

from climbing import EASY, noisy
from lengthwise.models.anatomy import anatomy_of
from lengthwise.probes.ladder.collapse import (
    attention_entropy,
    effective_rank,
    look_inside,
    places_of,
    share_of_pairs,
)
from lengthwise.probes.ladder.level_items import draw_items, positions_for
from lengthwise.tasks import tasks
from lengthwise.tasks.ladder import Level
from lengthwise.tasks.search.search_task import SearchTask

ALL_PAIRS = np.array([(i, j) for j in range(4) for i in range(j)])


def test_equal_states_share_and_orthogonal_ones_do_not() -> None:
    equal, apart = np.ones((4, 6)), np.eye(6)[:4]
    assert share_of_pairs(equal, ALL_PAIRS) == 1.0
    assert share_of_pairs(equal * np.array([[1.0], [2.0], [3.0], [9.0]]), ALL_PAIRS) == 1.0  # the way, not the length
    assert share_of_pairs(-equal * np.array([[1.0], [-1.0], [-1.0], [-1.0]]), ALL_PAIRS) == 0.5
    assert share_of_pairs(apart, ALL_PAIRS) == 0.0
    assert share_of_pairs(apart, ALL_PAIRS[:0]) is None
    for cosine, shared in ((0.989, 0.0), (0.991, 1.0)):
        two = np.array([[1.0, 0.0], [cosine, math.sqrt(1 - cosine**2)]])
        assert share_of_pairs(two, np.array([[0, 1]])) == shared


def test_effective_rank_counts_equal_directions() -> None:
    for count in (1, 2, 5):
        axes = np.eye(7)[:count]
        states = np.concatenate([axes, -axes]) + 3.0  # centred: count equal singular values
        assert effective_rank(states) == pytest.approx(count)
        assert effective_rank(5 * states) == pytest.approx(count)
    uneven = np.array(
        [[3.0, 0.0], [-3.0, 0.0], [0.0, 1.0], [0.0, -1.0]]
    )  # shares 3/4 and 1/4 of the sum, not of squares
    assert effective_rank(uneven) == pytest.approx(math.exp(-0.75 * math.log(0.75) - 0.25 * math.log(0.25)))
    assert effective_rank(np.full((5, 3), 0.1) * 3) == 0.0


def test_entropy_is_a_share_of_the_largest_over_what_is_asked() -> None:
    hidden = torch.ones(4, 4).triu(1).bool()
    logits = torch.zeros(1, 2, 4, 4, dtype=torch.float64).masked_fill(hidden, -math.inf)
    everywhere = np.ones((1, 4), dtype=bool)
    assert attention_entropy(logits, logits.softmax(3), everywhere) == pytest.approx(1.0)
    sharp = torch.eye(4, dtype=torch.float64).expand(1, 2, 4, 4)
    assert attention_entropy(logits, sharp, everywhere) == 0.0
    mixed = torch.where(torch.arange(4)[:, None] == 3, logits.softmax(3), sharp)
    assert attention_entropy(logits, mixed, everywhere) == pytest.approx(1 / 3)  # of three queries that see two or more
    assert attention_entropy(logits, mixed, np.array([[False, False, False, True]])) == pytest.approx(1.0)
    assert attention_entropy(logits, sharp, np.array([[True, False, False, False]])) is None
    window = logits.masked_fill(torch.ones(4, 4).tril(-2).bool(), -math.inf)
    assert attention_entropy(window, window.softmax(3), everywhere) == pytest.approx(1.0)


@pytest.mark.parametrize("name", ["subset_sum", "countdown", "tree_maze"])
def test_places_and_pairs_are_those_of_the_brackets(name: str) -> None:
    """The word of brackets is another way to the stack: the kinds that are open say which node the search is at."""
    task = tasks.make(name)
    assert isinstance(task, SearchTask)
    items = draw_items(Level("depth", 5, task, (5,)), 12, 7)
    places, place, expected = places_of(items), 0, set()
    for row, (prompt, answer) in enumerate(zip(items.prompts, items.answers, strict=True)):
        contour, open_kinds, seen = task.contour(prompt, answer), [], []
        for bracket in task.brackets(prompt, answer).word:
            if bracket[0] == "(":
                open_kinds.append(bracket[1:])
            else:
                assert open_kinds.pop() == bracket[1:]
            column = int(places.columns[place])
            assert places.items[place] == row
            token = items.batch.inputs[row, column]
            assert task.vocabulary[token] == (*prompt, *answer)[column - (1 if column <= len(prompt) else 2)]
            assert contour[column - 2] == len(open_kinds)  # <bos> and <sep> are not in the contour
            expected |= {(other, place) for other, (same, kinds) in seen if same == token and kinds != open_kinds}
            seen.append((place, (token, list(open_kinds))))
            place += 1
    assert place == len(places.items)
    assert {(int(i), int(j)) for i, j in places.pairs} == expected
    assert bool(expected) == (name != "tree_maze")  # in a maze the last token names the room, and a room has one stack


def test_a_model_that_adds_nothing_cannot_tell_stacks_apart_without_positions() -> None:
    for position, shared in (("none", 1.0), ("learned", 0.0)):
        model, plan = noisy(EASY, position)
        for block in model.blocks:
            for part in (block.attention.out, block.mlp[2]):
                part.weight.data[:] = 0
                part.bias.data[:] = 0
        if position == "learned":
            model.encoder.table.data *= 100
        items = draw_items(Level("depth", 5, plan.task, (5,)), 10, 7)
        layers = look_inside(anatomy_of(model), items, positions_for(model, items, 0))
        assert len(layers) == 3 and len(places_of(items).pairs) == layers[0].pairs > 20
        assert all(layer.shared == pytest.approx(shared, abs=0.1) for layer in layers)
        assert layers[0].entropy is None and all(0 < (layer.entropy or 0) <= 1 for layer in layers[1:])
        assert layers[0].rank == pytest.approx(layers[2].rank)


def test_what_lies_behind_the_end_of_an_item_changes_nothing() -> None:
    model, plan = noisy(EASY)
    level = Level("depth", 4, plan.task, (4,))
    items = draw_items(level, 6, 7)
    at, anatomy = positions_for(model, items, 0), anatomy_of(model)
    before = look_inside(anatomy, items, at)
    behind = np.arange(items.width) >= items.batch.scored.shape[1] - items.batch.scored[:, ::-1].argmax(axis=1)[:, None]
    assert behind.any()
    items.batch.inputs[behind] = 9
    assert look_inside(anatomy, items, at) == before
