"""What a bound on tokens is about, in words, and the assumptions behind it."""

from __future__ import annotations

from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.bounds.tokens.problem import BoundProblem
from lengthwise.messages import explain, sentence
from lengthwise.records import Assumption

PRIOR, DECODED, TRAINING, PAST = "tokens.prior", "tokens.decoded", "tokens.training", "tokens.past"
COUNT, FIXED_DOCUMENTS = "tokens.count_fixed", "tokens.documents_fixed"
INDEPENDENT, AFTERWARDS = "tokens.independent", "tokens.afterwards"
OF_SAMPLE = ("tokens.documents_drawn", "tokens.units_drawn", "tokens.units_in_proportion")

explain(
    {
        PRIOR: "what decodes the message (format, tokens, architectures) was fixed before the data were seen",
        DECODED: "the losses are those of the model that the message decodes to",
        TRAINING: "the data are those that the model was trained on, or data it was not chosen by",
        PAST: "the model predicts each token from earlier tokens alone",
        COUNT: "the number of tokens was fixed before they were drawn (if not, add `count_bits` to the message)",
        FIXED_DOCUMENTS: "the number of documents was fixed before they were drawn",
        INDEPENDENT: "documents were drawn independently of each other, and are predicted independently of each other",
        AFTERWARDS: "the sample was drawn at random, after the model was trained",
        "tokens.documents_drawn": "documents of the sample were drawn uniformly, none twice",
        "tokens.units_drawn": "the training data are units of {length} tokens, and the sample was drawn uniformly",
        "tokens.units_in_proportion": "units of the sample were drawn in proportion to their length, with replacement",
        "tokens.quantity.loss": "expected surprise -ln p of the smoothed model, in nats per token",
        "tokens.quantity.top": "expected share of tokens that are not among the {k} most likely according to the model",
        "tokens.quantity.documents": (
            "{loss}, in a fresh document from the source of the training documents (a mean over its tokens)"
        ),
        "tokens.quantity.tokens": (
            "{loss}, averaged over the contexts of the training data; it says nothing about fresh documents"
        ),
    }
)


def quantity_of(problem: BoundProblem) -> str:
    """What is bounded, in words."""
    key = "tokens.quantity.loss" if problem.target == "loss" else "tokens.quantity.top"
    loss = sentence(key, {"k": problem.target.removeprefix("top")})
    return sentence(f"tokens.quantity.{problem.level}", {"loss": loss})


def assumptions_of(problem: BoundProblem, losses: TokenLosses) -> list[Assumption]:
    """The assumptions of the bound, and which of them could be checked from the losses."""
    keys = [PRIOR, DECODED, TRAINING, PAST]
    keys += [INDEPENDENT, FIXED_DOCUMENTS] if problem.level == "documents" else [COUNT]
    if problem.price is None:
        return [Assumption(key) for key in keys]
    made = [Assumption(key) for key in (*keys, AFTERWARDS)]
    if problem.level == "documents":
        return [*made, Assumption("tokens.documents_drawn")]
    lengths = losses.lengths
    if lengths.min() == lengths.max():
        return [*made, Assumption("tokens.units_drawn", values={"length": int(lengths[0])})]
    return [*made, Assumption("tokens.units_in_proportion")]
