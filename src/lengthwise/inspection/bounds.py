"""The section `bounds`: how short the model can be described, what that costs in loss, and how many training tokens a
bound below chance would take.

The description is a message that was written and decoded back (docs/compression.md), not an estimate. The loss is that
on the inputs shown, which are not the training data: what it says about a bound is a prediction. `lengthwise bound`
computes the bound itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from lengthwise.bounds.compression import decode, encode, make_quantiser
from lengthwise.bounds.plan import GuaranteePlan, tokens_for
from lengthwise.bounds.plan_methods import FITTED, AzumaMethod, FreedmanMethod, PlanMethod, TrainingRun
from lengthwise.inspection.content import Section, Table
from lengthwise.inspection.description import arrays_of, header_of, with_arrays
from lengthwise.inspection.sections import LARGE, Look, section
from lengthwise.models.forward import run
from lengthwise.models.parts import Anatomy
from lengthwise.records import Assumption, Claim, Reference

QUANTISERS = ("kmeans:levels=4", "kmeans:levels=16", "kmeans:levels=64", "exact")
QUANTISERS_OF_A_LARGE_MODEL = ("uniform:levels=128",)
FILE = "the blocks of the file"
COMPRESSION = Reference("docs/compression.md")


@dataclass(frozen=True)
class Description:
    """A message of the model: how it was made, its bits by part, and the loss of the model it decodes to.

    `lossless`: it decodes to the very weights that were read.
    """

    made: str
    bits: int
    parts: Mapping[str, int]
    weights: int
    loss: float | None
    lossless: bool = False

    @property
    def each(self) -> float:
        return self.bits / self.weights


@section("bounds")
def bounds(look: Look) -> Section:
    """Descriptions, losses and tokens."""
    targets, logits = look.inputs.targets, look.trace.logits
    outputs = None if logits is None or targets is None else logits.shape[-1]
    before = None if logits is None or targets is None else loss_of(logits, targets)
    found = _descriptions(look, before)
    method: PlanMethod = AzumaMethod()
    needed = [_tokens(description, method, outputs) for description in found]
    best = min(range(len(found)), key=lambda n: (needed[n] or math.inf, found[n].bits))
    claims = [_length(found[best], look)]
    if before is not None and outputs is not None:
        claims += _losses(found[best], before, outputs, look)
        claims += [_tokens_claim(found[best], kind, outputs) for kind in _methods(found[best])]
    return Section("bounds", "Bounds", _text(found, before, look), tuple(claims), (_table(found, needed, before),))


# --- messages and losses --------------------------------------------------------------------------------------------


def _descriptions(look: Look, before: float | None) -> list[Description]:
    """The blocks of a GGUF file as they are; else the weights on a few levels, by several quantisers."""
    anatomy, subject = look.anatomy, look.subject
    if subject is not None and subject.gguf is not None:
        from lengthwise.bounds.compression.gguf_file import message_of_gguf

        message = message_of_gguf(subject.gguf)
        return [Description(FILE, message.bits, message.parts, message.numbers, before, lossless=True)]
    arrays, header = arrays_of(anatomy), header_of(anatomy, () if subject is None else subject.facts)
    made = []
    for spec in QUANTISERS_OF_A_LARGE_MODEL if anatomy.parameters > LARGE else QUANTISERS:
        message = encode(arrays, header, make_quantiser(spec))
        loss = None
        if before is not None:
            loss = _loss_of_parts(with_arrays(anatomy, decode(message.data)[1]), look)
        made.append(Description(spec, message.bits, message.parts, message.numbers, loss, spec == "exact"))
    return made


def _loss_of_parts(anatomy: Anatomy, look: Look) -> float:
    with torch.no_grad():
        logits = run(anatomy, look.inputs.tokens).logits
    assert logits is not None and look.inputs.targets is not None
    return loss_of(logits, look.inputs.targets)


def loss_of(logits: Tensor, targets: Tensor) -> float:
    """The mean loss in nats over what is asked for, [B, T]; -1 stands where nothing is."""
    flat = torch.nn.functional.cross_entropy(logits.double().flatten(0, 1), targets.flatten(), ignore_index=-1)
    return float(flat)


def _methods(description: Description) -> list[PlanMethod]:
    """Azuma's needs nothing of the losses but their range; Freedman's a fit that was made for some sizes alone."""
    fitted = FITTED[0] <= description.weights <= FITTED[1]
    return [AzumaMethod(), FreedmanMethod()] if fitted else [AzumaMethod()]


def _plan(description: Description, method: PlanMethod, outputs: int) -> GuaranteePlan:
    # A plan needs some number of tokens to stand on; what is asked of it is another.
    return GuaranteePlan(TrainingRun(description.weights, 1e9, description.each, outputs), method, description.loss)


def _tokens(description: Description, method: PlanMethod, outputs: int | None) -> float | None:
    """The fewest tokens at which a bound would be below chance; None where there is no loss, or it is above chance."""
    if outputs is None or outputs < 2 or description.loss is None:
        return None
    plan = _plan(description, method, outputs)
    return None if plan.break_even is None or plan.break_even <= 0 else tokens_for(plan, plan.break_even)


# --- words and claims -----------------------------------------------------------------------------------------------


def _text(found: list[Description], before: float | None, look: Look) -> tuple[str, ...]:
    text = (
        "A bound charges every bit that is needed to write the model down. The messages here were written and decoded "
        "back; losses after quantisation are those of what was decoded.",
    )
    if before is None:
        why = "has no output head" if look.trace.logits is None else "is not shown anything it could be asked for"
        return (*text, f"There is no loss, as the model {why}: the length of its description is all that can be said.")
    text += (
        "Tokens: how many training tokens a token-level bound would need to be below chance, if the loss on them were "
        "that on the inputs shown. That is a prediction; `lengthwise bound` computes the bound of a model on its data.",
    )
    if len(found) == 1 and look.anatomy.parameters > LARGE:
        text += ("As the model is large, one description of it was made.",)
    return text


def _length(description: Description, look: Look) -> Claim:
    left_out = look.anatomy.parameters - description.weights
    whole = Assumption("the message was written, and decoded back to what was meant", "checked")
    partly: tuple[Assumption, ...] = ()
    if left_out > 0:
        text = f"the message holds all weights; {left_out:,} of {look.anatomy.parameters:,} are in no part of it"
        partly = (Assumption(text, "violated"),)
    if description.made == FILE:
        text = "the tokenizer in the file is not charged: it was fixed before the training data were seen"
        partly += (Assumption(text),)
    return Claim(
        key=f"length of a description ({description.made})",
        value=description.bits,
        unit="bits",
        kind="certified",
        assumptions=(whole, *partly),
        reference=COMPRESSION,
        evidence={"parts": dict(description.parts), "weights": description.weights, "bits a weight": description.each},
    )


def _losses(description: Description, before: float, outputs: int, look: Look) -> list[Claim]:
    seen = (Assumption("only these inputs were looked at, and they are not the training data"),)
    asked = int((look.inputs.targets != -1).sum()) if look.inputs.targets is not None else 0
    losses = {"before quantisation": before, "after quantisation": description.loss}
    if description.lossless:
        losses = {"of the model in the file" if description.made == FILE else "as it is": before}
    return [
        Claim(
            key=f"loss {when}",
            value=value,
            unit="nats a token",
            kind="measured",
            status="holds" if value < math.log(outputs) else "vacuous",
            assumptions=seen,
            evidence={"bits a token": value / math.log(2), "chance": math.log(outputs), "tokens": asked},
        )
        for when, value in losses.items()
        if value is not None
    ]


def _tokens_claim(description: Description, method: PlanMethod, outputs: int) -> Claim:
    value = _tokens(description, method, outputs)
    plan = _plan(description, method, outputs)
    return Claim(
        key=f"training tokens for a bound below chance, by {method.title}",
        value=value,
        unit="tokens",
        kind="predicted",
        status="unknown" if value is None else "holds",
        assumptions=(
            Assumption("the loss on the training data is that on the inputs shown"),
            *method.assumptions(plan.run),
        ),
        reference=method.reference,
        evidence={
            "loss": description.loss,
            "chance": plan.run.chance,
            "bits": description.bits,
            "delta": plan.run.delta,
        },
    )


def _table(found: list[Description], needed: list[float | None], before: float | None) -> Table:
    rows = [
        (one.made, one.bits, one.each, one.loss, _lost(one.loss, before), tokens)
        for one, tokens in zip(found, needed, strict=True)
    ]
    return Table(
        "Descriptions",
        ("made by", "bits", "bits a weight", "loss", "quantisation", "tokens"),
        tuple(rows),
        "loss: of the decoded model, in nats a token; quantisation: what it lost; tokens: for a bound below chance, by "
        f"{AzumaMethod.title}",
    )


def _lost(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else round(after - before, 12)  # sums differ in their last digits
