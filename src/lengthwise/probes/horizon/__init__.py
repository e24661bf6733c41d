"""How far back a trained model with ALiBi can see: a window of tokens, certified from its weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lengthwise.errors import UsageError
from lengthwise.messages import explain, sentence
from lengthwise.models.attention.softmax import Softmax
from lengthwise.oracle.horizons import alibi_window, horizon, logit_spread, sight
from lengthwise.positions.encodings import Alibi
from lengthwise.probes.probe import Context, Probe, probes
from lengthwise.records import Assumption, Claim, Record, Reference, Table, columns

if TYPE_CHECKING:
    from lengthwise.models.parts import AttentionPart, NormPart
    from lengthwise.subjects.subject import Subject

_COLUMNS = columns(
    "block:whole | head:whole | slope | spread:number largest difference of two logits | half:whole half of the weight "
    "within | window:whole no weight beyond"
)
explain(
    {
        "horizon.window": "last tokens that an answer can depend on, in float32",
        "horizon.answer": "An answer depends on the last {window:,} tokens at most, whatever the input: further away "
        "attention is 0 in float32.",
        "horizon.note": "tokens; for the worst input, from the weights alone (docs/explanation/horizons.md)",
    }
)


@probes.register("horizon")
@dataclass(frozen=True)
class HorizonProbe(Probe):
    """How far back attention with ALiBi can see, certified from the weights."""

    needs = ("transformer", "anatomy")

    def measure(self, subject: Subject, context: Context) -> Record:  # noqa: ARG002
        architecture, anatomy = subject.capability("transformer").architecture, subject.capability("anatomy")
        rule = architecture.attention
        if not isinstance(architecture.position, Alibi) or not isinstance(rule, Softmax) or not architecture.causal:
            raise UsageError(
                f"a horizon is computed only for decoders with alibi and softmax, and {subject.name} is not one"
            )
        if architecture.position.share < 1:
            raise UsageError(f"a horizon needs a slope in every head, and {subject.name} has heads without one")
        sharpness = 1 / rule.temperature
        rows = []
        for layer, block in enumerate(anatomy.blocks):
            spreads = spreads_of(block.attention, block.norm_attention)
            for head, slope in enumerate(architecture.position.slopes(block.attention.heads)):
                bound = sharpness * slope, sharpness * spreads[head]
                rows.append((layer, head, bound[0], bound[1], horizon(*bound), alibi_window(*bound)))
        windows = [max(row[-1] for row in rows if row[0] == layer) for layer in range(len(anatomy.blocks))]
        window = sight(windows)
        claim = Claim(
            "horizon.window",
            window,
            "tokens",
            "certified",
            assumptions=(Assumption("horizon.order"),),
            reference=Reference("docs/explanation/horizons.md", "theorem 1"),
            evidence={"windows": windows, "smallest_slope": min(row[2] for row in rows)},
        )
        note = sentence("horizon.note")
        table = Table("horizon.heads", _COLUMNS, tuple(rows), "how far back each head sees", note)
        text = (sentence("horizon.answer", {"window": window}),)
        return Record("horizon", title="horizon of attention", text=text, claims=(claim,), tables=(table,))


def spreads_of(attention: AttentionPart, norm: NormPart) -> list[float]:
    """The spread of each head of a pre-norm block, without the bias of its encoding."""

    def numbers(tensor: Any) -> Any:
        return tensor.detach().double().cpu().numpy()

    gain = numbers(norm.weight)
    shift = numbers(norm.bias) if norm.bias is not None else 0 * gain
    found = []
    for head in range(attention.heads):
        queries, keys = numbers(attention.wq[head]), numbers(attention.wk[head])
        offset = numbers(attention.bq[head]) if attention.bq is not None else 0 * queries[:, 0]
        found.append(logit_spread(queries, offset, keys, gain, shift))
    return found
