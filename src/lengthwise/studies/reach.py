"""Whether plans are within reach of the machine, before any of them starts: no model is made, and three items at most
are drawn of each task.

The memory of a run is estimated from below: weights with their gradients and moments, the activations of a step, and
the items that are drawn at once. The time is that of `costs`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from lengthwise.errors import UsageError
from lengthwise.limits import MOST_STUDY_SECONDS, are_lifted, check_reach
from lengthwise.models.architecture import Architecture
from lengthwise.runs.plan import Plan
from lengthwise.studies.costs import relative_cost

_NUMBER = 4  # bytes
_COPIES = 4  # weights, gradients, two moments
_KEPT = 4  # numbers that a layer keeps per token and unit of width, at least


def plan_memory(plan: Plan) -> float:
    """Least memory that one run needs, in bytes."""
    own, interface = plan.architecture, plan.interface()
    depth, width, ratio = (float(getattr(own, n, getattr(Architecture, n))) for n in ("depth", "width", "mlp_ratio"))
    weights = depth * (4 + 2 * ratio) * width**2 + interface.vocabulary * width
    step = plan.recipe.batch * plan.recipe.pool * interface.trained * 8.0
    step += plan.recipe.batch * interface.trained * depth * width * _KEPT * _NUMBER
    return _COPIES * _NUMBER * weights + max(step, plan.items * interface.rows * 8.0)


def check_plans(plans: Sequence[Plan], what: str = "this run", workers: int | None = None) -> None:
    """Refuse plans one of which needs too much memory or time, or that take too long all together on `workers`
    workers, where their number is known."""
    if are_lifted():
        return
    total, before, memory, seconds = 0.0, None, 0.0, 0.0
    for plan in plans:
        if before is None or not _alike(plan, before):
            memory, seconds = _needs(plan)
            name = f"the run of {plan.task_name} with {plan.model_name}" if len(plans) > 1 else what
            check_reach(name, memory, seconds)
        total, before = total + seconds, plan
    if workers is not None:
        check_reach(what, seconds=total / max(1, workers), most=MOST_STUDY_SECONDS)


def _needs(plan: Plan) -> tuple[float, float]:
    try:
        return plan_memory(plan), relative_cost(plan)
    except UsageError:
        raise
    except OverflowError:
        return math.inf, math.inf
    except Exception:  # of a user's task, whose run will say how
        return 0.0, 0.0


def _alike(one: Plan, other: Plan) -> bool:
    """Whether two plans differ in their seeds at most."""
    return all(getattr(one, f.name) == getattr(other, f.name) for f in dataclasses.fields(Plan) if f.name != "seed")
