"""Inspect a model: several probes, one record each, and an answer in three lines."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.messages import explain, sentence
from lengthwise.probes.probe import Context, Probe, ask, called, named
from lengthwise.probes.probe import probes as registry
from lengthwise.probes.shown import WeightsProbe, look_at
from lengthwise.progress import Progress, silent
from lengthwise.records import Claim, Record, json_ready
from lengthwise.tasks import tasks
from lengthwise.tasks.task import Task

if TYPE_CHECKING:
    from lengthwise.subjects.symbols import Tokens

INSPECTED = ("layers", "lipschitz", "shift_gap", "margins", "attention", "description", "geometry")
_SHARP = 0.5  # of the entropy of even spreading, below which attention is called sharp

explain(
    {
        "inspection.what": "{kind}, {parameters} parameters.",
        "inspection.trained": "Trained on {trained}; positions: {positions}.",
        "inspection.context": "Context: {context}; positions: {positions}.",
        "inspection.unlimited": "No limit on its context is known; positions: {positions}.",
        "inspection.certified": "Lipschitz constant at most {value:.3g} (certified)",
        "inspection.uncertified": "no Lipschitz constant can be certified",
        "inspection.invariant": "shift gap 0",
        "inspection.shifted": "shift gap {share_of_output_size:.2g} of the output",
        "inspection.sharp": "attention is sharp ({value:.2g} of {even:.2g} nats)",
        "inspection.diffuse": "attention is diffuse ({value:.2g} of {even:.2g} nats)",
        "inspection.nothing": "No probe found a figure to lead with",
    }
)


@dataclass(frozen=True)
class Inspection:
    """What probes measured on a model. `facts` are pairs of a label and a text; `broken` are the probes that failed
    because of a bug in the program, not because of the model; `seconds` is how long each probe took."""

    model: str
    facts: tuple[tuple[str, str], ...]
    records: tuple[Record, ...]
    broken: tuple[str, ...] = ()
    seconds: Mapping[str, float] = dataclasses.field(default_factory=dict)

    def record(self, source: str) -> Record:
        """The record of this probe."""
        if (found := named(self.records, source)) is None:
            raise KeyError(f"there is no record of {source!r}; there are {', '.join(r.source for r in self.records)}")
        return found

    @property
    def claims(self) -> list[Claim]:
        return [claim for record in self.records for claim in record.claims]

    @property
    def headline(self) -> tuple[str, str, str]:
        """The answer in three lines: what the model is, how far it was trained, and the most telling claims."""
        facts = {"parameters": "an unknown number of", "positions": "unknown"} | dict(self.facts)
        far = next((name for name in ("trained", "context") if name in facts), "unlimited")
        telling = "; ".join(_telling(self.claims)) or sentence("inspection.nothing")
        lines = sentence("inspection.what", facts), sentence(f"inspection.{far}", facts), f"{telling}."
        what, trained, told = (line[:1].upper() + line[1:] for line in lines)
        return what, trained, told

    def plain(self) -> dict[str, Any]:
        """The inspection as JSON-ready data; an infinite number becomes the text "infinite"."""
        records = [record.plain() for record in self.records]
        content = {"headline": self.headline, "facts": dict(self.facts), "records": records}
        return json_ready({**vars(self), **content})


def _telling(claims: Sequence[Claim]) -> list[str]:
    """The claims to lead with, in words."""
    found: dict[str, Claim] = {}
    for claim in claims:
        found.setdefault(claim.key, claim)
    told = []
    if constant := found.get("lipschitz.whole"):
        told.append(("inspection.uncertified" if constant.value is None else "inspection.certified", constant))
    if gap := found.get("shift_gap.largest"):
        small = isinstance(gap.value, float) and gap.value <= gap.evidence["tolerance"]
        told.append(("inspection.invariant" if small else "inspection.shifted", gap))
    if entropy := found.get("attention.entropy"):
        sharp = isinstance(entropy.value, float) and entropy.value < _SHARP * entropy.evidence["even"]
        told.append(("inspection.sharp" if sharp else "inspection.diffuse", entropy))
    return [sentence(key, {**claim.evidence, "value": claim.value}) for key, claim in told]


def inspect(
    model: str | Path | Any,
    *,
    task: str | Task | None = None,
    tokens: Tokens | None = None,
    data: str | Path | None = None,
    size: int | None = None,
    items: int | None = None,
    probes: Sequence[str | Probe] | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Inspection:
    """What is inside a model: layers, norms, Lipschitz constants, shift gap, margins, hubs, geometry, description.

    `model` is anything that `lengthwise.open_subject` opens: the folder of a run, a folder of the Hugging Face Hub
    (config.json and safetensors), a GGUF file, or a model object. It is shown items of `task`, sequences of the file
    `data`, the run's own task, or else the built-in text where it has a tokenizer and made-up sequences where not.
    `tokens` says which tokens of a model of `transformers` the symbols of `task` are, as in `lw.measure`. `items` is
    the number of items (8, or 2 for models with over 20 million parameters). `probes` are names, specs or objects; a
    probe that fails says why in its record.

    >>> lw.inspect("runs/sort-rope-s0-1234abcd").record("shift_gap").claims        # doctest: +SKIP
    """
    from lengthwise.subjects.open import open_subject  # torch

    chosen = [_chosen(one, items, size) for one in (INSPECTED if probes is None else probes)]
    if task is not None and data is not None:
        raise UsageError("the inputs are given twice, by a task and by a file; give one of them")
    if tokens is not None and task is None:
        raise UsageError("a token map says what a task's symbols are; name the task as well")
    made = tasks.make(task) if isinstance(task, str) else task
    context = Context(made, data=None if data is None else str(data), seed=seed, progress=progress)
    context.progress("reading the model", 0, len(chosen))
    subject = open_subject(model, tokens)
    facts = [*subject.facts]
    if subject.offers("anatomy"):
        anatomy, look = subject.capability("anatomy"), look_at(subject, context, items, size)
        assert look.trace  # inputs that the model cannot read are refused here, once for all probes
        facts += [("parameters", f"{anatomy.parameters:,}"), ("inputs", look.inputs.described)]
        facts += [("left out", f"{module}: {reason}") for module, reason in anatomy.skipped]
    records, broken, seconds = [], [], {}
    for number, probe in enumerate(chosen):
        name = called(registry.spec_of(probe).get("name", type(probe).__name__))
        context.progress(name, number, len(chosen))
        began = time.perf_counter()
        try:
            records.append(ask(probe, subject, context))
        except Exception as error:  # one probe's fault must not take the others away
            said = str(error)
            if not isinstance(error, LengthwiseError):
                said = f"internal error: {type(error).__name__}: {' '.join(said.split())}"
                broken.append(name)
            records.append(Record(name, dataclasses.asdict(probe), name, failed=said))  # pyright: ignore
        seconds[name] = round(time.perf_counter() - began, 3)
    return Inspection(subject.name, tuple(facts), tuple(records), tuple(broken), seconds)


def _chosen(asked: str | Probe, items: int | None, size: int | None) -> Probe:
    """The probe of a spec; the number and the size of inputs are those of the inspection, unless it has its own."""
    probe = registry.make(asked) if isinstance(asked, str) else asked
    if not isinstance(probe, WeightsProbe):
        return probe
    return dataclasses.replace(probe, items=probe.items or items, size=probe.size or size)
