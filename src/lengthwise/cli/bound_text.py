"""A guarantee as text of 80 columns: what is guaranteed, of what, and then how it comes about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lengthwise.cli.bound_tables import both, tightest, write_bounds, write_measured
from lengthwise.cli.output import wrapped, write_field
from lengthwise.records import Assumption

if TYPE_CHECKING:
    from lengthwise.bounds.tokens.problem import TokenBound
    from lengthwise.guarantees.guarantee import Guarantee

_TITLES = {
    "documents": "Fresh documents",
    "tokens": "Tokens in the contexts seen",
}
_WHAT = {
    "documents": "What a token is expected to cost the smoothed model (or the share of tokens that it misses), on "
    "average over a fresh document from where the training documents came.",
    "tokens": "What the next token is expected to cost the smoothed model (or the share of tokens that it misses), on "
    "average over the contexts of the training data. It says nothing of fresh documents.",
}
_WHY = {
    "heuristic": "heuristic, not certified: something that it rests on does not hold (see What this rests on)",
    "predicted": "predicted, not certified: that the data are a sample of a training set of that size is taken as said",
}


def write_guarantee(found: Guarantee) -> None:
    """The result beside what it is about; the message; bounds with their terms; what is true; what it rests on."""
    _write_result(found)
    _heading("Message and losses")
    _write_losses(found)
    for level, title in _TITLES.items():
        bounds = [one for one in found.bounds if one.level == level]
        if bounds:
            _heading(title)
            print(wrapped(_WHAT[level]) + "\n")
            write_bounds(bounds)
    if found.plain_loss is not None:
        _heading("What they really are")
        _write_truth(found)
    _write_assumptions(found.bounds)
    if found.notes:
        _heading("Notes")
    for note in found.notes:
        print(wrapped(note, "- ", "  "))
    if found.folder is not None:
        print(f"\n{found.folder}")


def _write_result(found: Guarantee) -> None:
    losses = found.losses
    print(found.model)
    write_field("model", found.described)
    write_field("data", found.data)
    write_field("loss", f"{both(losses.loss)} a token, on {losses.tokens:,} tokens of {losses.documents:,} documents")
    write_field("chance", f"{both(math.log(found.vocabulary))}: ln {found.vocabulary:,}, what a uniform guess loses")
    for place, line in enumerate(result(found)):
        write_field("" if place else "bound", line)


def result(found: Guarantee) -> list[str]:
    """What is guaranteed of each level, how surely, and what keeps it from being certified."""
    lines = [f"NOT AS IT SHOULD BE: {'; '.join(found.broken)}"] if found.broken else []
    if found.vacuous:
        return [*lines, "Every bound is vacuous: none says more than a uniform guess would."]
    chosen: list[TokenBound] = []
    for level, title in _TITLES.items():
        bounds = [one for one in found.bounds if one.level == level]
        useful = [one for one in bounds if not one.vacuous]
        if not useful:
            lines += [f"{title.lower()}: vacuous"] if bounds else []
            continue
        one = min((one for one in useful if one.target == useful[0].target), key=lambda one: one.total)
        chosen.append(one)
        lines.append(f"{title.lower()}: {_at_most(one)} ({one.risk.kind})")
    lines.append(_how_surely(found, chosen))
    return [*lines, *(_WHY[kind] for kind in sorted({one.risk.kind for one in chosen}) if kind in _WHY)]


def _at_most(one: TokenBound) -> str:
    if one.target == "loss":
        return f"at most {both(one.total)} a token"
    k = one.target.removeprefix("top")
    return f"nothing of the loss; top-{k} error at most {one.total:.2%}, where chance is {one.chance:.2%}"


def _how_surely(found: Guarantee, chosen: Sequence[TokenBound]) -> str:
    targets = {one.target for one in chosen}
    rivals = sum(one.target in targets for one in found.bounds)
    holds = "would hold" if any(one.risk.kind == "heuristic" for one in chosen) else "holds"
    if rivals == 1:
        return f"it {holds} with probability {1 - found.delta:g}"
    together = max(0.0, 1 - rivals * found.delta)
    return (
        f"the smallest of {rivals}: each {holds} by itself with probability {1 - found.delta:g}, all at once with "
        f"{together:.3g} at least (--delta {found.delta / rivals:.3g} makes that {1 - found.delta:g})"
    )


def _write_losses(found: Guarantee) -> None:
    message, losses = found.description, found.losses
    size = f"{message.bits:,} bits ({message.bits / 8:,.0f} bytes), {message.bits_a_weight:.3g} bits a weight"
    write_field("message", f"{size}: {message.source}")
    write_field("", ", ".join(f"{name} {bits:,}" for name, bits in message.parts.items() if bits))
    if message.tried:
        write_field("", f"the best of {len(message.tried)} quantisers on a part of the data; the message pays for it")
    write_field("quantising", _quantising(found))
    write_field("expected", f"{both(losses.entropy)} a token, if the model's own probabilities were right")
    errors = ", ".join(f"top-{k} {share:.2%}" for k, share in losses.errors)
    write_field("errors", f"{errors} of tokens are not among the k likeliest")


def _quantising(found: Guarantee) -> str:
    message = found.description
    if "quantiser" not in message.facts:
        return "the weights are quantised already, so there is no gap"
    gap = message.quantised - message.original
    return (
        f"{message.original:.4f} nats before, {message.quantised:.4f} after ({gap:+.4f}), on the first "
        f"{message.compared:,} tokens"
    )


def _write_truth(found: Guarantee) -> None:
    """What the bounds speak of, beside the tightest of them."""
    claim = found.plain_loss
    assert claim is not None and claim.interval is not None
    low, high, items = claim.interval.low, claim.interval.high, claim.evidence["items"]
    levels = {one.evidence["level"] for one in tightest(found.measured)}
    words = {
        "documents": f"fresh: measured on {items:,} fresh items",
        "tokens": f"seen: expected in the contexts of {items:,} training items, computed from the task's own "
        "probabilities",
    }
    told = "; ".join(text for level, text in words.items() if level in levels)
    if told:
        print(wrapped(f"What the tightest bounds speak of, smoothed as there ({told}).") + "\n")
        write_measured(found.measured)
    print(
        wrapped(
            f"Plain loss of fresh items, without smoothing: {both(float(claim.value or 0.0))} a token "
            f"[{low:.4f}, {high:.4f}]."
        )
    )


def _write_assumptions(bounds: Sequence[TokenBound]) -> None:
    """Every assumption once; those that do not hold come first."""
    _heading("What this rests on")
    order = {"violated": 0, "assumed": 1, "checked": 2}
    seen: dict[Assumption, set[str]] = {}
    for one in bounds:
        for assumption in one.risk.assumptions:
            seen.setdefault(assumption, set()).add(one.level)
    levels = {one.level for one in bounds}
    for assumption, where in sorted(seen.items(), key=lambda pair: order[pair[0].check]):
        of = "" if where == levels else f" (bounds of {next(iter(where))})"
        print(wrapped(f"{assumption.check}: {assumption.statement}{of}", "- ", "  "))


def _heading(title: str) -> None:
    print(f"\n{title}\n{'─' * len(title)}")
