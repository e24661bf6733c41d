"""Public contract suites: call them from your own tests to hold your own extension to the contract.

A class that you name as `my.py::Name` is held to its contract before it is used. Executors are the exception, as their
check takes a quarter of a minute and kills processes: call `check_executor` from your own tests.
"""

from lengthwise.testing.executors import check_executor
from lengthwise.testing.metrics import check_metric
from lengthwise.testing.networks import check_model
from lengthwise.testing.positions import check_position
from lengthwise.testing.rules import check_attention, check_form, check_probe, check_record, check_schedule
from lengthwise.testing.tasks import check_task
from lengthwise.testing.text import check_rendering

__all__ = [
    "check_attention",
    "check_executor",
    "check_form",
    "check_metric",
    "check_model",
    "check_position",
    "check_probe",
    "check_record",
    "check_rendering",
    "check_schedule",
    "check_task",
]
