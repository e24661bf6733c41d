"""A subject read with another scaling of RoPE, as context extension does it. Nothing that is stored changes."""

from __future__ import annotations

import dataclasses

from lengthwise.errors import UsageError
from lengthwise.models.architecture import Architecture
from lengthwise.models.network import fresh_network
from lengthwise.models.scaled_rope import rescaled
from lengthwise.models.transformer import Transformer
from lengthwise.positions.scaling import RopeScaling, make_scaling
from lengthwise.subjects.hub import HubSubject
from lengthwise.subjects.run import OwnSubject
from lengthwise.subjects.subject import Subject


def scaled(subject: Subject, scaling: str | RopeScaling, room: float = 0.0) -> Subject:
    """The subject with this scaling of RoPE: a model of ours, a Hub folder, a GGUF file or a model of `transformers`.

    The context of a language model becomes factor x original length; `room` takes the place of the factor for `none`
    and `dynamic` where they have none. `own` is the subject itself. Weights are shared, not copied. The scaling is part
    of the name, by which prompts and answers are kept.

    >>> scaled(open_subject("model.gguf"), "yarn:factor=4").capability("completions")    # doctest: +SKIP
    """
    scaling = make_scaling(scaling) if isinstance(scaling, str) else scaling
    if scaling.kind == "own":
        return subject
    if isinstance(subject, OwnSubject):
        return _of_ours(subject, scaling)
    if not isinstance(subject, HubSubject):
        raise UsageError(f"RoPE can be scaled only in a run, a Hub folder or a GGUF file, and not in {subject.name}")
    return subject.reread(lambda model: rescaled(model, scaling, room), str(scaling))


def _of_ours(subject: OwnSubject, scaling: RopeScaling) -> OwnSubject:
    """A Transformer of ours, rebuilt with the encoding and given the same weights."""
    own = subject.model.architecture
    if not isinstance(subject.model, Transformer) or not isinstance(own, Architecture):
        raise UsageError(f"{subject.name} is not our Transformer, so there is no RoPE to scale")
    architecture = dataclasses.replace(own, position=scaling.position(own.position))
    model = fresh_network(architecture, subject.model.interface, 0)
    model.load_state_dict(subject.model.state_dict())
    return OwnSubject(f"{subject.name}, rope {scaling}", model.eval(), subject.folder, subject.run)
