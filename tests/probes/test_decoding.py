"""What is written freely is what a model writes that reads everything again for each token."""

import numpy as np
import pytest
import torch

from climbing import EASY, MAZE, noisy, trained
from lengthwise.models.transformer import Transformer
from lengthwise.probes.curve.greedy import greedy_right
from lengthwise.probes.ladder.decoding import Written, judge, read_items, write_answers
from lengthwise.probes.ladder.level_items import LevelItems, draw_items, positions_for
from lengthwise.runs.plan import Plan
from lengthwise.tasks import tasks
from lengthwise.tasks.batch import EOS
from lengthwise.tasks.ladder import Level, ladder_of

SEED, ITEMS = 2, 6


def written_by(model: Transformer, items: LevelItems, most: int) -> list[Written]:
    at = positions_for(model, items, SEED)
    return write_answers(model, items, read_items(model, items.batch, at), at, most)


@torch.no_grad()
def written_slowly(model: Transformer, items: LevelItems, row: int, most: int) -> Written:
    """The witness: no cache, no batch, no true answer; the whole text is read again for every token."""
    at = positions_for(model, items, SEED)
    text = [int(token) for token in items.batch.inputs[row, : int(items.batch.scored[row].argmax()) + 1]]
    begin = len(text)
    while len(text) - begin < most and len(text) <= at.shape[1]:
        text.append(int(model(torch.tensor([text]), at=at[:, : len(text)])[0, -1].argmax()))
        if text[-1] <= EOS:
            break
    own = tuple(items.task.vocabulary[token] for token in text[begin:])
    return Written(own[:-1], True) if own[-1] == "<eos>" else Written(own, False)


def cases() -> list[tuple[str, Transformer, Plan]]:
    return [
        ("trained", *trained(EASY)),
        ("trained", *trained("sort:alphabet=12", "alibi+randomized:limit=60", 3, 100)),
        ("noisy", *noisy(MAZE, "learned+offset")),
        ("noisy", *noisy("countdown", "rope:scaling=dynamic")),
    ]


@pytest.mark.system
@pytest.mark.parametrize("number", range(4))
def test_free_writing_is_greedy_decoding(number: int) -> None:
    kind, model, plan = cases()[number]
    seen: list[Written] = []
    for level in (ladder_of(plan.task, plan.train_size)[place] for place in (0, 2, -1)):
        items = draw_items(level, ITEMS, SEED)
        most = min(2 * items.longest, 100)
        own = written_by(model, items, most)
        assert own == [written_slowly(model, items, row, most) for row in range(ITEMS)]
        seen += own
    assert len({written.tokens for written in seen}) > 8  # varied, or nothing would have been compared
    assert kind == "noisy" or any(written.ended for written in seen)


def test_items_are_right_where_the_slow_witness_says_so() -> None:
    model, plan = trained(EASY)
    for size in (2, 3, 4):
        items = draw_items(Level("depth", size, plan.task, (size,)), 40, SEED)
        own = written_by(model, items, 2 * items.longest)
        exact = [w.ended and w.tokens == truth for w, truth in zip(own, items.answers, strict=True)]
        assert exact == greedy_right(model, plan.task, size, 40, SEED).tolist()
        if size == 2:
            assert 0 < sum(exact) < 40


def test_an_answer_is_ended_by_its_length_and_by_the_end_of_the_positions() -> None:
    model, plan = endless("rope")
    items = draw_items(ladder_of(plan.task, plan.train_size)[0], 4, SEED)
    assert [len(written.tokens) for written in written_by(model, items, 7)] == [7] * 4
    model, plan = endless("learned")
    items = draw_items(ladder_of(plan.task, plan.train_size)[-1], 4, SEED)
    rows = model.shape.rows
    for prompt, written in zip(items.prompts, written_by(model, items, 10_000), strict=True):
        assert not written.ended
        assert 2 + len(prompt) + len(written.tokens) == min(rows, items.room) + 1  # the last is written, not read


def endless(position: str) -> tuple[Transformer, Plan]:
    """A model that never writes a special token."""
    model, plan = noisy(EASY, position)
    model.norm.bias.data[:] = 0
    model.norm.bias.data[0] = 50.0  # the first coordinate is as good as constant, and speaks against special tokens
    model.output.weight.data[:, 0] = 0
    model.output.weight.data[: EOS + 1, 0] = -10.0
    return model, plan


def test_a_special_token_ends_an_answer_as_wrong() -> None:
    model, plan = noisy(EASY)
    model.norm.weight.data[:] = 0
    model.output.weight.data[:] = 0
    model.output.weight.data[1] = model.norm.bias.data  # <bos> is always best
    items = draw_items(ladder_of(plan.task, plan.train_size)[0], 3, SEED)
    for written, prompt, truth in zip(written_by(model, items, 9), items.prompts, items.answers, strict=True):
        assert written == Written(("<bos>",), False)
        judged = judge(plan.task, prompt, truth, written)
        assert not judged.valid and not judged.solved and judged.why


def test_judgement_of_a_search() -> None:
    task = tasks.make("subset_sum")
    prompt = ("6", "|", "5", "|", "2", "|", "4")
    truth = tuple(task.solve(prompt))
    good = judge(task, prompt, truth, Written(truth, True))
    assert (good.valid, good.solved, good.why) == (True, True, "")
    detour = ("-", "5", "6", "+", "2", "4", "+", "4", "0")  # skips before it takes: by the rules, but not in order
    found = judge(task, prompt, truth, Written(detour, True))
    assert (found.valid, found.solved) == (False, True) and "+ 5 1" in found.why
    assert not judge(task, prompt, truth, Written(detour, False)).solved  # it never stopped
    assert not judge(task, prompt, truth, Written(detour[:-1], True)).solved
    assert not judge(task, prompt, truth, Written((), True)).solved


def test_judgement_of_another_task_is_the_true_answer() -> None:
    task = tasks.make("sort:alphabet=12")
    assert judge(task, ("3", "1"), ("1", "3"), Written(("1", "3"), True)).solved
    for wrong in (Written(("1", "3"), False), Written(("3", "1"), True), Written(("1",), True)):
        judged = judge(task, ("3", "1"), ("1", "3"), wrong)
        assert (judged.valid, judged.solved, bool(judged.why)) == (False, False, True)


def test_taught_knows_first_mistakes() -> None:
    model, plan = trained(EASY)
    items = draw_items(ladder_of(plan.task, plan.train_size)[0], ITEMS, SEED)
    taught = read_items(model, items.batch, positions_for(model, items, SEED))
    for row in range(ITEMS):
        wrong = [place for place in np.flatnonzero(items.batch.scored[row]) if not taught.hits[row, place]]
        assert taught.first_mistakes[row] == (wrong[0] if wrong else -1)
        assert taught.right[row] == (not wrong)
        assert taught.errors[row] == pytest.approx(len(wrong) / items.batch.scored[row].sum())
