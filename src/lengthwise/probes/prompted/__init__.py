"""A language model asked by prompt: accuracy by size in two readings, and how far it holds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from lengthwise.errors import UsageError
from lengthwise.files import write_json, writing
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.probes.prompted.asking import ask_items
from lengthwise.probes.prompted.result import record_of
from lengthwise.probes.prompted.store import RECORD
from lengthwise.records import Record

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task


@probes.register("prompted")
@dataclass(frozen=True)
class PromptedProbe(Probe):
    """Accuracy of a language model that is asked by prompt, at every size, and how far it holds.

    `shots` are worked examples before each question; `chat` is whether the model's chat template is used (auto: if it
    has one); `budget` the tokens of an answer (0: enough for a right one), and `reasoning` the tokens to think before
    it. `rendering` says how a task becomes text: plain, a template file, or my.py::Class. Prompts and answers are kept
    below `folder`, if there is one, and stored answers are not asked again.
    """

    needs = ("completions",)
    shots: int = 3
    chat: Literal["auto", "chat", "plain"] = "auto"
    budget: int = 0
    reasoning: int = 0
    rendering: str = "plain"
    folder: str = ""

    def __post_init__(self) -> None:
        for name in ("shots", "budget", "reasoning"):
            if getattr(self, name) < 0:
                raise UsageError(f"{name} must be at least 0, not {getattr(self, name)}")

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:  # noqa: ARG002
        """Sizes that double."""
        return doublings(task, task.axes[0].smallest, test_size)

    def measure(self, subject: Subject, context: Context) -> Record:
        asked = ask_items(self, subject, context)
        record = record_of(asked, subject.name)
        if asked.folder:
            with writing(folder := Path(asked.folder)):
                write_json(folder / RECORD, record.plain())
        return record


def doublings(task: Task, low: int, high: int) -> list[int]:
    """The sizes low, 2 low, 4 low … and high, each replaced by the next one at which the task has items."""
    known = task.part("test").sizes(low, high)
    wanted = [*takewhile(lambda size: size < high, (max(1, low) * 2**power for power in range(64))), high]
    found = (next((size for size in known if size >= one), known[-1] if known else None) for one in wanted)
    return sorted({size for size in found if size is not None})
