"""From the plans of a study to the records of runs that wait, and to what the report needs to know of their tasks."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any

from lengthwise.errors import LengthwiseError
from lengthwise.runs.environment import environment
from lengthwise.runs.plan import Plan, default_folder
from lengthwise.studies.record import RunRecord, named_variants, settings_of


def run_key(plan: Plan) -> str:
    """The name of a run's folder: task, encoding, seed and the hash of its plan."""
    try:
        return default_folder(plan).name
    except LengthwiseError:
        raise
    except Exception:  # a user's task that breaks as soon as it is asked anything; its run will say how
        content = hashlib.blake2b(repr(plan.plain()).encode(), digest_size=4).hexdigest()
        return f"broken-s{plan.seed}-{content}"


def planned_records(plans: Sequence[Plan]) -> list[RunRecord]:
    """A waiting run for each plan. Its variant names the settings that differ between runs of its task and encoding."""
    waiting = [
        RunRecord(
            key=run_key(plan),
            task=plan.task_name,
            position=plan.position_name,
            variant="",
            seed=plan.seed,
            train_size=plan.train_size,
            test_size=plan.test_size,
            items=plan.items,
            settings=settings_of(plan.plain()),
            asked=plan.asked(),
        )
        for plan in plans
    ]
    return named_variants(waiting)


def study_facts(plans: Sequence[Plan]) -> dict[str, Any]:
    """What is to be noted beside the runs, so that a report can be made from stored records alone."""
    tasks = {}
    for plan in plans:
        facts = plan.task.facts
        tasks[plan.task_name] = {
            "axis": plan.task.axes[0].name,
            "readout": plan.task.readout,
            "circuit_class": facts.circuit_class,
            "published": [
                {
                    "encoding": curve.encoding,
                    "bins": [list(bin_) for bin_ in curve.bins],
                    "exact_match": list(curve.exact_match),
                    "reference": str(curve.reference),
                    "chance": curve.chance,
                    "intervals": [list(ends) for ends in curve.intervals],
                }
                for curve in facts.published
            ],
        }
    shifts = [[plan.task_name, plan.train_size] for plan in plans if any(one.measures_shifts for one in plan.probes)]
    unique = [json.loads(text) for text in dict.fromkeys(map(json.dumps, shifts))]
    return {"tasks": tasks, "environment": environment(), "shifts": unique}
