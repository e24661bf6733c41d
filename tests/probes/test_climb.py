"""A ladder is what slow, independent computations say it is."""

import functools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from climbing import EASY, MAZE, SMALL, climbed_by, noisy, small_plan, trained
from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.models.batches import logits_of, right_on
from lengthwise.models.transformer import Architecture, Interface, Transformer
from lengthwise.positions import make_position
from lengthwise.probes.ladder import LadderProbe
from lengthwise.probes.ladder.climb import ITEMS_SEED, calibrate
from lengthwise.probes.ladder.level_items import draw_items, positions_for
from lengthwise.probes.ladder.levels import Example, LevelPoint
from lengthwise.tasks import tasks
from lengthwise.tasks.ladder import Level, ladder_of

SEED = ITEMS_SEED
ALL = LadderProbe(items=12, decoded=12, inside=5)


@functools.cache
def climbed() -> tuple[tuple[LevelPoint, ...], tuple[Example, ...]]:
    model, plan = trained(EASY)
    ladder = climbed_by(model, plan.task, plan.train_size, ALL)
    return ladder.points, ladder.examples


@pytest.mark.system
def test_a_point_is_what_reading_items_one_by_one_gives() -> None:
    model, plan = trained(EASY)
    points, _ = climbed()
    levels = ladder_of(plan.task, plan.train_size)
    assert [point.name for point in points] == [level.name for level in levels]
    for point, level in zip(points, levels, strict=True):
        alone, losses, sure = [], [], []
        for item in range(ALL.items):
            number, turn = divmod(item, len(level.sizes))
            batch = level.task.batch(level.sizes[turn], SEED, [number], role="test")
            alone.append(right_on(model, level.task, batch))
            with torch.no_grad():
                scores = logits_of(model, level.task, batch, None, training=False).double().softmax(dim=-1)
            truth = torch.from_numpy(batch.targets[batch.scored])
            losses += (-scores[torch.arange(len(truth)), truth].log()).tolist()
            sure += scores.amax(dim=-1).tolist()
        assert point.right == sum(bool(right.items.all()) for right in alone)
        assert point.tokens == sum(len(right.tokens) for right in alone) == len(losses)
        assert point.tokens_right == sum(int(right.tokens.sum()) for right in alone)
        assert point.errors == pytest.approx([1 - float(right.tokens.double().mean()) for right in alone])
        assert point.loss == pytest.approx(np.mean(losses), rel=1e-4)
        assert point.calibration.confidence == pytest.approx(np.mean(sure), rel=1e-4)
        assert (point.decoded, point.items) == (ALL.decoded, ALL.items)
        assert len(point.inside) == plan.architecture.depth + 1


@pytest.mark.system
def test_the_trained_model_has_some_items_right_and_others_wrong() -> None:
    points, _ = climbed()
    assert 0 < points[0].right < ALL.items  # or the tests of this file would compare nothing
    assert points[0].risk < min(point.risk for point in points if point.axis == "depth")


@pytest.mark.system
def test_only_one_trace_is_valid_so_validity_is_exact_match_on_what_is_decoded() -> None:
    points, _ = climbed()
    assert [point.valid for point in points] == [point.right for point in points]
    assert all(point.valid <= point.solved for point in points)
    assert any(point.valid for point in points)


def test_the_sizes_of_a_level_take_turns_and_items_do_not_depend_on_their_number() -> None:
    level = Level("training", 0, tasks.make("subset_sum"), (2, 3, 4))
    few, many = draw_items(level, 4, SEED), draw_items(level, 11, SEED)
    assert many.prompts[:4] == few.prompts and many.answers[:4] == few.answers
    assert [prompt.count("|") for prompt in many.prompts] == [2, 3, 4, 2, 3, 4, 2, 3, 4, 2, 3]
    for prompt, answer, inputs, targets, scored in zip(
        many.prompts, many.answers, many.batch.inputs, many.batch.targets, many.batch.scored, strict=True
    ):
        assert tuple(level.task.solve(prompt)) == answer
        whole = tuple(level.task.vocabulary[token] for token in inputs if token)
        assert whole == ("<bos>", *prompt, "<sep>", *answer) or whole == ("<bos>", *prompt, "<sep>", *answer, "<eos>")
        assert tuple(level.task.vocabulary[token] for token in targets[scored]) == (*answer, "<eos>")


def test_examples_are_of_training_and_of_the_farthest_levels_with_a_mistake_if_there_is_one() -> None:
    task = tasks.make(EASY)
    points, examples = climbed()
    last = {point.axis: point for point in points}
    assert [example.level for example in examples] == [p.name for p in last.values() for _ in range(2)]
    for example in examples:
        point = next(point for point in points if point.name == example.level)
        prompt, truth, written = (text.split() for text in (example.prompt, example.truth, example.written))
        assert tuple(task.solve(prompt)) == tuple(truth)
        assert (example.wrong_at is None) == example.valid == (truth == written) == (not example.why)
        if example.wrong_at is not None:
            assert truth[: example.wrong_at] == written[: example.wrong_at]
            assert truth[example.wrong_at : example.wrong_at + 1] != written[example.wrong_at : example.wrong_at + 1]
        of_level = [other.valid for other in examples if other.level == example.level]
        if point.valid < point.decoded:
            assert not of_level[0]
        if point.valid:
            assert any(of_level)


