"""What a bound of tokens speaks of, in words, and what it rests on."""

from __future__ import annotations

import numpy as np

from lengthwise.bounds.tokens.losses import TokenLosses
from lengthwise.bounds.tokens.problem import Problem
from lengthwise.records import Assumption

PRIOR = "what decodes the message (format, tokens, architectures) was fixed before the data were seen"
DECODED = "the losses are those of the model that the message decodes to"
TRAINING = "the data are those that the model was trained on, or data it was not chosen by"
PAST = "the model predicts each token from earlier tokens alone"
COUNT = "the number of tokens was fixed before they were drawn (if not, add `count_bits` to the message)"
FIXED_DOCUMENTS = "the number of documents was fixed before they were drawn"
INDEPENDENT = "documents were drawn independently of each other, and are predicted independently of each other"
AFTERWARDS = "the sample was drawn after the model was trained, by chance alone"


def quantity_of(problem: Problem) -> str:
    """In words what is bounded."""
    if problem.target == "loss":
        loss = "surprise -ln p of the smoothed model, in nats a token"
    else:
        k = problem.target.removeprefix("top")
        loss = f"share of tokens that are not among the {k} the model finds likeliest"
    if problem.level == "documents":
        return f"expected {loss}, in a fresh document from where the training documents came (a mean over its tokens)"
    return f"expected {loss}, averaged over the contexts of the training data; it says nothing of fresh documents"


def assumptions_of(problem: Problem, losses: TokenLosses) -> list[Assumption]:
    """What the bound rests on, and what of it could be seen from the losses."""
    texts = [PRIOR, DECODED, TRAINING, PAST]
    texts += [INDEPENDENT, FIXED_DOCUMENTS] if problem.level == "documents" else [COUNT]
    made = [Assumption(text) for text in texts]
    if problem.price is None:
        return made
    made.append(Assumption(AFTERWARDS))
    if problem.level == "documents":
        return [*made, Assumption("documents of the sample were drawn uniformly, none twice")]
    lengths = np.diff(np.append(losses.starts, len(losses)))
    if lengths.min() == lengths.max():
        text = f"the training data are units of {lengths[0]} tokens, and those of the sample were drawn uniformly"
    else:
        text = "units of the sample were drawn in proportion to their length, with replacement"
    return [*made, Assumption(text)]
