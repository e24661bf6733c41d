"""Models for the tests of ladders: trained for a moment, so that they have some items right and others wrong."""

import functools

import torch

from lengthwise.models.transformer import Transformer
from lengthwise.probes.ladder import LadderProbe
from lengthwise.probes.ladder.climb import climb
from lengthwise.probes.ladder.levels import Ladder
from lengthwise.probes.probe import Context
from lengthwise.progress import Progress, silent
from lengthwise.runs.plan import Plan, plan_for
from lengthwise.runs.run import build_model
from lengthwise.subjects.run import OwnSubject
from lengthwise.tasks.task import Task
from lengthwise.training.loop import train_model

SMALL = LadderProbe(items=5, decoded=4, inside=3)


def small_plan(
    task: str, position: str = "rope", train_size: int = 2, attention: str = "softmax", steps: int = 1
) -> Plan:
    plan = plan_for(
        task,
        position,
        train_size=train_size,
        test_size=train_size,
        settings={
            "depth": 2,
            "width": 24,
            "heads": 2,
            "attention": attention,
            "steps": steps,
            "batch": 32,
            "rate": 8e-3,
            "check_every": steps,
            "pool": 4,
        },
    )
    return Plan(plan.task, plan.architecture, plan.recipe, train_size, train_size, seed=3, probes=(SMALL,))


def noisy(
    task: str, position: str = "rope", train_size: int = 2, attention: str = "softmax"
) -> tuple[Transformer, Plan]:
    """Large random weights: what is written is varied, and ends now and then."""
    plan = small_plan(task, position, train_size, attention)
    model = build_model(plan)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        for parameter in model.parameters():
            parameter.data += 0.15 * torch.randn_like(parameter)
    return model.eval(), plan


@functools.cache
def trained(task: str, position: str = "rope", train_size: int = 2, steps: int = 300) -> tuple[Transformer, Plan]:
    plan = small_plan(task, position, train_size, steps=steps)
    model = build_model(plan)
    train_model(model, plan.task.part("train"), plan.recipe, train_size, plan.seed)
    return model.eval(), plan


MAZE = "tree_maze:branching=1,span=24,content=24,top=42"  # one way only: short items, drawn fast
EASY = "subset_sum"


def climbed_by(
    model: Transformer, task: Task, train_size: int, probe: LadderProbe, seed: int = 0, progress: Progress = silent
) -> Ladder:
    """The ladder of a model in memory."""
    return climb(probe, OwnSubject("the model", model), Context(task, train_size, seed=seed, progress=progress))
