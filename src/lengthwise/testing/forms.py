"""The contract of a form, as a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lengthwise.seeds import Seeds

if TYPE_CHECKING:
    from torch import Tensor


def check_form(form: Any, initial: Mapping[str, Tensor], seed: int = 0) -> None:
    """Raise AssertionError unless `form` keeps the contract of `lengthwise.models.forms.Form` on these weights.

    Checked: at zero the weights are the initial ones bit for bit; every weight is made, in its shape and type; every
    coordinate moves some weight, and a gradient reaches it; the map is the same when made again from the same seed, and
    the initial weights are left alone.
    """
    import torch

    kept = {name: weight.clone() for name, weight in initial.items()}
    made = form.map_for(initial, Seeds(seed))
    assert made is not None, "the form trains the weights themselves and has no map to check"
    assert made.shapes, "there is at least one coordinate to train"
    at_zero = made.weights({name: torch.zeros(shape) for name, shape in made.shapes.items()})
    assert list(at_zero) == list(kept), "a weight was left out, was added or is out of order"
    for name, weight in at_zero.items():
        assert weight.dtype == kept[name].dtype and torch.equal(weight, kept[name]), (
            f"{name} is not the initial one at 0"
        )
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
