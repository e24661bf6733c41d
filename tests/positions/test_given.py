"""Positions that come from the task: which tokens share one, where they start, and life in a model."""

from pathlib import Path

import numpy as np
import pytest
import torch

import lengthwise as lw
from lengthwise.errors import OutOfPositions, UsageError
from lengthwise.models.batches import positions_of, right_on
from lengthwise.models.network import fresh_network
from lengthwise.models.transformer import Transformer
from lengthwise.positions import Shape, make_position
from lengthwise.positions.networks.encoders import LearnedEncoder
from lengthwise.probes.curve.greedy import greedy_right
from lengthwise.runs.answers import answer_of
from lengthwise.runs.plan import plan_for
from lengthwise.seeds import Seeds
from lengthwise.tasks import make_task
from lengthwise.tasks.batch import PAD

SHAPE = Shape(8, 2, 40, 20)
SUM = make_task("addition_appended:base=10")
KINDS = ("coupled", "abacus")


def placed(spec: str, task: str, size: int) -> list[int]:
    made = make_task(task)
    return make_position(spec).place(made.ids_of(made.batch(size, 0, [0]).inputs), SHAPE, None, False)[0].tolist()


def test_digits_of_equal_significance_share_a_position() -> None:
    """`<bos> 4 2 + 0 9 <sep> 4 1 1`, the lowest digit first. As published, mirrored: digits of one significance share
    an id, `=` has the id next to the lowest digit, and in testing ids begin at 1. `+` says where the sum ends."""
    assert placed("coupled", "addition_appended:base=10", 2) == [0, 2, 3, 4, 2, 3, 1, 2, 3, 4]


def test_digits_are_counted_within_their_number() -> None:
    """As published: the digits of a number from 1 on as they are written, everything else 0."""
    assert placed("abacus", "addition_appended:base=10", 2) == [0, 1, 2, 0, 1, 2, 0, 1, 2, 3]


def test_a_string_and_its_image() -> None:
    assert placed("coupled", "copy_repeat", 3) == [0, 2, 3, 4, 1, 2, 3, 4]
    assert placed("coupled", "reverse_string", 3) == [0, 4, 3, 2, 1, 2, 3, 4]
    assert placed("abacus", "reverse_string", 3) == [0, 1, 2, 3, 0, 1, 2, 3], "counted as written, not as coupled"


@pytest.mark.parametrize("spec", KINDS)
def test_starts_in_training_are_uniform_over_the_limit(spec: str) -> None:
    position, ids = make_position(f"{spec}:limit=9"), np.tile([0, 1, 2, 0, 1, 2, 0, 1, 2, 3], (600, 1))
    still = position.place(ids, SHAPE, None, False)
    moved = position.place(ids, SHAPE, Seeds(1), True)
    assert np.array_equal(position.place(ids, SHAPE, Seeds(1), False), still), "none in testing"
    moves = moved[:, 1] - still[:, 1]
    assert np.array_equal(moved, np.where(still > 0, still + moves[:, None], 0)), "one for all tokens of an item"
    assert moved.max() == 9
    counts = np.bincount(moves)
    assert len(counts) == 10 - still.max() and counts.min() > 0.6 * counts.mean()


def test_testing_may_start_in_the_middle() -> None:
    ids = np.array([[0, 1, 2, 0, 1], [0, 1, 2, 3, 4]])
    for training in (False, True):
        at = make_position("coupled:limit=20,start=middle").place(ids, SHAPE, None, training)
        assert at.tolist() == [[0, 10, 11, 9, 10], [0, 9, 10, 11, 12]], "as many free below as above"
    assert make_position("abacus:limit=20,start=middle").place(ids, SHAPE, None, False)[0].tolist() == [
        0,
        10,
        11,
        0,
        10,
    ]


@pytest.mark.parametrize("spec", KINDS)
def test_a_start_is_an_items_own(spec: str) -> None:
    position, ids = make_position(spec), np.array([[0, 1, 2, 0, 1], [0, 1, 0, 1, 2]])
    both = position.place(ids, SHAPE, Seeds(4), True)
    assert np.array_equal(position.place(ids[:1], SHAPE, Seeds(4), True), both[:1])


@pytest.mark.parametrize("spec", KINDS)
def test_the_table_ends_with_the_limit(spec: str) -> None:
    encoder = make_position(f"{spec}:limit=12").build(SHAPE)
    assert isinstance(encoder, LearnedEncoder) and len(encoder.table) == 13
    assert len(make_position(spec).build(SHAPE).table) == SHAPE.rows + 1  # pyright: ignore
    with pytest.raises(OutOfPositions):
        make_position(f"{spec}:limit=2").place(np.array([[0, 1, 2, 3]]), SHAPE, None, False)
    with pytest.raises(UsageError):
        make_position(f"{spec}:limit=-1")


@pytest.mark.parametrize(("limit", "width"), [(7, 8), (5, 8), (19, 8)])
@pytest.mark.parametrize("spec", KINDS)
def test_rows_start_with_the_least_overlap(spec: str, limit: int, width: int) -> None:
    """Orthogonal where the width allows it; else their squared products sum to the least possible, which is
    (sum of squared norms)² / width (Welch 1974). Entries have size 0.02 on average."""
    encoder = make_position(f"{spec}:limit={limit}").build(Shape(width, 2, 40, 20))
    assert isinstance(encoder, LearnedEncoder)
    rows = encoder.table.detach().double() / 0.02
    products, total = rows @ rows.T, rows.square().sum()
    assert torch.allclose(rows.square().mean(), torch.tensor(1.0).double(), atol=1e-5)
    if limit + 1 <= width:
        assert torch.allclose(products, width * torch.eye(limit + 1).double(), atol=1e-4)
    else:
        assert torch.allclose(products.square().sum(), total**2 / width, rtol=1e-5)


