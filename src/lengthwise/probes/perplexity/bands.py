"""Losses of a text's tokens, in bands of positions."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

from lengthwise.errors import UsageError
from lengthwise.figures.plots import line_figure
from lengthwise.messages import explain
from lengthwise.models.placed import precise
from lengthwise.probes.probe import Context
from lengthwise.reading import read_text
from lengthwise.records import Assumption, Claim, Record, Table, columns
from lengthwise.seeds import Floats
from lengthwise.statistics.means import mean_interval
from lengthwise.subjects.predictor import OurPredictor, Predictor
from lengthwise.tasks.batch import BOS, SPECIALS
from lengthwise.tasks.prose import Prose, encode
from lengthwise.text import TITLE, built_in_text

if TYPE_CHECKING:
    from lengthwise.probes.perplexity import PerplexityProbe
    from lengthwise.subjects.subject import Subject

BANDS = "perplexity.bands"
MOST, _SHORTEST = 8192, 8  # tokens of a window, unless asked for; the least that make bands
_DOUBLINGS, _BLOCK = 6, 64  # bands; most tokens of a stretch whose mean is one observation
_CELLS = 1 << 23  # logits that exist at once

explain(
    {
        "perplexity.nats": "mean loss after reading {first:,} to {last:,} tokens",
        "perplexity.stretches": "means of stretches of {block} tokens are independent of each other",
    }
)


def losses_by_band(probe: PerplexityProbe, subject: Subject, context: Context) -> Record:
    """The record: mean loss in nats per token in each band of positions, with intervals over stretches of tokens."""
    predictor: Predictor = subject.capability("predictor")
    if not predictor.causal:
        raise UsageError(f"{subject.name} also sees what comes after a token, so its losses say nothing about a text")
    tokens, name = text_tokens(subject, context.data)
    usual = 4 * predictor.model.interface.trained if isinstance(predictor, OurPredictor) else predictor.longest
    length = min(probe.length or min(usual or MOST, MOST), len(tokens) - 1)
    if length < _SHORTEST:
        raise UsageError(f"windows of a text have {_SHORTEST} tokens or more, and those of {name} would have {length}")
    count = min(probe.windows, len(tokens) // (length + 1))
    starts = [number * (len(tokens) // count) for number in range(count)]
    edges = [0, *sorted(length >> power for power in range(_DOUBLINGS) if length >> power >= _SHORTEST)]
    read = min(length, predictor.longest or length)
    block = max(1, min(_BLOCK, edges[1] // 4))
    means: list[list[float]] = [[] for _ in edges[1:]]  # of stretches, by band
    for number, start in enumerate(starts):
        context.progress(f"perplexity of {subject.name}", number, count)
        losses = _losses(predictor, tokens[start : start + read + 1], edges)
        for band, (first, last) in enumerate(pairwise(edges)):
            means[band] += _stretches(losses[first:last], block)
    context.progress(f"perplexity of {subject.name}", count, count)
    return _record(subject.name, name, edges, means, {"length": length, "windows": count, "block": block})


def text_tokens(subject: Subject, path: str | None) -> tuple[list[int], str]:
    """The tokens of a text, and what it is called."""
    text = built_in_text() if path is None else read_text(path)
    name = TITLE if path is None else Path(path).name
    if subject.offers("run") and isinstance(subject.capability("run").task, Prose):
        return [BOS, *(len(SPECIALS) + encode(text)).tolist()], name
    return subject.capability("tokenizer").cut(text), name


@torch.no_grad()
def _losses(predictor: Predictor, tokens: list[int], edges: list[int]) -> Floats:
    """The loss of every token but the first, in nats. Where what a model says of a token depends on how much it reads
    in all, each band is read up to its end and no further."""
    whole = torch.tensor([tokens])
    ends = [*(edge for edge in edges[1:] if edge < len(tokens) - 1), len(tokens) - 1]
    found, done = [], 0
    for end in ends if predictor.by_length else ends[-1:]:
        scored = torch.zeros(1, end, dtype=torch.bool)
        scored[:, done:] = True
        states = predictor.states(whole[:, :end], scored)
        found.append(_surprises(predictor, states, whole[0, done + 1 : end + 1]))
        done = end
    return np.concatenate(found)


def _surprises(predictor: Predictor, states: Tensor, targets: Tensor) -> Floats:
    rows, found = max(1, _CELLS // predictor.vocabulary), []
    for first in range(0, len(targets), rows):
        log_p = precise(predictor.logits(states[first : first + rows])).log_softmax(dim=-1)
        wanted = targets[first : first + rows, None].to(log_p.device)
        found.append(-log_p.gather(1, wanted)[:, 0].cpu().numpy())
    losses = np.concatenate(found)
    if np.isnan(losses).any():
        raise UsageError("the model gives NaN where a probability is expected; its weights are too large to be run")
    return losses


def _stretches(losses: Floats, block: int) -> list[float]:
    """Means over chunks of `block` tokens; a shorter chunk at the end counts if it is at least half as long."""
    parts = [losses[first : first + block] for first in range(0, len(losses), block)]
    return [round(float(part.mean()), 6) for part in parts if 2 * len(part) >= block]


def _record(subject: str, text: str, edges: list[int], means: list[list[float]], how: dict[str, int]) -> Record:
    claims, rows, points = [], [], []
    for (first, last), values in zip(pairwise(edges), means, strict=True):
        if not values:
            continue
        mean, interval = mean_interval(values)
        evidence = {"first": first + 1, "last": last, "stretches": len(values), **how}
        assumed = (Assumption("perplexity.stretches", values={"block": how["block"]}),)
        claims.append(
            Claim("perplexity.nats", mean, "nats per token", "measured", "holds", interval, assumed, None, evidence)
        )
        ends = (None, None) if interval is None else (interval.low, interval.high)
        rows.append((first + 1, last, len(values) * how["block"], mean, *ends, math.exp(min(mean, 700))))
        points.append((last, mean, *(end for end in ends if end is not None)))
    best = min(rows, key=lambda row: row[3])
    said = "After reading {:,} to {:,} tokens, the mean loss is {:.3f} nats per token (perplexity {:.4g})"
    sentences = [said.format(*best[:2], best[3], best[-1]) + ", the lowest of all bands."]
    if rows[-1] is not best:
        sentences.append(said.format(*rows[-1][:2], rows[-1][3], rows[-1][-1]) + ".")
    described = "first:whole | last:whole | tokens:whole | nats:number nats per token | low:number 95 % from"
    table = Table(
        BANDS,
        columns(f"{described} | high:number 95 % to | perplexity"),
        tuple(rows),
        "loss by the number of tokens read before",
    )
    axes = ("tokens read before (up to)", "nats per token")
    figure = line_figure("perplexity.bands", f"Loss on {text} by position", "", axes, {subject: points}, "x")
    return Record(
        "perplexity",
        title=f"{subject} on {text}",
        text=tuple(sentences),
        claims=tuple(claims),
        tables=(table,),
        figures=(figure,),
        data={"subject": subject, "text": text, **how, "edges": edges, "stretches": means},
    )
