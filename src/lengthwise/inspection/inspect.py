"""Inspect a model: one call, every section."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch

from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.inspection.attention import attention  # noqa: F401  # it adds its section to SECTIONS
from lengthwise.inspection.bounds import bounds  # noqa: F401  # so does this
from lengthwise.inspection.content import Inspection, Section
from lengthwise.inspection.geometry import geometry  # noqa: F401  # and this
from lengthwise.inspection.inputs import Inputs, inputs_for
from lengthwise.inspection.sections import LARGE, SECTIONS, Look
from lengthwise.inspection.subject import open_subject
from lengthwise.models.forward import run
from lengthwise.registry import nearest
from lengthwise.tasks.task import Task


def inspect(
    model: str | Path | Any,
    *,
    task: str | Task | None = None,
    data: str | Path | None = None,
    size: int | None = None,
    items: int | None = None,
    sections: Sequence[str] | None = None,
    seed: int = 0,
    listener: Callable[[str], None] | None = None,
) -> Inspection:
    """What is inside a model: layers, norms, Lipschitz constants, shift gap, margins, hubs, geometry, description.

    `model` is the folder of a run, a folder of the Hugging Face Hub (config.json and safetensors), a GGUF file, or a
    model object. It is shown items of `task`, sequences of the file `data`, the run's own task, or else the
    built-in text where it has a tokenizer and made-up sequences where not. `items` is how many (8, or 2 for a model of
    over 20 million parameters). `listener` is told what is being done. A section that cannot be made says why in its
    place.

    >>> lw.inspect("runs/sort-rope-s0-1234abcd").section("shift").claims        # doctest: +SKIP
    """
    listener = listener or (lambda _: None)
    chosen = _chosen(sections)
    listener("reading the model")
    subject = open_subject(model)
    anatomy = subject.anatomy
    usual = 2 if anatomy.parameters > LARGE else 8
    inputs = inputs_for(subject, task, data, size, usual if items is None else items, seed)

    def longer(count: int, longest: int) -> Inputs:
        return inputs_for(subject, task, data, size, count if items is None else items, seed, longest)

    with torch.no_grad():
        look = Look(anatomy, inputs, run(anatomy, inputs.tokens), seed, longer, subject)
    made = []
    for name in chosen:
        listener(name)
        made.append(_made(name, look))
    facts = (*subject.facts, ("parameters", f"{anatomy.parameters:,}"))
    return Inspection(anatomy.name, facts, inputs.described, anatomy.skipped, tuple(made))


def _chosen(sections: Sequence[str] | None) -> list[str]:
    if sections is None:
        return list(SECTIONS)
    for name in sections:
        if name not in SECTIONS:
            near = nearest(name, SECTIONS)
            raise UsageError(f"unknown section {name!r}; {near}there are {', '.join(SECTIONS)}")
    return [name for name in SECTIONS if name in sections]


def _made(name: str, look: Look) -> Section:
    """The section, or in its place the reason why there is none."""
    began = time.perf_counter()
    try:
        found = SECTIONS[name](look)
    except LengthwiseError as error:
        found = Section(name, name.capitalize(), failed=str(error))
    except Exception as error:  # one section's fault must not take the others away
        said = " ".join(str(error).split())
        found = Section(name, name.capitalize(), failed=f"internal error: {type(error).__name__}: {said}", broken=True)
    return Section(**{**vars(found), "seconds": round(time.perf_counter() - began, 3)})