@pytest.mark.parametrize("task", ["sort", "addition"])
@pytest.mark.parametrize("spec", KINDS)
def test_a_task_without_ids_is_refused_before_training(task: str, spec: str) -> None:
    with pytest.raises(UsageError):
        plan_for(task, spec)


@pytest.mark.wording
def test_the_refusal_names_the_method_and_what_would_do() -> None:
    with pytest.raises(UsageError, match="a method `ids`"):
        plan_for("sort", "coupled")
    with pytest.raises(UsageError, match="binary_addition and addition_appended"):
        plan_for("addition", "coupled")


def test_too_small_a_limit_is_refused_before_training() -> None:
    plan_for("addition_appended", "coupled:limit=42", train_size=10, test_size=40)
    with pytest.raises(OutOfPositions, match="limit=42"):
        plan_for("addition_appended", "coupled:limit=41", train_size=10, test_size=40)


def test_tokens_without_a_task_are_refused() -> None:
    with pytest.raises(UsageError):
        make_position("coupled").indices(5, 1, SHAPE, None, False)


def network(spec: str, task: str, causal: bool = True) -> Transformer:
    plan = plan_for(task, spec, {"depth": 2, "width": 16, "heads": 2, "causal": causal}, train_size=3, test_size=6)
    made = fresh_network(plan.architecture, plan.interface(), 0)
    assert isinstance(made, Transformer)
    for parameter in made.parameters():
        parameter.data += 0.3 * torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1))
    return made.eval()


@pytest.mark.parametrize("spec", KINDS)
@pytest.mark.parametrize("task", ["addition_appended:base=3", "binary_addition", "copy_repeat"])
def test_greedy_writing_with_a_cache_agrees_with_one_pass(spec: str, task: str) -> None:
    model, asked = network(spec, task), make_task(task)
    model.output.weight.data[:4] = 0.0  # so that answers are more than an end
    batch = asked.batch(5, 0, range(30), role="test")
    at = positions_of(model, asked, batch.inputs, None)
    answers = model(torch.from_numpy(batch.inputs), at=at).argmax(-1)
    begin = int(batch.scored[0].argmax())
    prompts = torch.from_numpy(batch.inputs[:, : begin + 1])
    written = model.generate(prompts, 1, at)
    assert torch.equal(written[:, 0], answers[:, begin])
    whole = torch.cat([prompts, model.generate(prompts, 4, at)], dim=1)
    again = model(whole, at=at[:, : whole.shape[1]]).argmax(-1)
    assert torch.equal(again[:, begin:-1], whole[:, begin + 1 :])
    fast = right_on(model, asked, asked.batch(5, 0, range(30), role="test")).items.numpy()
    assert np.array_equal(greedy_right(model, asked, 5, 30, 0), fast)


def test_one_question_has_the_positions_it_has_in_a_batch() -> None:
    model = network("coupled", "addition_appended")
    task = make_task("addition_appended")
    answer = answer_of(model, task, ["1", "0", "1", "+", "1", "1", "0"], 0)
    tokens = np.array([[1, 5, 4, 5, 6, 5, 5, 4, 2]])
    whole = np.hstack([tokens, np.full((1, len(answer)), PAD)])
    written = model.generate(torch.from_numpy(tokens), len(answer), positions_of(model, task, whole, None))
    assert tuple(task.vocabulary[token] for token in written[0].tolist()) == answer


def test_an_encoder_has_them_too() -> None:
    model, task = network("coupled", "copy_repeat", causal=False), make_task("copy_repeat")
    batch = task.batch(4, 0, range(3), causal=False)
    assert positions_of(model, task, batch.inputs, None).tolist() == [[0, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1]] * 3


def test_prompts_of_different_lengths_in_one_batch() -> None:
    """Rows whose `<sep>` stands at other places have the ids they have alone."""
    short, long = (SUM.batch(size, 0, [0]).inputs for size in (2, 4))
    both = np.vstack([np.pad(short, ((0, 0), (0, long.shape[1] - short.shape[1]))), long])
    ids = SUM.ids_of(both)
    assert np.array_equal(ids[1:], SUM.ids_of(long))
    assert np.array_equal(ids[:1, : short.shape[1]], SUM.ids_of(short))


@pytest.mark.system
@pytest.mark.parametrize("form", ["full", "lora:rank=4"])
def test_a_run_from_training_to_a_question(form: str, tmp_path: Path) -> None:
    """Saved and loaded, measured, written with a cache, looked into, and asked, with the positions of the task."""
    run = lw.train(
        "copy_repeat", "coupled:limit=12", train_size=4, test_size=6, items=20, folder=tmp_path / "run",
        probes=("curve:generate=true", "signals", "sparsity", "representations"), form=form,
        depth=1, width=32, heads=2, steps=200, rate=3e-3,
    )  # fmt: skip
    assert {"signals", "sparsity", "representations"} <= set(run.records)
    (agrees,) = [claim.value for claim in run.record("curve").claims if claim.key == "curve.generated"]
    assert agrees == 1.0
    again = lw.load_run(run.folder)
    assert again.plan.position_name == "coupled:limit=12"
    assert lw.measure(run.folder, sizes=[3], items=20).points[0].right == run.curve.points[2].right
    assert set(again.answer("a b b a").split()) <= {"a", "b"}
