"""The next token by an engine and by our forward pass, at several lengths of the same text."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import torch

from lengthwise.errors import UsageError
from lengthwise.messages import explain
from lengthwise.models.placed import precise
from lengthwise.models.scaled_rope import by_transformers
from lengthwise.probes.conformance import TRANSFORMERS
from lengthwise.probes.perplexity.bands import text_tokens
from lengthwise.probes.probe import Context
from lengthwise.records import Claim, Record, Table, columns
from lengthwise.subjects.endpoint import SCHEME, Endpoint, next_token, open_endpoint
from lengthwise.subjects.hub import HubSubject
from lengthwise.subjects.predictor import Predictor, TheirPredictor
from lengthwise.subjects.tokenizer import TextTokenizer

if TYPE_CHECKING:
    from lengthwise.probes.conformance import ConformanceProbe
    from lengthwise.subjects.subject import Subject

_SHARES = (8, 2, 1)  # of the context, as divisors
_CONSIDERED = 100  # of our likeliest tokens, among which those of the engine are looked for
_MOST = 5  # of the engine's likeliest tokens

explain({"conformance.difference": "largest difference of a log-probability, {tokens:,} tokens"})


def compare_engine(probe: ConformanceProbe, subject: Subject, context: Context) -> Record:
    """The record: the largest difference at each length, and whether the engine agrees with our forward pass."""
    predictor: Predictor = subject.capability("predictor")
    ask, tokenizer = _engine(probe.engine, subject), subject.capability("tokenizer")
    tokens, text = text_tokens(subject, context.data)
    longest = min(predictor.longest or len(tokens), len(tokens)) - 1
    lengths = sorted({max(2, longest // share) for share in _SHARES}) if not context.sizes else sorted(context.sizes)
    if lengths[-1] > longest:
        raise UsageError(f"{subject.name} is asked about at most {longest:,} tokens of {text}, not {lengths[-1]:,}")
    rows, claims = [], []
    for number, length in enumerate(lengths):
        context.progress(f"comparing at {length:,} tokens", number, len(lengths))
        apart = (len(tokens) - length) // probe.prompts
        found = [
            _difference(_ours(predictor, tokenizer, prompt), ask(prompt))
            for prompt in (tokens[start * apart : start * apart + length] for start in range(probe.prompts))
        ]
        largest, compared = max(one for one, _ in found), sum(count for _, count in found)
        agrees = largest <= probe.tolerance
        rows.append((length, compared, largest, agrees))
        evidence = {"tokens": length, "prompts": probe.prompts, "compared": compared, "tolerance": probe.tolerance}
        status = "holds" if agrees else "refuted"
        claims.append(Claim("conformance.difference", largest, "nats", "measured", status, evidence=evidence))
    context.progress("compared", len(lengths), len(lengths))
    wrong = [row for row in rows if not row[-1]]
    worst = max(rows, key=lambda row: row[2])
    verdict = f"differs at {', '.join(f'{row[0]:,}' for row in wrong)} tokens" if wrong else "agrees at all lengths"
    described = "size:whole tokens | compared:whole log-probabilities | largest:number largest difference, nats"
    return Record(
        "conformance",
        title=f"{subject.name}, compared with {probe.engine}",
        text=(f"The engine {verdict}: the largest difference is {worst[2]:.3g} nats, at {worst[0]:,} tokens.",),
        claims=tuple(claims),
        tables=(
            Table(
                "conformance.lengths",
                columns(f"{described} | agrees:truth"),
                tuple(rows),
                "log-probabilities of the next token",
            ),
        ),
        data={"subject": subject.name, "engine": probe.engine, "text": text, "agrees": not wrong},
    )


def _engine(spec: str, subject: Subject) -> Callable[[list[int]], Mapping[str, float]]:
    """What gives an engine's likeliest next tokens after a prompt, with their log-probabilities."""
    if spec.startswith(f"{SCHEME}:"):
        return _server(open_endpoint(spec).endpoint, subject.capability("tokenizer"))
    if spec != TRANSFORMERS or not isinstance(subject, HubSubject):
        raise UsageError(
            f"an engine is {SCHEME}:URL,model=NAME, or {TRANSFORMERS} for a Hub folder or a GGUF file, not {spec!r}"
        )
    theirs = TheirPredictor(by_transformers(subject.decoder))
    tokenizer: TextTokenizer = subject.capability("tokenizer")
    return lambda prompt: dict(list(_ours(theirs, tokenizer, prompt).items())[:_MOST])


def _server(endpoint: Endpoint, tokenizer: TextTokenizer) -> Callable[[list[int]], Mapping[str, float]]:
    """A server that takes no token numbers is given their text from then on, where it is cut into the same tokens."""
    numbers = True

    def ask(prompt: list[int]) -> Mapping[str, float]:
        nonlocal numbers
        text = tokenizer.text(prompt)
        same = tokenizer.cut(text) == prompt
        if not numbers and not same:
            raise UsageError("the server accepts only text, and it splits a passage of this text into other tokens")
        try:
            return next_token(endpoint, prompt if numbers else text, len(prompt), _MOST)
        except UsageError as refusal:
            if not numbers or not same:
                raise
            try:
                found = next_token(endpoint, text, len(prompt), _MOST)
            except UsageError:
                raise refusal from None
            numbers = False
            return found

    return ask


@torch.inference_mode()
def _ours(predictor: Predictor, tokenizer: TextTokenizer, prompt: list[int]) -> dict[str, float]:
    """The likeliest next tokens by our forward pass, as texts. Of tokens with the same text the likeliest is meant;
    those that are no text by themselves are left out."""
    scored = torch.zeros(1, len(prompt), dtype=torch.bool)
    scored[:, -1] = True
    states = predictor.states(torch.tensor([prompt]), scored)
    log_p = precise(predictor.logits(states)[0]).log_softmax(dim=-1)
    values, tokens = log_p.topk(min(_CONSIDERED, len(log_p)))
    found: dict[str, float] = {}
    for value, token in zip(values.tolist(), tokens.tolist(), strict=True):
        found.setdefault(json.loads(tokenizer.name(token)), value)
    return found


def _difference(ours: Mapping[str, float], theirs: Mapping[str, float]) -> tuple[float, int]:
    """The largest difference, and the number of tokens that were compared. A token that is not among our likeliest
    differs by at least as much as the least likely of them."""
    least = min(ours.values())
    readable = {text: value for text, value in theirs.items() if "\ufffd" not in text and not text.startswith("bytes:")}
    if not readable:
        raise UsageError("the engine gives no log-probability of a token that is a text by itself")
    apart = [abs(value - ours[text]) if text in ours else max(0.0, value - least) for text, value in readable.items()]
    return max(apart), len(apart)
