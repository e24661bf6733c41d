"""The ladder of a run: repeatable, storable, and with constants that no attack gets past."""

import json
from dataclasses import replace

import pytest
import torch

from climbing import EASY, MAZE, SMALL, climbed_by, noisy, trained
from lengthwise.errors import UsageError
from lengthwise.models.anatomy import anatomy_of
from lengthwise.models.forward import embed, run_from
from lengthwise.models.parts import Anatomy
from lengthwise.models.transformer import Transformer
from lengthwise.probes.ladder.climb import ITEMS_SEED, certified_constant, slope_at, steepness
from lengthwise.probes.ladder.level_items import draw_items
from lengthwise.probes.ladder.levels import Ladder
from lengthwise.probes.lipschitz.attack import attack, in_ball, quotient
from lengthwise.probes.lipschitz.parts import input_region
from lengthwise.probes.probe import Context, ask
from lengthwise.records import Record
from lengthwise.runs.plan import Plan
from lengthwise.subjects.run import OwnSubject
from lengthwise.tasks.ladder import Level, ladder_of


def climb_run(model: Transformer, plan: Plan) -> Ladder:
    return climbed_by(model, plan.task, plan.train_size, SMALL, plan.seed)


@pytest.mark.system
@pytest.mark.parametrize(
    "task, position", [("countdown", "rope"), (MAZE, "learned+offset"), ("sort:alphabet=12", "alibi")]
)
def test_a_ladder_is_repeatable_and_survives_json(task: str, position: str) -> None:
    model, plan = noisy(task, position, 3 if task.startswith("sort") else 2)
    ladder = climb_run(model, plan)
    if task == MAZE:
        assert climb_run(model, plan) == ladder
    stored = json.loads(json.dumps(ladder.record().plain(), allow_nan=False))
    assert Ladder.from_record(Record.from_plain(stored)) == ladder
    assert (ladder.task, ladder.position, ladder.seed) == (plan.task_name, plan.position_name, plan.seed)
    assert len(ladder.points) == len(ladder_of(plan.task, plan.train_size)) and ladder.settings == SMALL
    assert ladder.certified is not None
    assert all(0 < (point.slope or 0) <= ladder.certified for point in ladder.points)


@pytest.mark.system
def test_runs_with_other_seeds_are_asked_the_same() -> None:
    model, plan = noisy(MAZE)
    one, other = climb_run(model, plan), climb_run(model, replace(plan, seed=plan.seed + 1))
    assert one.points == other.points and one.examples == other.examples


def test_attention_that_jumps_has_neither_constant() -> None:
    model, plan = noisy(MAZE, attention="hardmax")
    ladder = climb_run(model, plan)
    assert ladder.certified is None and all(point.slope is None for point in ladder.points)


def test_a_model_of_unknown_training_is_refused() -> None:
    model, _ = noisy(MAZE)
    with pytest.raises(UsageError, match="not known what the model was trained on"):
        ask(SMALL, OwnSubject("the model", model), Context())


@pytest.mark.system
@pytest.mark.parametrize("position", ["rope", "learned+offset", "alibi"])
def test_no_attack_gets_past_the_certificate_and_slopes_are_below_the_whole_derivative(position: str) -> None:
    for model, plan in [noisy(MAZE, position), *([trained(EASY)] if position == "rope" else [])]:
        anatomy = anatomy_of(model)
        length = 6
        at = anatomy.places(length)
        items = draw_items(Level("depth", 2, plan.task, (2,)), 2, ITEMS_SEED)
        x = embed(anatomy, torch.from_numpy(items.batch.inputs[:, :length]), at)

        def f(y: torch.Tensor, anatomy: Anatomy = anatomy, at: torch.Tensor = at) -> torch.Tensor:
            return run_from(anatomy, y, at).output

        found = steepness(f, x, torch.ones_like(x), 5)
        attacked = attack(f, in_ball(input_region(anatomy, length).reach), x, "token", 30, smooth=False).best
        certified = certified_constant(anatomy, length)
        assert certified is not None and max(attacked, float(found.max())) <= certified
        for row in range(2):
            largest = _largest(anatomy, x[row : row + 1], at)
            assert 0.2 * largest <= float(found[row]) <= largest * (1 + 1e-9)


def _largest(anatomy: Anatomy, x: torch.Tensor, at: torch.Tensor) -> float:
    """At least the derivative's norm at one input: max over places i of Σ_j |J_ij|, spectral norms of blocks."""
    jacobian = torch.autograd.functional.jacobian(lambda y: run_from(anatomy, y, at).output, x)[0, :, :, 0]
    return float(torch.linalg.matrix_norm(jacobian.permute(0, 2, 1, 3), ord=2).sum(dim=1).max())


def test_what_lies_behind_the_end_of_an_item_is_not_steep() -> None:
    """Items of different length together are as steep as the steepest of them alone."""
    model, plan = noisy(MAZE)
    anatomy = anatomy_of(model)
    model.embedding.weight.data[0] *= 1e-3  # a short vector is where a norm is steepest: <pad> must not be looked at
    steep = anatomy_of(model)
    items = draw_items(Level("branching", 2, replace(plan.task, branching=2), (2, 3)), 3, ITEMS_SEED)  # pyright: ignore
    assert len({int(row.sum()) for row in items.batch.inputs > 0}) > 1
    places = anatomy.places(items.width)
    assert slope_at(steep, items, places, 3) == pytest.approx(slope_at(anatomy, items, places, 3), rel=1e-9)


def test_steepness_of_a_linear_map_is_exact() -> None:
    """f_i = M_i1 x_1 + M_i2 x_2 with M_ij = c_ij Q: the most that tokens of length 1 can do is max_i Σ_j |c_ij|."""
    torch.manual_seed(0)
    turn, _ = torch.linalg.qr(torch.randn(5, 5, dtype=torch.float64))
    factors = torch.tensor([[1.0, 0.0], [-2.0, 3.0]], dtype=torch.float64)

    def f(x: torch.Tensor) -> torch.Tensor:
        return factors @ (x @ turn)

    x = torch.randn(3, 2, 5, dtype=torch.float64)
    assert steepness(f, x, torch.randn_like(x), 6).tolist() == pytest.approx([5.0] * 3, rel=1e-6)


def test_the_slope_is_seen_in_a_pair() -> None:
    model, plan = trained(EASY)
    anatomy = anatomy_of(model)
    items = draw_items(Level("depth", 3, plan.task, (3,)), 1, ITEMS_SEED)
    at = anatomy.places(items.width)

    def f(y: torch.Tensor) -> torch.Tensor:
        return run_from(anatomy, y, at).output

    x = embed(anatomy, torch.from_numpy(items.batch.inputs), at)
    slope, best = slope_at(anatomy, items, at, 3), 0.0
    generator = torch.Generator().manual_seed(1)
    for _ in range(8):  # the same search, by pairs alone; one start may end at a lesser peak
        direction = torch.randn(x.shape, generator=generator, dtype=x.dtype)
        for _ in range(6):
            y = x.clone().requires_grad_(True)
            moved = (f(x + 1e-6 * direction) - f(x)).detach()
            place = int(moved.norm(dim=2).argmax())
            (gradient,) = torch.autograd.grad((f(y)[0, place] * moved[0, place]).sum(), y)
            direction = gradient / gradient.norm(dim=2, keepdim=True).clamp(min=1e-300)
            best = max(best, float(quotient(f, x, x + 1e-6 * direction, "token").max()))
    assert slope <= best * (1 + 1e-3)
