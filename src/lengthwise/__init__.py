"""Will a Transformer trained on short inputs hold on longer ones? How far, why, and what would change it?

    import lengthwise as lw
    run = lw.train("sort", "learned+offset", train_size=20, test_size=60)
    run.reach

The names below are loaded when they are first used, so that importing the package costs nothing. None of them is the
name of a module: Python sets that name to the module as soon as anything imports it. The registry of tasks is therefore
`lw.tasks.tasks`, and `lw.make_task` makes a task as `lw.make_position` makes an encoding.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from lengthwise.version import __version__

if TYPE_CHECKING:
    from lengthwise.evidence.atlas import Atlas
    from lengthwise.evidence.atlas import load_atlas as atlas
    from lengthwise.forecasts.advice import advise
    from lengthwise.forecasts.checkpoint import forecast_subject
    from lengthwise.forecasts.forecast import forecast
    from lengthwise.hardware import computing
    from lengthwise.limits import lifted
    from lengthwise.models.architecture import Architecture
    from lengthwise.models.attention import Attention
    from lengthwise.models.attention.networks.network import AttentionNetwork
    from lengthwise.models.model import Model
    from lengthwise.models.transformer import Transformer
    from lengthwise.oracle.check import check, check_formulation
    from lengthwise.positions import make_position
    from lengthwise.positions.networks.encoders import Encoder
    from lengthwise.positions.position import Position, Shape
    from lengthwise.probes.curve.curve import Curve
    from lengthwise.probes.curve.spread import Keep, Spread, over_seeds
    from lengthwise.probes.guarantee import GuaranteeProbe
    from lengthwise.probes.guarantee.bound import bound
    from lengthwise.probes.guarantee.result import Guarantee
    from lengthwise.probes.inspection import Inspection, inspect
    from lengthwise.probes.recursion.walk import run_chains
    from lengthwise.records import Assumption, Claim, Interval, Reference
    from lengthwise.runs.run import Run, load_run, measure, train
    from lengthwise.runs.selected import select
    from lengthwise.shift.compare import measure_shift
    from lengthwise.shift.result import Shift
    from lengthwise.shift.samples import task_sample
    from lengthwise.studies.results import StudyResults, open_study, run_study
    from lengthwise.studies.spec import Study
    from lengthwise.subjects.open import open_subject
    from lengthwise.tasks import make_task
    from lengthwise.tasks.task import Task
    from lengthwise.training.recipe import Recipe
    from lengthwise.trust import trusting

_HOMES = {
    "Architecture": "lengthwise.models.architecture",
    "Assumption": "lengthwise.records",
    "Atlas": "lengthwise.evidence.atlas",
    "Attention": "lengthwise.models.attention",
    "AttentionNetwork": "lengthwise.models.attention.networks.network",
    "Claim": "lengthwise.records",
    "Curve": "lengthwise.probes.curve.curve",
    "Encoder": "lengthwise.positions.networks.encoders",
    "Guarantee": "lengthwise.probes.guarantee.result",
    "GuaranteeProbe": "lengthwise.probes.guarantee",
    "Inspection": "lengthwise.probes.inspection",
    "Interval": "lengthwise.records",
    "Keep": "lengthwise.probes.curve.spread",
    "Model": "lengthwise.models.model",
    "Position": "lengthwise.positions.position",
    "Recipe": "lengthwise.training.recipe",
    "Reference": "lengthwise.records",
    "Run": "lengthwise.runs.run",
    "Shape": "lengthwise.positions.position",
    "Shift": "lengthwise.shift.result",
    "Spread": "lengthwise.probes.curve.spread",
    "Study": "lengthwise.studies.spec",
    "StudyResults": "lengthwise.studies.results",
    "Task": "lengthwise.tasks.task",
    "Transformer": "lengthwise.models.transformer",
    "advise": "lengthwise.forecasts.advice",
    "atlas": "lengthwise.evidence.atlas:load_atlas",
    "bound": "lengthwise.probes.guarantee.bound",
    "check": "lengthwise.oracle.check",
    "check_formulation": "lengthwise.oracle.check",
    "computing": "lengthwise.hardware",
    "forecast": "lengthwise.forecasts.forecast",
    "forecast_subject": "lengthwise.forecasts.checkpoint",
    "inspect": "lengthwise.probes.inspection",
    "lifted": "lengthwise.limits",
    "load_run": "lengthwise.runs.run",
    "make_position": "lengthwise.positions",
    "make_task": "lengthwise.tasks",
    "measure": "lengthwise.runs.run",
    "measure_shift": "lengthwise.shift.compare",
    "open_subject": "lengthwise.subjects.open",
    "open_study": "lengthwise.studies.results",
    "over_seeds": "lengthwise.probes.curve.spread",
    "run_chains": "lengthwise.probes.recursion.walk",
    "run_study": "lengthwise.studies.results",
    "select": "lengthwise.runs.selected",
    "task_sample": "lengthwise.shift.samples",
    "train": "lengthwise.runs.run",
    "trusting": "lengthwise.trust",
}

__all__ = [
    "Architecture",
    "Assumption",
    "Atlas",
    "Attention",
    "AttentionNetwork",
    "Claim",
    "Curve",
    "Encoder",
    "Guarantee",
    "GuaranteeProbe",
    "Inspection",
    "Interval",
    "Keep",
    "Model",
    "Position",
    "Recipe",
    "Reference",
    "Run",
    "Shape",
    "Shift",
    "Spread",
    "Study",
    "StudyResults",
    "Task",
    "Transformer",
    "__version__",
    "advise",
    "atlas",
    "bound",
    "check",
    "check_formulation",
    "computing",
    "forecast",
    "forecast_subject",
    "inspect",
    "lifted",
    "load_run",
    "make_position",
    "make_task",
    "measure",
    "measure_shift",
    "open_study",
    "open_subject",
    "over_seeds",
    "run_chains",
    "run_study",
    "select",
    "task_sample",
    "train",
    "trusting",
]


def __getattr__(name: str) -> Any:
    """A public name, or a module of the package; what is found is kept, so that every access gives the same object."""
    if name in _HOMES:
        module, _, own = _HOMES[name].partition(":")
        found = getattr(importlib.import_module(module), own or name)
    elif not name.startswith("_") and importlib.util.find_spec(f"lengthwise.{name}"):
        found = importlib.import_module(f"lengthwise.{name}")
    else:
        raise AttributeError(f"module 'lengthwise' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
