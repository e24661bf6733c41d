"""What is asked: one family of tasks per file, each task with its exact solver and what is known about it."""

from collections.abc import Mapping
from typing import Any

from lengthwise.registry import Registry
from lengthwise.tasks.task import Task

tasks: Registry[Task] = Registry("task", "lengthwise.tasks", "lengthwise.tasks", "lengthwise tasks", base=Task)


def make_task(spec: str | Mapping[str, Any]) -> Task:
    """The task that a text describes: `sort`, `sort:alphabet=100`, `mytask.py::Repeat`."""
    return tasks.make(spec)
