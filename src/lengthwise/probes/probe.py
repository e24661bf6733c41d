"""The contract of probes: one question put to one subject, answered by one record."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from lengthwise.errors import UsageError
from lengthwise.progress import Progress, silent
from lengthwise.records import Record, json_ready
from lengthwise.registry import Registry, format_spec, named_in, parse_spec
from lengthwise.tasks.sizes import default_test_size, default_train_size

if TYPE_CHECKING:
    from lengthwise.subjects.subject import Subject
    from lengthwise.tasks.task import Task


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
    progress: Progress = field(default=silent, compare=False)

    def sized(self, probe: Probe, test_size: int | None = None) -> Context:
        """With the sizes that the probe chooses up to the test size, where none are given."""
        if self.sizes or self.task is None:
            return self
        trained = default_train_size(self.task) if self.train_size is None else self.train_size
        chosen = probe.sizes(self.task, trained, test_size or default_test_size(self.task, trained))
        return dataclasses.replace(self, sizes=tuple(chosen))


class Passes(NamedTuple):
    """Work that a probe does: `items` of `tokens` each, read in `times` forward passes."""

    items: int
    tokens: int
    times: int = 1


class Probe(ABC):
    """A question to a subject. A concrete probe is a frozen dataclass of settings, registered under a name:

        @probes.register("entropy")
        @dataclass(frozen=True)
        class EntropyProbe(Probe):
            needs = ("transformer",)
            items: int = 32

            def measure(self, subject: Subject, context: Context) -> Record: ...

    `needs` names the capabilities a subject must offer (`lengthwise.subjects`); a subject that lacks one is refused in
    one sentence before `measure` is called. Equal settings, subject and context give an equal record.

    The other methods have defaults that suit most probes. A probe overrides them to measure at other sizes than every
    one (`sizes`), to ask for longer inputs than the test size or say what it costs (`passes`), or to have a study
    measure how far the levels of its task are from training (`measures_shifts`).
    """

    needs: ClassVar[tuple[str, ...]] = ()
    measures_shifts: ClassVar[bool] = False

    @abstractmethod
    def measure(self, subject: Subject, context: Context) -> Record:
        """The answer, as plain data."""

    def sizes(self, task: Task, train_size: int, test_size: int) -> Sequence[int]:  # noqa: ARG002
        """The sizes to measure at, unless the user names others."""
        return task.sizes(1, test_size)

    def passes(self, task: Task, train_size: int, causal: bool) -> Sequence[Passes]:  # noqa: ARG002
        """What the probe reads beyond the sizes of the curve: the longest decides how many positions a model is made
        with, and all of them enter the estimate of a study's time. A task that cannot be measured is refused here,
        before training."""
        return ()


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
    """Put a probe's question to a subject. The record has the probe's name and settings. What the subject lacks is
    said in one sentence before the work begins."""
    for need in probe.needs:
        subject.capability(need)
    name = called(probes.spec_of(probe).get("name", type(probe).__name__))
    own = {f.name: getattr(probe, f.name) for f in _fields(probe)}
    if type(probe) in probes.of_files:
        record = probes.tried(probe, lambda: _checked(probe.measure(subject, context), name))
    else:
        record = probe.measure(subject, context)
    return dataclasses.replace(record, source=name, settings=json_ready(own), data=json_ready(record.data))


def _checked(record: Record, name: str) -> Record:
    """The record of a user's probe, held to the contract of records. It need not say its source."""
    if isinstance(record, Record):
        record = dataclasses.replace(record, source=name)
    named_in("lengthwise.testing:check_record")(record)
    return record


def called(spec: str) -> str:
    """The name of a probe's record: that of the probe, or of the class where it is from a user's file."""
    return parse_spec(spec)[0].rpartition("::")[2]


def probe_spec(probe: Probe) -> dict[str, Any]:
    """The spec that a probe is stored by: its name and the settings that differ from their defaults."""
    if not (spec := probes.spec_of(probe)):
        raise UsageError(
            f'a probe is stored by its name; register {type(probe).__name__} with @probes.register("name"), or give it '
            "as my.py::Class"
        )
    own = {f.name: getattr(probe, f.name) for f in _fields(probe) if getattr(probe, f.name) != f.default}
    return {"name": spec["name"], **own}


def _fields(probe: Probe) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(probe) if dataclasses.is_dataclass(probe) else ()


def slug_of(probe: Probe) -> str:
    """The name of the file that holds a probe's record, unlike that of every other probe."""
    spec = format_spec(probe_spec(probe))
    name, settings = parse_spec(spec)
    slug = re.sub(r"[^A-Za-z0-9_.=+-]+", "-", format_spec({"name": called(spec), **settings})).strip("-.")
    if "::" not in name and len(slug) <= 60:
        return slug
    return f"{slug[:60]}-{hashlib.blake2b(spec.encode(), digest_size=4).hexdigest()}"


def named(records: Iterable[Record], name: str) -> Record | None:
    """The record of the probe of this name, the first where there are several."""
    return next((record for record in records if record.source == called(name)), None)


def make_probes(given: Iterable[str | Mapping[str, Any] | Probe]) -> tuple[Probe, ...]:
    """Probes from specs that a user wrote; probes that are made already stay as they are."""
    return tuple(one if isinstance(one, Probe) else probes.make(one) for one in given)
