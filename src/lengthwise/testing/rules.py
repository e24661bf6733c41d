"""The contracts of attention rules, forms, size schedules and probes, as tests."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from lengthwise.errors import UsageError
from lengthwise.positions import Shape
from lengthwise.records import Record
from lengthwise.seeds import Seeds

if TYPE_CHECKING:
    from torch import Tensor

_QUERIES, _HEADS, _HEAD_WIDTH = 12, 3, 4
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
    gradients; in a decoder no weight depends on a later token; a rule that is not `joint` weighs each query by itself,
    as a cache asks it to; one that is `fused` is the softmax of the logits.

    Of a rule with a network also: the features of a token depend on that token alone, every parameter is reached by a
    gradient, and it has `scores` exactly if the rule declares them.
    """
    check_settings(rule, "an attention rule", "fused", "joint", "scores")
    window = rule.window()
    assert window is None or (isinstance(window, int) and window >= 1), f"`window` gives None or 1 or more: {window!r}"
    served = [causal for causal in (True, False) if _serves(rule, causal)]
    assert served, "it serves a decoder or an encoder"
    for causal in served:
        _check_weights(_TriedRule(rule, causal))


def _serves(rule: Any, causal: bool) -> bool:
    try:
        rule.check(causal)
    except UsageError:
        return False
    return True


class _TriedRule:
    """A rule in one layer, its parameters moved a little, with random tokens, queries, keys and logits to weigh."""

    def __init__(self, rule: Any, causal: bool) -> None:
        import torch

        self.rule, self.causal, self.places = rule, causal, torch.arange(_QUERIES)
        shape = Shape(_HEADS * _HEAD_WIDTH, _HEADS, 4 * _QUERIES, _QUERIES, causal)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(1)
            self.drawn = torch.randn(2, _HEADS, _QUERIES, _QUERIES, dtype=torch.float64)
            self.q, self.k = torch.randn(2, 2, _HEADS, _QUERIES, _HEAD_WIDTH, dtype=torch.float64)
            self.x = torch.randn(2, _QUERIES, shape.width, dtype=torch.float64)
            self.network = rule.build(shape)
            if self.network is not None:
                assert isinstance(self.network, torch.nn.Module), "`build` gives a lengthwise.AttentionNetwork or None"
                assert not rule.fused, "a rule with a network is declared with fused = False"
                self.network.double().eval()
                for parameter in self.network.parameters():
                    parameter.data += 0.1 * torch.randn_like(parameter)
        behind, window = self.places[:, None] - self.places, rule.window()
        self.hidden = (behind < 0) & causal
        if window is not None:
            self.hidden = self.hidden | (behind.abs() >= window)
        sharpness = rule.sharpness(self.last(slice(None), _QUERIES))
        if isinstance(sharpness, torch.Tensor):
            assert tuple(sharpness.shape) == (_QUERIES,), (
                f"`sharpness` gives a tensor of shape {list(sharpness.shape)} where a number, or [queries] = "
                f"[{_QUERIES}], is expected"
            )
            sharpness = sharpness[:, None]
        self.sharpness = sharpness
        self.logits = (self.drawn * sharpness).requires_grad_()

    def last(self, asked: slice, tokens: int) -> Tensor:
        """The last place that each query sees."""
        own = self.places[:tokens][asked]
        return own if self.causal else own * 0 + tokens - 1

    def features(self, tokens: slice) -> Tensor | None:
        given = None if self.network is None else self.network.features(self.x[:, tokens])
        if given is not None:
            count = len(self.places[tokens])
            assert given.dim() == 4 and tuple(given.shape[:3]) == (2, _HEADS, count), (
                f"`features` gives a tensor of shape {list(given.shape)} where [items, heads, tokens, any number] = "
                f"{[2, _HEADS, count, '...']} is expected"
            )
        return given

    def weights(self, asked: slice = slice(None), tokens: int = _QUERIES) -> Tensor:
        """The weights of the queries that are asked for over the first tokens, as a layer computes them."""
        logits, hidden = self.logits[..., :tokens, :tokens][..., asked, :], self.hidden[:tokens, :tokens][asked]
        if self.network is not None:
            q, k = self.q[:, :, :tokens][:, :, asked], self.k[:, :, :tokens]
            features = self.features(slice(tokens))
            last = self.last(asked, tokens)
            own = self.places[:tokens][asked]
            inputs = SimpleNamespace(queries=q, keys=k, features=features, index=last, hidden=hidden, places=own)
            scores = self.network.scores(inputs)
            assert (scores is not None) == self.rule.scores, "a rule declares scores = True exactly if it computes them"
            logits = self.network.logits(logits if scores is None else scores + logits, inputs)
        logits = logits.masked_fill(hidden, -math.inf)
        weights = (self.rule.decoder_weights if self.causal else self.rule.weights)(logits)
        assert tuple(weights.shape) == tuple(logits.shape), (
            f"`weights` gives a tensor of shape {list(weights.shape)} where that of the logits, [items, heads, "
            f"queries, keys] = {list(logits.shape)}, is expected"
        )
        return weights


def _check_weights(tried: _TriedRule) -> None:
    rule, hidden = tried.rule, tried.hidden
    weights = tried.weights()
    assert weights.dtype == tried.drawn.dtype, f"weights of float64 logits are float64, not {weights.dtype}"
    (weights * tried.drawn).sum().backward()
    _check_gradients(tried)
    whole = weights.detach()
    assert bool(whole.isfinite().all()) and bool((whole >= 0).all()), "weights are finite and at least 0"
    assert float((whole.sum(dim=-1) - 1).abs().max()) < _SLACK, "the weights of each query sum to 1"
    assert float(whole[..., hidden].abs().sum()) < _SLACK, "a key that is not seen (logit -inf) has weight 0"
    some = _QUERIES // 2
    if tried.causal:
        gap = (tried.weights(tokens=some) - whole[..., :some, :some]).detach().abs().max()
        assert float(gap) < _SLACK, f"a weight in a decoder changes by {float(gap):.1e} when later tokens are read"
    if not rule.joint:
        gap = (tried.weights(slice(some, some + 1)) - whole[..., some : some + 1, :]).detach().abs().max()
        assert float(gap) < _SLACK, "the weights of a query depend on other queries, which joint = True declares"
    if (features := tried.features(slice(None))) is not None:
        apart = tried.features(slice(some, None))
        assert apart is not None, "`features` gives a tensor or None, not either"
        gap = (features[:, :, some:] - apart).detach().abs().max()
        assert float(gap) < _SLACK, "the features of a token depend on other tokens, and a cache keeps them one by one"
    if rule.fused:
        logits = tried.logits.detach().masked_fill(hidden, -math.inf)
        gap = (logits.softmax(dim=-1) - whole).abs().max()
        assert float(gap) < _SLACK, "weights that are not the softmax of the logits are declared with fused = False"


def _check_gradients(tried: _TriedRule) -> None:
    logits = tried.logits.grad
    assert logits is not None and bool(logits.isfinite().all()), "gradients are finite"
    for name, parameter in [] if tried.network is None else tried.network.named_parameters():
        grad = parameter.grad
        assert grad is not None and bool((grad != 0).any()), f"no gradient reaches the parameter {name}"
        assert bool(grad.isfinite().all()), f"the gradient of the parameter {name} is finite"


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
