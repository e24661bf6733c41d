"""Encodings that act inside attention: with biases of 0 they do what `none` does, and ALiBi what a window allows.

With ALiBi far tokens have no weight at all in floating point, so what is answered depends on a window. Tasks that the
last few symbols settle are then within reach at every length, all others at no length far beyond the window.
"""

from __future__ import annotations

from dataclasses import replace

from lengthwise.messages import explain, sentence
from lengthwise.oracle.horizons import LOCAL_SLOPE, Memory, alibi_window, memory_of, sight
from lengthwise.oracle.opinion import (
    DEPTH,
    EXPRESSED,
    HEADS,
    INCLUDED,
    Advice,
    Opinion,
    Question,
    encoding_names,
    theory,
)
from lengthwise.oracle.theories import limits, programs, regular
from lengthwise.positions import positions
from lengthwise.positions.encodings import Alibi
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.registry import parse_spec

HORIZONS = Reference("docs/explanation/horizons.md")
SPREAD = 64.0  # between two content logits of one query, assumed before there are weights
MOST_STATES = 300
SWITCHED_OFF = theory(
    INCLUDED,
    "positions switched off",
    ("other",),
    "causal decoders with `t5`, `fire`, `kerple`, `rope`, and with `alibi` in a share of the heads",
)
WINDOW = theory("window", "window of ALiBi", ("other",), "causal decoders with `alibi` and softmax, in float32")
_SOLVERS = (regular.opinions, programs.opinions, limits.opinions)
# How a model with an encoding computes what one without computes. The programs of C-RASP count with zero queries.
_NOTHING = {"t5": "bias", "fire": "bias", "kerple": "bias", "rope": "query"}
explain(
    {
        "biases.by_bias": (
            "With a bias of 0, {encoding} is the same as `none`, so a solution for `none` is also one here."
        ),
        "biases.by_query": (
            "Where queries are 0, a rotation changes nothing, and counting needs no other queries, so a "
            "solution for `none` is also one with {encoding}."
        ),
        "biases.by_heads": (
            "Heads without a slope see all tokens as with `none`, so a solution for `none` is also one with {encoding}."
        ),
        "biases.window": "last tokens that the answer depends on",
        "biases.memory": "last symbols that settle every answer",
        "biases.spread": "the logits that one query gives to two keys by their content differ by at most {spread:g}",
        "biases.shape": "heads per layer: {heads}; layers: {layers}",
        "biases.underflow": "the weight of the bias is positive but so small that it is 0 in floating point",
        "biases.own": "The last symbol settles every answer, so nothing has to be remembered.",
        "biases.local": "The last {symbols} symbols settle every answer, and a head of slope {steepest:.3g}, above "
        "ln 2, keeps them distinct at every length.",
        "biases.flat": "The last {symbols} symbols settle every answer. With a slope above ln 2 a solution that works "
        "at every length is proved to exist; for {steepest:.3g}, the steepest slope here, none is known.",
        "biases.short": "No number of last symbols settles every answer, and the model sees only the last {window:,} "
        "tokens: some inputs of up to {longest:,} symbols look the same to it and need different answers.",
        "biases.far": "No number of last symbols settles every answer, and attention is 0 beyond {window:,} tokens "
        "(smallest slope {smallest:.3g}; layers: {layers}), so no weights hold at every length. No theory here decides "
        "for sizes up to {size:,}.",
        "biases.unread": "Attention is 0 beyond {window:,} tokens (smallest slope {smallest:.3g}; layers: {layers}). "
        "No theory here decides for sizes up to {size:,}.",
        "advice.slope": "a head whose slope is above ln 2 keeps the last symbols distinct",
        "advice.smaller_slope": "smaller slopes see further",
    }
)


def opinions(question: Question) -> list[Opinion]:
    """Can hold where a solution without positions carries over; and what the slopes of ALiBi allow."""
    base, *wrappers = encoding_names(question.encoding)
    if base in _NOTHING and wrappers in ([], ["offset"]):
        return _included(question, _NOTHING[base])
    return _alibi(question) if base == "alibi" and not wrappers else []