def test_progress_is_told_level_by_level_and_items_do_not_depend_on_the_seed() -> None:
    model, plan = noisy(MAZE)
    heard: list[tuple[str, int, int]] = []
    points = climbed_by(model, plan.task, plan.train_size, SMALL, 0, lambda *done: heard.append(done)).points
    assert [step for _, step, _ in heard] == list(range(1, len(points) + 1)) and heard[-1][2] == len(points)
    assert all(done.startswith(point.name) for (done, _, _), point in zip(heard, points, strict=True))
    assert climbed_by(model, plan.task, plan.train_size, SMALL, 1).points == points


@pytest.mark.parametrize("position", ["learned+offset", "alibi+randomized:limit=60"])
def test_a_task_that_is_no_search_climbs_its_one_axis(position: str) -> None:
    model, plan = trained("sort:alphabet=12", position, 3, 100)
    ladder = climbed_by(model, plan.task, 3, ALL)
    points, examples = ladder.points, ladder.examples
    assert [point.name for point in points] == ["training", *(f"length {size}" for size in range(5, 10))]
    assert points[0].right > points[-1].right
    for point in points:
        assert point.solved == point.valid <= point.right
        assert all(layer.shared is None and layer.pairs == 0 and layer.rank > 1 for layer in point.inside)
    assert all(example.valid or example.why for example in examples)


def test_labels_at_positions_are_measured_without_decoding() -> None:
    model, plan = noisy("(aa)*", "rope", 4)
    assert plan.task.readout == "tags"
    points = climbed_by(model, plan.task, 4, LadderProbe(10, 10, 4)).points
    assert [point.valid for point in points] == [point.right for point in points]


def test_what_cannot_climb_is_refused() -> None:
    task = tasks.make(EASY)
    interface = Interface(len(task.vocabulary), task.outputs, 30, 30)
    encoder = Transformer(Architecture(1, 8, 2, causal=False), interface).eval()
    with pytest.raises(UsageError, match="climbed by a decoder"):
        climbed_by(encoder, task, 2, SMALL)
    decoder = Transformer(Architecture(1, 8, 2, position=make_position("learned")), interface).eval()
    with pytest.raises(UsageError, match="has 30 positions and the level depth"):
        climbed_by(decoder, task, 2, SMALL)
    with pytest.raises(UsageError, match="reads 42 tokens and the task sort"):
        climbed_by(decoder, tasks.make("sort:alphabet=12"), 2, SMALL)
    broken, plan = noisy(MAZE)
    broken.output.weight.data[5] = float("nan")
    with pytest.raises(LengthwiseError, match="NaN"):
        climbed_by(broken, plan.task, plan.train_size, SMALL)


@pytest.mark.parametrize("position", ["rope", "none", "learned+offset", "alibi+randomized:limit=300"])
def test_positions_go_as_far_as_writing_needs_or_as_they_reach(position: str) -> None:
    plan = small_plan(MAZE, position)
    model = Transformer(plan.architecture, plan.interface())
    for level in ladder_of(plan.task, plan.train_size):
        items = draw_items(level, 6, SEED)
        at = positions_for(model, items, SEED)
        if position in ("rope", "none"):
            assert at.tolist() == [list(range(items.room))]
        elif position == "learned+offset":
            assert at.tolist() == [list(range(min(items.room, max(model.shape.rows, items.width))))]
        else:
            assert at.shape == (1, items.width) and bool((at.diff() > 0).all())


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=60))
def test_calibration_is_the_weighted_gap_of_bins(pairs: list[tuple[float, bool]]) -> None:
    sure, hits = np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
    found = calibrate(sure, hits)
    error = 0.0
    for number, (count, confidence, accuracy) in enumerate(found.bins):
        inside = [
            pair for pair in pairs if int(pair[0] * 10) == number or (number == 9 and pair[0] == 1)
        ]  # an independent reading of "tenths"
        assert count == len(inside)
        if inside:
            assert confidence == pytest.approx(np.mean([pair[0] for pair in inside]))
            assert accuracy == pytest.approx(np.mean([pair[1] for pair in inside]))
            error += len(inside) / len(pairs) * abs(confidence - accuracy)
    assert found.error == pytest.approx(error, abs=1e-9) and len(found.bins) == 10
    assert found.confidence == pytest.approx(sure.mean())


def test_calibration_of_known_cases() -> None:
    assert calibrate(np.full(4, 0.75), np.array([True, True, True, False])).error == 0
    assert calibrate(np.full(4, 0.95), np.zeros(4, dtype=bool)).error == pytest.approx(0.95)
    assert calibrate(np.array([0.2, 1.0]), np.array([False, True])).bins[2] == (1, 0.2, 0.0)
