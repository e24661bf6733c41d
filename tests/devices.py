"""A device that is not the processor, on any machine: tensors on it hold their numbers on the processor, and torch sees
another device. An operation on tensors of both fails as it does between a GPU and the processor."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping
from typing import Any
from unittest import mock

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._foreach_utils import _get_fused_kernels_supported_devices
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

NAME = "lazy"  # a kind of device that every build of torch knows, and that nothing is registered for
_aten = torch.ops.aten
_MOVES = {_aten._to_copy.default, _aten.copy_.default, _aten.set_.source_Tensor}
_CPU = torch.device("cpu")


class MixedDevices(RuntimeError):
    """Tensors of two devices in one operation."""


class Elsewhere(torch.Tensor):
    """A tensor on the other device; `numbers` are what it holds, on the processor."""

    numbers: torch.Tensor

    @staticmethod
    def __new__(cls, numbers: torch.Tensor) -> Elsewhere:
        shape = {"strides": numbers.stride(), "storage_offset": numbers.storage_offset(), "dtype": numbers.dtype}
        made = torch.Tensor._make_wrapper_subclass(cls, numbers.shape, device=torch.device(NAME, 0), **shape)
        made.numbers = numbers
        return made

    def __repr__(self, **_: Any) -> str:
        return f"Elsewhere({self.numbers})"

    def tolist(self) -> Any:
        return self.numbers.tolist()  # which torch refuses for classes of tensors, and allows on every device

    def data_ptr(self) -> int:
        return self.numbers.data_ptr()

    def numpy(self, *_: Any, **__: Any) -> Any:
        raise MixedDevices(f"a tensor on {NAME} as numbers of numpy")

    def __deepcopy__(self, memo: dict[int, Any]) -> Elsewhere:
        made = Elsewhere(self.numbers.clone())
        made.requires_grad_(self.requires_grad)
        for name in vars(self).keys() - {"numbers"}:  # that it is a parameter, for one
            setattr(made, name, getattr(self, name))
        memo[id(self)] = made
        return made

    @classmethod
    def __torch_dispatch__(cls, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(function, args, kwargs or {})


def _computed(function: Any, args: Any, kwargs: Mapping[str, Any]) -> Any:
    """The result of an operation, on the device of its tensors or on the one that is asked for."""
    given = tree_leaves((args, kwargs))
    there = [one for one in given if isinstance(one, Elsewhere)]
    here = [one for one in given if isinstance(one, torch.Tensor) and not isinstance(one, Elsewhere)]
    asked = None if kwargs.get("device") is None else torch.device(kwargs["device"])
    if not there and (asked is None or asked.type != NAME):
        return function(*args, **kwargs)
    if there and function not in _MOVES:
        if any(one.dim() for one in here):  # a single number may come from the processor
            raise MixedDevices(f"{function} of tensors on {NAME} and on the processor")
        if any(isinstance(one, torch.Generator) and one.device == _CPU for one in given):
            raise MixedDevices(f"{function} on {NAME} with a generator of the processor")
    plain = tree_map(lambda one: one.numbers if isinstance(one, Elsewhere) else one, (args, dict(kwargs)))
    if asked is not None and asked.type == NAME:
        plain[1]["device"] = _CPU
    if function is _aten._efficientzerotensor.default:  # zeros without memory, which only torch's own classes know
        function = _aten.zeros.default
    result = function(*plain[0], **plain[1])
    if function is _aten.copy_.default:
        return args[0]
    stays = bool(there) if asked is None else asked.type == NAME
    if not stays:
        return result
    known = {id(one.numbers): one for one in there}  # an operation in place gives what it was given

    def wrapped(one: Any) -> Any:
        if not isinstance(one, torch.Tensor):
            return one
        return known[id(one)] if id(one) in known else Elsewhere(one)

    return tree_map(wrapped, result)


class _Watching(TorchDispatchMode):
    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _computed(function, args, kwargs or {})


class _Making(TorchFunctionMode):
    """What makes a tensor of a list goes past every dispatch mode: on the other device it is made here and moved."""

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        how = dict(kwargs or {})
        if function in (torch.tensor, torch.as_tensor) and (there := how.pop("device", None)) is not None:
            return function(*args, **how).to(there)
        if function is torch.Tensor.__getitem__ and isinstance(args[1], list):
            return args[0][torch.tensor(args[1]).to(args[0].device)]
        return function(*args, **(kwargs or {}))


@contextlib.contextmanager
def another_device() -> Iterator[torch.device]:
    """A device beside the processor inside the block."""
    fused = _get_fused_kernels_supported_devices()
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)  # `.data = …` would leave `numbers` as they were
    try:
        with (
            mock.patch("torch.optim.optimizer._get_fused_kernels_supported_devices", return_value=[*fused, NAME]),
            # Inference mode goes past dispatch modes, so it is no more than `no_grad` here.
            mock.patch("torch._C._InferenceMode", side_effect=lambda _: torch.no_grad()),
            _Making(),
            _Watching(),
        ):
            yield torch.device(NAME)
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(before)
