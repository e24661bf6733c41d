"""The contracts of attention rules, forms, size schedules and probes, as tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lengthwise.errors import UsageError
from lengthwise.records import Record
from lengthwise.seeds import Seeds

if TYPE_CHECKING:
    from torch import Tensor

_QUERIES = 12
_SLACK = 1e-6


def check_settings(thing: Any, what: str, *declared: str) -> None:
    """What all registered things share: a docstring that describes them, settings that do not change, and declarations
    that are True or False."""
    doc = (type(thing).__doc__ or "").strip()
    assert doc and len(doc.splitlines()[0]) <= 120, f"the first line of the docstring describes {what}"
    params = getattr(type(thing), "__dataclass_params__", None)
    assert params is not None and params.frozen, f"{what} is a frozen dataclass of its settings"
    for name in declared:
        assert isinstance(getattr(thing, name, None), bool), f"{name} is declared, True or False"


def check_attention(rule: Any) -> None:
    """Raise AssertionError unless `rule` keeps the contract of `lengthwise.models.attention.Attention`.

    Checked in float64, for a decoder and for an encoder unless `check` refuses it with a `UsageError`: weights have the
    shape of the logits, are finite and at least 0, are 0 on keys that are not seen, and sum to 1 for each query; finite
    gradients; in a decoder no weight depends on a later token; a rule that is not `joint` weighs each query by itself;
    one that is `fused` is the softmax of the logits.
    """
    check_settings(rule, "an attention rule", "fused", "joint")
    window = rule.window()
    assert window is None or (isinstance(window, int) and window >= 1), f"`window` gives None or 1 or more: {window!r}"
    served = [causal for causal in (True, False) if _serves(rule, causal)]
    assert served, "it serves a decoder or an encoder"
    for causal in served:
        _check_weights(rule, causal, window)


def _serves(rule: Any, causal: bool) -> bool:
    try:
        rule.check(causal)
    except UsageError:
        return False
    return True


def _check_weights(rule: Any, causal: bool, window: int | None) -> None:
    import torch

    places = torch.arange(_QUERIES)
    sharpness = rule.sharpness(places if causal else torch.full_like(places, _QUERIES - 1))
    if isinstance(sharpness, torch.Tensor):
        assert tuple(sharpness.shape) == (_QUERIES,), (
            f"`sharpness` gives a tensor of shape {list(sharpness.shape)} where a number, or [queries] = [{_QUERIES}], "
            "is wanted"
        )
        sharpness = sharpness[:, None]
    behind = places[:, None] - places
    hidden = (behind < 0) & causal if window is None else ((behind < 0) & causal) | (behind.abs() >= window)
    drawn = torch.randn(2, 3, _QUERIES, _QUERIES, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    logits = (drawn * sharpness).masked_fill(hidden, -torch.inf).requires_grad_()
    weigh = rule.decoder_weights if causal else rule.weights
    weights = weigh(logits)
    assert tuple(weights.shape) == tuple(logits.shape), (
        f"`weights` gives a tensor of shape {list(weights.shape)} where that of the logits, [items, heads, queries, "
        f"keys] = {list(logits.shape)}, is wanted"
    )
    assert weights.dtype == logits.dtype, f"weights of float64 logits are float64, not {weights.dtype}"
    (weights * drawn).sum().backward()
    assert logits.grad is not None and bool(logits.grad[..., ~hidden].isfinite().all()), "gradients are finite"
    whole, logits = weights.detach(), logits.detach()
    assert bool(whole.isfinite().all()) and bool((whole >= 0).all()), "weights are finite and at least 0"
    assert float((whole.sum(dim=-1) - 1).abs().max()) < _SLACK, "the weights of each query sum to 1"
    assert float(whole[..., hidden].abs().sum()) < _SLACK, "a key that is not seen (logit -inf) has weight 0"
    some = _QUERIES // 2
    if causal:
        gap = (weigh(logits[..., :some, :some]) - whole[..., :some, :some]).abs().max()
        assert float(gap) < _SLACK, f"a weight in a decoder changes by {float(gap):.1e} when later tokens are read"
    if not rule.joint:
        gap = (weigh(logits[..., some : some + 1, :]) - whole[..., some : some + 1, :]).abs().max()
        assert float(gap) < _SLACK, "the weights of a query depend on other queries, which joint = True declares"
    if rule.fused:
        gap = (logits.softmax(dim=-1) - whole).abs().max()
        assert float(gap) < _SLACK, "weights that are not the softmax of the logits are declared with fused = False"


def check_schedule(schedule: Any) -> None:
    """Raise AssertionError unless `schedule` keeps the contract of `lengthwise.training.lengths.SizeSchedule`: every
    draw is one of the sizes, and the same again for the same arguments. A `UsageError` refuses a range of sizes."""
    check_settings(schedule, "a size schedule")
    for sizes in ([1], [2, 4, 6, 8], list(range(1, 21))):
        for progress in (0.0, 0.3, 1.0):
            for uniform in (0.0, 0.5, 0.999999):
                try:
                    drawn, again = (schedule.draw(sizes, progress, uniform) for _ in range(2))
                except UsageError:
                    continue
                assert drawn in sizes, f"`draw` gives one of the sizes, not {drawn!r} out of {sizes}"
                assert drawn == again, "the same arguments give the same size, as training resumes at any step"


def check_form(form: Any, initial: Mapping[str, Tensor] | None = None, seed: int = 0) -> None:
    """Raise AssertionError unless `form` keeps the contract of `lengthwise.models.forms.Form` on these weights, or on
    some 20,000 random ones.

    Checked: at zero the weights are the initial ones bit for bit; every weight is made, in its shape and type; every
    coordinate moves some weight, and a gradient reaches it; the map is the same when made again from the same seed, and
    the initial weights are left alone.
    """
    import torch

    check_settings(form, "a form")
    if initial is None:
        generator = torch.Generator().manual_seed(seed)
        shapes = {"embedding.weight": (64, 64), "mlp.weight": (256, 64), "mlp.bias": (256,), "norm.weight": (64,)}
        initial = {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}
    kept = {name: weight.clone() for name, weight in initial.items()}
    made = form.map_for(initial, Seeds(seed))
    assert made is not None, "the form trains the weights themselves and has no map to check"
    assert made.shapes, "there is at least one coordinate to train"
    at_zero = made.weights({name: torch.zeros(shape) for name, shape in made.shapes.items()})
    assert list(at_zero) == list(kept), "a weight was left out, was added or is out of order"
    for name, weight in at_zero.items():
        same = weight.dtype == kept[name].dtype and torch.equal(weight, kept[name])
        assert same, f"{name} is not the initial one at 0"
    generator = torch.Generator().manual_seed(seed)
    point = {name: torch.randn(shape, generator=generator) for name, shape in made.shapes.items()}
    for value in point.values():
        value.requires_grad_()
    weights = made.weights(point)
    directions = {name: torch.randn(weight.shape, generator=generator) for name, weight in kept.items()}
    sum((weights[name] * direction).sum() for name, direction in directions.items()).backward()  # pyright: ignore
    for name, value in point.items():
        assert value.grad is not None and bool((value.grad != 0).all()), f"no gradient reaches some entries of {name}"
    again = form.map_for(initial, Seeds(seed)).weights(point)
    assert all(torch.equal(again[name], weights[name]) for name in kept), "the same seed gives another map"
    assert all(torch.equal(initial[name], kept[name]) for name in kept), "the initial weights were changed"


def check_probe(probe: Any, subject: Any = None, context: Any = None) -> None:
    """Raise AssertionError unless `probe` keeps the contract of `lengthwise.probes.Probe`.

    Checked: it is a frozen dataclass of settings, and `needs` names capabilities. With a subject and a context also
    what `measure` gives: a `Record` that reads back from its JSON, and is equal when measured again.
    """
    check_settings(probe, "a probe")
    needs = getattr(probe, "needs", None)
    assert isinstance(needs, tuple) and all(isinstance(name, str) for name in needs), (
        f"`needs` is a tuple of names of capabilities, such as ('answers',), not {needs!r}"
    )
    if subject is None:
        return
    record = probe.measure(subject, context)
    check_record(record)
    assert probe.measure(subject, context).plain() == record.plain(), "the same question has the same answer again"


def check_record(record: Any) -> None:
    """Raise AssertionError unless this is a `Record` that reads back from its JSON."""
    assert isinstance(record, Record), f"`measure` gives a lengthwise.records.Record, not a {type(record).__name__}"
    assert record.source, "a record names its source"
    try:
        text = json.dumps(record.plain(), allow_nan=False)
    except (TypeError, ValueError) as error:
        raise AssertionError(f"a record holds plain data that JSON can hold: {error}") from error
    assert Record.from_plain(json.loads(text)).plain() == json.loads(text), "a record reads back from its JSON"