def _included(question: Question, how: str) -> list[Opinion]:
    bare = replace(question, encoding="none")
    found = [one for ask in _SOLVERS for one in ask(bare) if one.outlook == "can hold"]
    if not found:
        return []
    why = sentence(f"biases.by_{how}", {"encoding": question.encoding})
    positive = (Assumption("biases.underflow"),) if encoding_names(question.encoding)[0] == "kerple" else ()
    return [
        question.opinion(
            SWITCHED_OFF,
            "can hold",
            why,
            found[0].grounds,
            assumptions=found[0].claim.assumptions + positive,
            reference=found[0].claim.reference,
            details=(found[0].why, *found[0].details),
        )
    ]


def _alibi(question: Question) -> list[Opinion]:
    preset = question.task.preset
    rule, settings = parse_spec(str(preset.get("attention", "softmax")))
    encoding = positions.restore(question.encoding)
    if rule != "softmax" or not isinstance(encoding, Alibi):
        return []
    if encoding.share < 1:  # what is known of windows is about models in which every head has one
        return _included(question, "heads")
    layers, heads = int(preset.get("depth", DEPTH)), int(preset.get("heads", HEADS))
    slopes = [slope / float(settings.get("temperature", 1)) for slope in encoding.slopes(heads)]
    window = sight([alibi_window(min(slopes), SPREAD)] * layers)
    values = {"window": window, "smallest": min(slopes), "steepest": max(slopes), "layers": layers, "heads": heads}
    values |= {"size": question.test_size, "spread": SPREAD}
    bounded = (
        Assumption("biases.spread", values={"spread": SPREAD}),
        Assumption("biases.shape", values={"layers": layers, "heads": heads}),
        Assumption("horizon.order"),
    )
    grounds = Claim("biases.window", window, "tokens", "proved", assumptions=bounded, evidence=values)
    dfa = regular.automaton_of(question.task)
    if dfa is None or len(dfa.transitions) > MOST_STATES:
        why = sentence("biases.unread", values)
        return [question.opinion(WINDOW, "unknown", why, grounds, reference=HORIZONS)]
    memory = memory_of(regular.asked_of(dfa, question.task))
    if memory.symbols is not None:
        return [_local(question, memory, values)]
    # Inputs that agree in the last `window` symbols and need different answers: into a pair of states, round a cycle of
    # pairs until the window is full, on to a letter that asks them apart, and to the end of a word.
    longest = window + 2 * memory.pairs + 2 * len(dfa.transitions)
    if question.test_size < longest:
        return [question.opinion(WINDOW, "unknown", sentence("biases.far", values), grounds, reference=HORIZONS)]
    why = sentence("biases.short", {**values, "longest": longest})
    changes = (Advice("encoding", "advice.smaller_slope", ("alibi",)),)
    return [question.opinion(WINDOW, "cannot hold", why, grounds, reference=HORIZONS, changes=changes)]


def _local(question: Question, memory: Memory, values: dict[str, float]) -> Opinion:
    """The last symbols settle everything: the query's own token, or several that a steep slope keeps distinct."""
    values = {**values, "symbols": memory.symbols or 0}
    shape = Assumption("biases.shape", values={name: values[name] for name in ("layers", "heads")})
    grounds = Claim("biases.memory", memory.symbols, "symbols", "proved", evidence=values)
    if memory.symbols != 1 and values["steepest"] <= LOCAL_SLOPE:
        changes = (Advice("encoding", "advice.slope", ("alibi:first=1",)),)
        why = sentence("biases.flat", values)
        return question.opinion(WINDOW, "unknown", why, grounds, reference=HORIZONS, changes=changes)
    why = sentence("biases.own" if memory.symbols == 1 else "biases.local", values)
    return question.opinion(WINDOW, "can hold", why, grounds, assumptions=(EXPRESSED, shape), reference=HORIZONS)
