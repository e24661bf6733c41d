"""What is known of a limit transformer, as records: its constants, a stand-in of a word, and a comparison."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from lengthwise.messages import explain, sentence
from lengthwise.oracle.limit.comparing import Comparison
from lengthwise.oracle.limit.constants import HeadRegime, lipschitz, positional_margin, regimes, stand_in_bound
from lengthwise.oracle.limit.margins import HardmaxLength, Margin, hardmax_length
from lengthwise.oracle.limit.simulation import StandIn
from lengthwise.oracle.limit.theorems import IZZO, one_layer_theorem, two_layers_theorem
from lengthwise.oracle.limit.transformer import LimitTransformer, Number
from lengthwise.records import Assumption, Cell, Claim, Record, Reference, Table, columns

PAGE = "docs/explanation/limit.md"
_SHOWN = 60  # symbols of a long word
_HARD = columns(
    "head:whole | margin:number logit margin | predicted:text hard from, by the margin | observed:text in fact"
)
_REGIMES = columns(
    "layer:whole | head:whole | largest:number largest phi | regime:text | margin:number positional margin"
)
_ANSWERS = columns("entry:whole | long:number answer to the long word | short:number to the short word | difference")
_BOTH = columns("entry:whole | one:number first model | other:number second model | difference")
explain(
    {
        "limit.about": "{layers} over {symbols} symbols, period {period}, locality {locality}, mode {mode}; numbers "
        "are {numbers}.",
        "limit.one_layer": "One layer",
        "limit.two": "Two layers",
        "limit.exact": "rational and the arithmetic is exact",
        "limit.exact_finite": "rational and the arithmetic is exact where differences of logits are whole or rounded "
        "away",
        "limit.floats": "floating-point",
        "limit.logit_margin": "logit margin gamma",
        "limit.hard_predicted": "length from which attention is hard at {bits} bits, by 2^(p/gamma)",
        "limit.hard_observed": "length from which attention is hard at {bits} bits, over all words",
        "limit.positional_margin": "positional margin gamma",
        "limit.constant": "constant L",
        "limit.always_hard": "No query meets two different logits: attention is hard at every length.",
        "limit.hard": "At {bits} bits attention is hard from {observed} tokens on; the margin of {margin:.4g} alone "
        "gives {predicted}.",
        "limit.beyond": "more than 10^4000",
        "limit.no_hard": "Attention never becomes hard in the mode infinite: keys below the leading order vanish like "
        "i^-{margin:.4g}.",
        "limit.one_order": "Attention never becomes hard in the mode infinite, and all keys have weights of one order.",
        "limit.deeper": "When attention becomes hard is decided for one layer.",
        "limit.steps": "the MLP has no steps, so that it has a Lipschitz constant",
        "limit.stand_in": "symbols of a stand-in within {error:g}",
        "limit.difference": "difference of the answers",
        "limit.stand_in_bound": "bound on the difference by statement 4",
        "limit.shorter": "{length} symbols stand for {long:,}: the answers differ by {difference:.3g}.",
        "limit.no_stand_in": "No stand-in of up to {longest:,} symbols within {error:g} was found; the nearest has "
        "{length} and differs by {difference:.3g}.",
        "limit.short_word": "short word: {word}",
        "limit.listed": "all counts of this length that keep end, phase and presence were tried",
        "limit.searched": "shorter lengths were searched: where not all counts could be tried, a better word may exist",
        "limit.agreement": "agreement of the two models within {error:g} on all words of up to {length} symbols",
        "limit.largest": "largest difference on all words of up to {length} symbols",
        "limit.agree": "The two models agree within {error:g} on all words of up to {length} symbols ({words:,} words "
        "{way}; largest difference {largest:.3g}).",
        "limit.differ": "The two models differ by {largest:.3g} on `{word}`; they agree within {error:g} on all words "
        "of up to {length} symbols.",
        "limit.by_classes": "stand for all",
        "limit.by_words": "were all compared",
        "limit.sufficient": "an answer depends on the last locality + 1 symbols and on the counts before them "
        "(docs/explanation/limit.md, statement 1)",
        "limit.rounding": "answers were computed in floating point, where differences of up to 1e-9 count as none",
        "limit.regime_tokens": "far tokens",
        "limit.regime_balanced": "both",
        "limit.regime_positions": "nearest positions",
    }
)


def described(model: LimitTransformer, name: str) -> Record:
    """The constants of a limit transformer that apply to it."""
    exact = "limit.exact_finite" if model.mode == "finite" else "limit.exact"
    about = {
        "layers": sentence("limit.one_layer" if len(model.layers) == 1 else "limit.two"),
        "symbols": len(model.symbols),
        "period": model.period,
        "locality": model.locality,
        "mode": model.mode,
        "numbers": sentence(exact if model.exact else "limit.floats"),
    }
    text, claims, tables = [sentence("limit.about", about)], [], []
    if model.mode == "infinite":
        margin = positional_margin(model)
        key = "limit.one_order" if margin is None else "limit.no_hard"
        text.append(sentence(key, {"margin": 0.0 if margin is None else float(margin)}))
        claims.append(_positional(margin))
        tables.append(Table("limit.heads", _REGIMES, tuple(map(_regime_row, regimes(model))), "heads on long inputs"))
        claims.append(two_layers_theorem(margin))
    elif len(model.layers) == 1:
        hard = hardmax_length(model)
        text.append(_hard_text(hard, model.bits))
        claims += _hard_claims(hard, model)
        tables.append(Table("limit.heads", _HARD, tuple(_hard_rows(model)), "heads"))
    else:
        text.append(sentence("limit.deeper"))
    if len(model.layers) == 1:
        claims.append(_constant(model))
        if model.mode != "infinite":
            claims.append(one_layer_theorem(model, lipschitz(model), hardmax_length(model).predicted))
    return Record("limit", {"model": name}, name, tuple(text), tuple(claims), tuple(tables))


def _tokens(count: int | None) -> str:
    """A number of tokens, written as a power of 2 where it is one, and rounded where it is long."""
    if count is None:
        return sentence("limit.beyond")
    if count < 10**9:
        return f"{count:,}"
    power = count.bit_length() - 1
    return f"2^{power}" if count == 2**power else f"about 2^{math.log2(count):.4g}"


def _hard_text(hard: HardmaxLength, bits: int) -> str:
    if hard.margin.value is None:
        return sentence("limit.always_hard")
    values = {"bits": bits, "observed": _tokens(hard.observed), "predicted": _tokens(hard.predicted)}
    return sentence("limit.hard", {**values, "margin": float(hard.margin.value)})


def _hard_claims(hard: HardmaxLength, model: LimitTransformer) -> list[Claim]:
    statement = Reference(PAGE, "statement 2")
    found = [Claim("limit.logit_margin", None, "", "proved", "vacuous", reference=statement)]
    if hard.margin.value is not None:
        where = _where(hard.margin)
        found = [
            Claim("limit.logit_margin", float(hard.margin.value), "", "proved", reference=statement, evidence=where)
        ]
    for key, count in (("predicted", hard.predicted), ("observed", hard.observed)):
        value = None if count is None else count if count < 2**53 else _tokens(count)
        status = "unknown" if count is None else "holds"
        evidence = {"bits": model.bits, "digits": 4000 if count is None else len(str(count))}
        found.append(Claim(f"limit.hard_{key}", value, "tokens", "proved", status, None, (), statement, evidence))
    return found


def _where(margin: Margin) -> dict[str, object]:
    """Which query and keys attain a margin."""
    keys = [
        {"symbol": key.symbol, "phase": key.phase, "distance": key.distance, "logit": str(key.logit)}
        for key in margin.keys
    ]
    return {"exact": str(margin.value), "head": margin.head + 1, "query": margin.query, "keys": keys}


def _hard_rows(model: LimitTransformer) -> list[tuple[Cell, ...]]:
    found = []
    (layer,) = model.layers
    for number, head in enumerate(layer.heads, start=1):
        alone = hardmax_length(replace(model, layers=(replace(layer, heads=(head,)),)))
        margin = None if alone.margin.value is None else float(alone.margin.value)
        found.append((number, margin, _tokens(alone.predicted), _tokens(alone.observed)))
    return found


def _positional(margin: Number | None) -> Claim:
    reference = Reference(IZZO, "Theorem 5.2, as secondary sources report it; docs/explanation/limit.md, statement 3")
    if margin is None:
        return Claim("limit.positional_margin", None, "", "proved", "vacuous", reference=reference)
    evidence = {"exact": str(margin)}
    return Claim("limit.positional_margin", float(margin), "", "proved", reference=reference, evidence=evidence)


def _regime_row(one: HeadRegime) -> tuple[Cell, ...]:
    margin = None if one.margin is None else float(one.margin)
    return one.layer, one.head, float(one.largest), sentence(f"limit.regime_{one.regime}"), margin


def _constant(model: LimitTransformer) -> Claim:
    value, reference = lipschitz(model), Reference(PAGE, "statement 4")
    if math.isinf(value):
        violated = (Assumption("limit.steps", "violated"),)
        return Claim("limit.constant", None, "", "proved", "vacuous", None, violated, reference)
    return Claim(
        "limit.constant", value, "", "proved", "holds", None, (Assumption("limit.steps", "checked"),), reference
    )


def simulated(model: LimitTransformer, found: StandIn, error: float, longest: int) -> Record:
    """A short word that stands for a long one, its error and the bound on it."""
    within = found.difference <= error
    words = [model.read(word)[0] for word in (found.word, found.short)]
    bound = stand_in_bound(model, *words)
    values = {"length": len(found.short), "long": len(found.word), "difference": found.difference, "error": error}
    text = sentence("limit.shorter" if within else "limit.no_stand_in", {**values, "longest": longest})
    kept = Assumption("limit.listed" if found.listed else "limit.searched", "checked" if found.listed else "assumed")
    reference = Reference(PAGE, "the simulation argument")
    shortest = Claim(
        "limit.stand_in",
        len(found.short) if within else None,
        "symbols",
        "measured",
        "holds" if within else "unknown",
        assumptions=(kept, Assumption("limit.searched")) if found.listed else (kept,),
        reference=reference,
        evidence={**values, "word": _joined(found.short)},
    )
    difference = Claim("limit.difference", found.difference, "", "measured", evidence={"exact": False})
    finite = None if math.isinf(bound) else bound
    status = "vacuous" if finite is None else "holds"
    limit = Claim("limit.stand_in_bound", finite, "", "proved", status, reference=Reference(PAGE, "statement 4"))
    rows = tuple(
        (place, one, other, abs(one - other))
        for place, (one, other) in enumerate(zip(found.answer, found.short_answer, strict=True), start=1)
    )
    short = sentence("limit.short_word", {"word": _joined(found.short)})
    table = Table("limit.answers", _ANSWERS, rows, "answers")
    settings = {"error": error, "longest": longest}
    return Record("limit_simulate", settings, "", (text, short), (shortest, difference, limit), (table,))


def compared(found: Comparison) -> Record:
    """Whether two models agree, how far, and the word on which they do not."""
    values = {name: getattr(found, name) for name in ("error", "length", "words", "largest")}
    values |= {"way": sentence(f"limit.by_{found.way}"), "word": "" if found.word is None else _joined(found.word)}
    rests = [Assumption("limit.sufficient", "checked")] if found.way == "classes" else []
    rests += [] if found.exact else [Assumption("limit.rounding")]
    evidence = {**values, "exact": found.exact, "word": None if found.word is None else list(found.word)}
    evidence["length"] += not found.agree  # the length at which they differ
    status = "holds" if found.agree else "refuted"
    reference = Reference(PAGE, "statement 1") if found.way == "classes" else None
    same = Claim("limit.agreement", found.agree, "", "certified", status, None, tuple(rests), reference, evidence)
    claims, tables = [same], ()
    if found.agree:
        claims.append(
            Claim("limit.largest", found.largest, "", "certified", assumptions=tuple(rests), evidence=evidence)
        )
    if found.answers is not None:
        pairs = zip(*found.answers, strict=True)
        rows = tuple((place, one, other, abs(one - other)) for place, (one, other) in enumerate(pairs, start=1))
        tables = (Table("limit.answers", _BOTH, rows, "answers to the word"),)
    text = sentence("limit.agree" if found.agree else "limit.differ", values)
    return Record("limit_compare", {"error": found.error}, "", (text,), tuple(claims), tables)


def _joined(word: Sequence[str]) -> str:
    """A word as it can be given again, cut in the middle where it is long."""
    mark = "" if all(len(symbol) == 1 for symbol in word) else " "
    if len(word) <= _SHOWN:
        return mark.join(word)
    half = _SHOWN // 2
    return f"{mark.join(word[:half])}…{mark.join(word[-half:])}"
