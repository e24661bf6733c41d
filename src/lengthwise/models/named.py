"""The models by their names, and what stands for a model in a plan. No torch here."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lengthwise.errors import UsageError
from lengthwise.models.architecture import Architecture
from lengthwise.models.model import BuiltModel, Model, model_class
from lengthwise.models.others import DeltaRule, GatedRecurrentUnit, LongShortTermMemory, Looped, StateSpace
from lengthwise.registry import (
    Registry,
    converted_settings,
    format_spec,
    name_and_settings,
    plain_settings,
    restored_settings,
    settings_of,
)

MODEL_WORDS = "the model, such as lstm:width=64 or my.py::Net (see `lengthwise models`; default: transformer)"
_WITH_PARTS = (Architecture, Looped)  # settings of theirs are objects, such as an attention rule


class Models(Registry[Model]):
    """Models by their names. A file may define a `Model` or a class of `torch.nn.Module`."""

    def bases(self) -> tuple[type, ...]:
        from torch import nn

        return (Model, nn.Module)

    def _named(self, name: str) -> tuple[str, Callable[..., Model]]:
        name, maker = super()._named(name)
        if isinstance(maker, type) and not issubclass(maker, Model):
            maker = self._found[name] = model_class(maker)
        return name, maker

    def _made(self, spec: str | Mapping[str, Any]) -> Model:
        name, given = name_and_settings(spec)
        name, maker = self._named(name)
        if maker not in _WITH_PARTS:
            return super()._made(spec)
        typed = converted_settings(self.kind, name, maker, given)
        made = maker(**{key: settings_of(maker)[key].restored(value) for key, value in typed.items()})
        object.__setattr__(made, "_spec", {"name": name, **typed})
        return made

    def spec_of(self, thing: Model) -> dict[str, Any]:
        """As everywhere; a part, such as an attention rule, is named by its own spec, and a model of ours without the
        settings that have their defaults, however it was written."""
        spec = super().spec_of(replace(cast(Any, thing)) if isinstance(thing, BuiltModel) else thing)
        own = settings_of(type(thing)) if type(thing) in _WITH_PARTS else {}
        objects = [name for name, one in own.items() if one.registry and not isinstance(spec.get(name, ""), str)]
        return {**spec, **{name: own[name].plain(spec[name]) for name in objects}}

    def text_of(self, thing: Model) -> str:
        """As everywhere; a model that no name leads to is called by its class."""
        return format_spec(self.spec_of(thing) or {"name": thing.title})


models = Models(
    "model",
    "lengthwise.models.named",
    "lengthwise.models",
    "lengthwise models",
    base=Model,
    contract="lengthwise.testing:check_model",
)
models.register("transformer")(Architecture)
models.register("lstm")(LongShortTermMemory)
models.register("gru")(GatedRecurrentUnit)
models.register("ssm")(StateSpace)
models.register("delta")(DeltaRule)
models.register("looped")(Looped)


def model_of(given: Any) -> Model:
    """The model that a user gave: a spec, a model, a class of `torch.nn.Module` (as it is, or in a `functools.partial`
    with its settings), or a network, whose weights are then where training begins."""
    if isinstance(given, str):
        return models.make(given)
    maker, settings = given, {}
    if isinstance(given, functools.partial) and not given.args:
        maker, settings = given.func, given.keywords
    if isinstance(maker, Model):
        return maker
    from torch import nn

    if isinstance(maker, type) and issubclass(maker, Model | nn.Module):
        maker = maker if issubclass(maker, Model) else model_class(maker)
        return maker(**converted_settings(models.kind, maker.__name__, maker, settings))
    if isinstance(given, nn.Module):
        from lengthwise.models.network import GivenNetwork

        return GivenNetwork(given)
    raise UsageError(f"model takes a text such as lstm, a class of torch.nn.Module or a network, not {given!r}")


def brief_spec(spec: str | Mapping[str, Any]) -> str:
    """The spec of a model other than our Transformer, without the settings that have their defaults."""
    return models.text_of(replace(cast(Any, models.restore(spec))))


def shown_spec(stored: Mapping[str, Any]) -> str:
    """What `plain_model` described, as a spec: brief where the name is known here, and whole for a user's file."""
    return brief_spec(stored) if stored["name"] in models.names() else format_spec(stored)


def plain_model(model: Model) -> dict[str, Any]:
    """A model as it is stored: all settings of a Transformer; of another model the name too."""
    if isinstance(model, Architecture):
        return plain_settings(model)
    spec = models.spec_of(model)
    named = {"name": spec["name"]} if spec else {"name": model.title, "unregistered": True}
    return {**named, **model.plain()}


def not_a_config(path: Path, error: Exception) -> UsageError:
    """The error for a config from which no model can be made, from the one that was met."""
    what = f"{error} is missing" if isinstance(error, KeyError) else str(error).splitlines()[0]
    return UsageError(f"{path} is not the config of a lengthwise model: {what}")


def restored_model(stored: Mapping[str, Any], given: Model | None = None) -> Model:
    """What `plain_model` described. A model that no name leads to must be given again."""
    if given is not None:
        if plain_model(given) != stored:
            raise UsageError(f"the model that was given is not the one that is stored, {stored.get('name', 'ours')}")
        return given
    if "name" not in stored:
        return restored_settings(Architecture, stored)
    if stored.get("unregistered"):
        raise UsageError(
            f"the model is of a class {stored['name']} that was given as an object and cannot be found by name; pass "
            "it again, as in load_run(folder, model=...), or name its file in training, as in my.py::Net"
        )
    return models.restore(stored)
