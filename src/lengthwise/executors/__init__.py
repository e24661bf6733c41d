"""Where jobs run: on this machine, on a Ray cluster, under Slurm. Executors know nothing of what a job is for.

with executors.make("local:workers=2") as executor:
    executor.submit(Job("mean", "statistics:fmean", {"data": [1, 2, 6]}))
    outcomes = executor.wait(seconds=60)
"""

from __future__ import annotations

from lengthwise.executors.executor import Executor, Job, Outcome
from lengthwise.registry import Registry

__all__ = ["Executor", "Job", "Outcome", "executors"]

executors: Registry[Executor] = Registry(
    "executor",
    "lengthwise.executors",
    "lengthwise.executors",
    base=Executor,
    contract="lengthwise.executors.executor:check_made",
)
