"""The contract of models: a dataclass of settings that builds a network. No torch here.

A class of `torch.nn.Module` needs nothing of this: `model_class` makes settings of the arguments of its `__init__`.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
from typing import TYPE_CHECKING, Any, ClassVar

from lengthwise.errors import UsageError
from lengthwise.registry import named_in, plain_settings

if TYPE_CHECKING:
    from torch import nn

    from lengthwise.models.architecture import Interface


_PLAIN = (bool, int, float, str, type(None))


class Model(abc.ABC):
    """What is trained. A subclass is a frozen dataclass of settings.

    `causal` declares that an output depends on its own token and earlier ones alone. A model that reads everything
    (`causal = False`) is given the prompt without the answer.
    """

    causal: bool = True

    @property
    def title(self) -> str:
        """What it is called where it has no name."""
        return type(self).__name__

    @abc.abstractmethod
    def build(self, interface: Interface) -> nn.Module:
        """An untrained network: `forward` takes tokens [items, tokens] and gives [items, tokens, outputs]."""

    def plain(self) -> dict[str, Any]:
        """The settings as JSON-ready data. An argument of another type can only have its default."""
        return {name: value for name, value in _settings(self).items() if isinstance(value, _PLAIN)}


class BuiltModel(Model):
    """A dataclass of settings that names its network, "module:class"; the class is called with the settings and the
    interface, so that the settings are read without torch."""

    network: ClassVar[str]

    def __post_init__(self) -> None:
        for name, value in _settings(self).items():
            least = int(name != "convolution")
            if type(value) is int and value < least:
                raise UsageError(f"{name} must be at least {least}, not {value}")
        width, heads = (getattr(self, name, 1) for name in ("width", "heads"))
        if width % heads:
            raise UsageError(f"width {width} is not divisible by {heads} heads")

    def build(self, interface: Interface) -> nn.Module:
        return named_in(self.network)(self, interface)

    def plain(self) -> dict[str, Any]:
        return plain_settings(self)


class ModuleModel(Model):
    """A class of `torch.nn.Module`, called with the numbers of tokens and of outputs and with its settings."""

    network: ClassVar[Any]

    def build(self, interface: Interface) -> nn.Module:
        return self.network(vocabulary=interface.vocabulary, outputs=interface.outputs, **_settings(self))


def _settings(model: Any) -> dict[str, Any]:
    return {f.name: getattr(model, f.name) for f in dataclasses.fields(model)}


_FIXED = {"vocabulary": "tokens", "outputs": "outputs at each token"}
_TAKEN = ("name", "title", "build", "plain", "network", "unregistered")


@functools.cache
def model_class(network: type) -> type[ModuleModel]:
    """The model whose settings are the arguments of a network's `__init__`, apart from `vocabulary` and `outputs`."""
    arguments = list(inspect.signature(network).parameters.values())
    fields: list[Any] = []
    for one in arguments:
        if one.name in _FIXED or one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
            continue
        if one.name in _TAKEN:
            raise UsageError(f"the network {network.__name__} has an argument {one.name!r}; give it another name")
        known, default = one.annotation is not one.empty, one.default is not one.empty
        kind = one.annotation if known else type(one.default) if default and one.default is not None else Any
        fields.append((one.name, kind, dataclasses.field(default=one.default)) if default else (one.name, kind))
    if missing := [name for name in _FIXED if name not in {one.name for one in arguments}]:
        raise UsageError(
            f"the network {network.__name__} must accept {missing[0]}, the number of {_FIXED[missing[0]]}, but its "
            "__init__ has no such argument; write __init__(self, vocabulary, outputs)"
        )
    inside = {
        "__module__": network.__module__,
        "__doc__": network.__doc__ or f"The network {network.__name__}.",
        "network": network,
    }
    if not any(one.name == "causal" for one in arguments):
        inside["causal"] = getattr(network, "causal", True)
    return dataclasses.make_dataclass(
        network.__name__, fields, bases=(ModuleModel,), namespace=inside, frozen=True, kw_only=True
    )
