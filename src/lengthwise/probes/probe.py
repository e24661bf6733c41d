"""The contract of probes: one question put to one subject, answered by one record."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from lengthwise.records import Record
from lengthwise.registry import Registry

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task


def silent(done: str, step: int, steps: int) -> None:
    """Progress that nobody hears of."""


@dataclass(frozen=True)
class Context:
    """What all probes of one measurement share: the task and the sizes that are asked, how many items, and the seed.

    `task` is None where the subject has none and none was given; `train_size` is the size it was trained to, where that
    is known. `sizes` are those to measure at. `data` is a file of the user's to take inputs from. `progress` hears what
    is being done, with how many steps of how many are done.
    """

    task: Task | None = None
    train_size: int | None = None
    sizes: tuple[int, ...] = ()
    items: int | None = None
    seed: int = 0
    data: str | None = None
    progress: Callable[[str, int, int], None] = field(default=silent, compare=False)


class Probe(ABC):
    """A question to a subject. A concrete probe is a frozen dataclass of settings, registered under a name:

        @probes.register("sparsity")
        @dataclass(frozen=True)
        class SparsityProbe(Probe):
            needs = ("anatomy",)
            items: int = 32

            def measure(self, subject: Subject, context: Context) -> Record: ...

    `needs` names the capabilities a subject must offer (`lengthwise.subjects`); a subject that lacks one is refused in
    one sentence before `measure` is called. Equal settings, subject and context give an equal record.
    """

    needs: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def measure(self, subject: Subject, context: Context) -> Record:
        """The answer, as plain data."""


probes: Registry[Probe] = Registry(
    "probe",
    "lengthwise.probes",
    "lengthwise.probes",
    "lengthwise measure --list-probes",
    deep=False,
    base=Probe,
    contract="lengthwise.testing:check_probe",
)


def ask(probe: Probe, subject: Subject, context: Context) -> Record:
    """The answer of a probe; a usage error where the subject does not offer what the probe needs."""
    for name in probe.needs:
        subject.capability(name)
    return probe.measure(subject, context)
