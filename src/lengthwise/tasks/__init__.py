"""What is asked: one task a file, each with its exact solver and what is known about it."""

from lengthwise.registry import Registry
from lengthwise.tasks.task import Task

tasks: Registry[Task] = Registry("task", "lengthwise.tasks", "lengthwise.tasks", "lengthwise tasks")
