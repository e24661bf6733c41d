"""Public contract suites: call them from your own tests to hold your own extension to the contract."""

from lengthwise.testing.executors import check_executor
from lengthwise.testing.forms import check_form
from lengthwise.testing.metrics import check_metric
from lengthwise.testing.positions import check_position
from lengthwise.testing.tasks import check_task

__all__ = ["check_executor", "check_form", "check_metric", "check_position", "check_task"]
