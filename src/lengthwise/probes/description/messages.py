"""A model as a message: written down with several quantisers and decoded back, with its loss and the number of training
tokens that a bound below chance would take.

The description is a message that was written and decoded (docs/explanation/compression.md), not an estimate. The loss
is that on the inputs shown, which are not the training data: what it says about a bound is a prediction. The probe
`guarantee` computes the bound itself.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from lengthwise.bounds.compression import decode, encode, make_quantiser
from lengthwise.bounds.compression.gguf_file import message_of_gguf
from lengthwise.bounds.plan import GuaranteePlan, tokens_for
from lengthwise.bounds.plan_methods import FITTED, AzumaMethod, FreedmanMethod, PlanMethod, TrainingRun
from lengthwise.messages import explain
from lengthwise.probes.shown import Look
from lengthwise.probes.shown.inputs import Inputs
from lengthwise.records import Assumption, Claim, Column, Reference, Table
from lengthwise.subjects.predictor import ModelWeights, Predictor

QUANTISERS = ("kmeans:levels=4", "kmeans:levels=16", "kmeans:levels=64", "exact")
QUANTISERS_OF_A_LARGE_MODEL = ("uniform:levels=128",)

explain(
    {
        "description.length": "length of a description ({made})",
        "description.loss_before": "loss before quantisation",
        "description.loss_after": "loss after quantisation",
        "description.loss": "loss of the model as it was read",
        "description.tokens": "training tokens for a bound below chance, by {method}",
        "description.decoded": "the message was written, and decoded back to the original",
        "description.tokenizer": "the tokenizer in the file is not charged: it was fixed before the training data were "
        "seen",
        "description.these_inputs": "only these inputs were used, and they are not the training data",
        "description.same_loss": "the loss on the training data is that on the inputs shown",
    }
)


@dataclass(frozen=True)
class MessageOfModel:
    """A message: how it was made, its bits by part, and the loss of the model that it decodes to.

    `lossless`: it decodes to the very weights that were read; `file`: it is the GGUF file itself.
    """

    made: str
    bits: int
    parts: Mapping[str, int]
    weights: int
    loss: float | None
    lossless: bool = False
    file: bool = False

    @property
    def each(self) -> float:
        return self.bits / self.weights


def description_content(look: Look) -> dict[str, Any]:
    """Text, claims and the table of the record."""
    weights: ModelWeights = look.subject.capability("weights")
    before = loss_of(weights, look.inputs)
    outputs = None if before is None or not isinstance(weights, Predictor) else weights.vocabulary
    found = _messages(look, weights, before)
    needed = [_tokens(message, AzumaMethod(), outputs) for message in found]
    best = min(range(len(found)), key=lambda n: (needed[n] or math.inf, found[n].bits))
    claims = [_length(found[best])]
    if before is not None and outputs is not None:
        claims += _losses(found[best], before, outputs, look)
        claims.append(_tokens_claim(found[best], AzumaMethod(), outputs))  # it needs only the range of the losses
        if FITTED[0] <= found[best].weights <= FITTED[1]:  # Freedman's needs a fit that was made for some sizes alone
            claims.append(_tokens_claim(found[best], FreedmanMethod(), outputs))
    table = _table(found, needed, before)
    return {"text": _text(found, before, weights, look), "claims": tuple(claims), "tables": (table,)}


# --- messages and losses --------------------------------------------------------------------------------------------


def _messages(look: Look, weights: ModelWeights, before: float | None) -> list[MessageOfModel]:
    """The blocks of a GGUF file as they are; else the weights on a few levels, by several quantisers."""
    if look.subject.offers("gguf"):
        message = message_of_gguf(look.subject.capability("gguf"))
        made = "the blocks of the file"
        return [MessageOfModel(made, message.bits, message.parts, message.numbers, before, True, file=True)]
    tensors, header = weights.tensors(), json.loads(json.dumps(weights.header(), default=str))
    made = []
    for spec in QUANTISERS_OF_A_LARGE_MODEL if look.large else QUANTISERS:
        message = encode(tensors, header, make_quantiser(spec))
        decoded = None if before is None else weights.with_weights(decode(message.data)[1])
        loss = None if decoded is None else loss_of(decoded, look.inputs)
        made.append(MessageOfModel(spec, message.bits, message.parts, message.numbers, loss, spec == "exact"))
    return made


@torch.no_grad()
def loss_of(weights: ModelWeights, inputs: Inputs) -> float | None:
    """The mean loss in nats over what the inputs ask for; None where that is nothing, or the model predicts nothing."""
    if inputs.targets is None or not isinstance(weights, Predictor):
        return None
    asked = inputs.targets != -1
    logits = weights.logits(weights.states(inputs.tokens, asked)).cpu()
    return float(torch.nn.functional.cross_entropy(logits.double(), inputs.targets[asked]))


def _plan(message: MessageOfModel, method: PlanMethod, outputs: int) -> GuaranteePlan:
    # A plan is made for some number of tokens; what is asked of it is another.
    return GuaranteePlan(TrainingRun(message.weights, 1e9, message.each, outputs), method, message.loss)


def _tokens(message: MessageOfModel, method: PlanMethod, outputs: int | None) -> float | None:
    """The fewest tokens at which a bound would be below chance; None where there is no loss, or it is above chance."""
    if outputs is None or outputs < 2 or message.loss is None:
        return None
    plan = _plan(message, method, outputs)
    return None if plan.break_even is None or plan.break_even <= 0 else tokens_for(plan, plan.break_even)


# --- words and claims -----------------------------------------------------------------------------------------------


def _text(found: list[MessageOfModel], before: float | None, weights: ModelWeights, look: Look) -> tuple[str, ...]:
    text = (
        "A bound charges every bit that is needed to write the model down. These messages were written and decoded "
        "back; losses after quantisation are those of the decoded model.",
    )
    if before is None:
        headed = isinstance(weights, Predictor)
        why = "is not shown anything it could be asked for" if headed else "has no output head"
        return (*text, f"There is no loss, because the model {why}: only the length of its description is known.")
    text += (
        "Tokens: the training tokens that a token-level bound would need to be below chance, if the loss on them were "
        "that on the inputs shown. That is a prediction; `lengthwise bound` computes the bound of a model on its data.",
    )
    if len(found) == 1 and look.large:
        text += ("Because the model is large, only one description was made.",)
    return text


def _length(message: MessageOfModel) -> Claim:
    rests_on = [Assumption("description.decoded", "checked")]
    if message.file:
        rests_on.append(Assumption("description.tokenizer"))
    evidence = {"made": message.made, "parts": dict(message.parts), "weights": message.weights}
    evidence["bits_per_weight"] = message.each
    source, bits = Reference("docs/explanation/compression.md"), message.bits
    return Claim("description.length", bits, "bits", "certified", "holds", None, tuple(rests_on), source, evidence)


def _losses(message: MessageOfModel, before: float, outputs: int, look: Look) -> list[Claim]:
    asked = 0 if look.inputs.targets is None else int((look.inputs.targets != -1).sum())
    losses = {"description.loss_before": before, "description.loss_after": message.loss}
    if message.lossless:
        losses = {"description.loss": before}
    return [
        Claim(
            key=key,
            value=value,
            unit="nats per token",
            kind="measured",
            status="holds" if value < math.log(outputs) else "vacuous",
            assumptions=(Assumption("description.these_inputs"),),
            evidence={"bits_per_token": value / math.log(2), "chance": math.log(outputs), "tokens": asked},
        )
        for key, value in losses.items()
        if value is not None
    ]


def _tokens_claim(message: MessageOfModel, method: PlanMethod, outputs: int) -> Claim:
    value, plan = _tokens(message, method, outputs), _plan(message, method, outputs)
    chances = {"chance": plan.run.chance, "delta": plan.run.delta}
    return Claim(
        key="description.tokens",
        value=value,
        unit="tokens",
        kind="predicted",
        status="unknown" if value is None else "holds",
        assumptions=(Assumption("description.same_loss"), *method.assumptions(plan.run)),
        reference=method.reference,
        evidence={"loss": message.loss, "bits": message.bits, "method": method.title, **chances},
    )


def _table(found: list[MessageOfModel], needed: list[float | None], before: float | None) -> Table:
    rows = []
    for one, tokens in zip(found, needed, strict=True):
        # What quantisation added, rounded: sums differ in their last digits.
        added = None if one.loss is None or before is None else round(one.loss - before, 12)
        rows.append((one.made, one.bits, one.each, one.loss, added, tokens))
    numbers = ("bits_per_weight", "loss", "quantisation", "tokens")
    columns = (Column("made_by", "text"), Column("bits", "whole"), *map(Column, numbers))
    note = (
        "loss: of the decoded model, in nats per token; quantisation: the loss it added; tokens: for a bound below "
        f"chance, by {AzumaMethod.title}"
    )
    return Table("description.messages", columns, tuple(rows), "Descriptions", note)
