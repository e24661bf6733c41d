"""A network where it shall compute: on a device, in a precision, compiled or not (`lengthwise.hardware` says which)."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Iterator
from typing import Any, TypeVar

import torch
from torch import Tensor, nn

from lengthwise.errors import UsageError
from lengthwise.hardware import Computing, Precision, current

_ROUNDED = "rounds_to_bf16"
AnyNetwork = TypeVar("AnyNetwork", bound=nn.Module)


def devices() -> dict[str, str]:
    """The devices that are here, by the names they are chosen with, and what each is; the processor comes first."""
    found = {"cpu": "the processor"}
    if torch.cuda.is_available():
        found |= {f"cuda:{one}": torch.cuda.get_device_name(one) for one in range(torch.cuda.device_count())}
    if torch.backends.mps.is_available():
        found["mps"] = "the GPU of this Mac"
    return found


def device_of(asked: str) -> torch.device:
    """The device of a name; a usage error that names those that are here where that one is not."""
    here = [*devices()]
    wanted = {"auto": here[1] if len(here) > 1 else "cpu", "cuda": "cuda:0"}.get(asked, asked)
    if wanted not in here:
        raise UsageError(f"there is no device {asked} here; there is {', '.join(here)}")
    return torch.device(wanted)


def placed(network: AnyNetwork, how: Computing | None = None) -> AnyNetwork:
    """The network itself, moved and changed to compute as `how` says, or as `computing` does around this call."""
    how = current() if how is None else how
    if how.device is not None:
        network.to(device_of(how.device))
    if how.precision == "bf16":
        inner = getattr(network, "base_model", network)  # of a model of transformers: all but its head
        for one in (network, inner):
            if not hasattr(one, _ROUNDED):
                object.__setattr__(one, "__class__", _rounding(type(one)))
    if how.compile and network._compiled_call_impl is None:
        _check_compiler(network)
        network.compile(dynamic=True)
    return network


def rounding_of(network: nn.Module) -> dict[str, Precision]:
    """The precision of a network where it is not float32, as a setting to store: whoever makes the numbers again needs
    to know it."""
    return {"precision": "bf16"} if hasattr(network, _ROUNDED) else {}


def home(network: nn.Module) -> torch.device:
    """Where a network computes: what it reads must be there."""
    tensors = itertools.chain(network.parameters(), network.buffers())  # the first is enough, and this is asked often
    return next((one.device for one in tensors), torch.device("cpu"))


Precise = TypeVar("Precise", bound=Tensor | nn.Module)


def precise(thing: Precise) -> Precise:
    """A tensor or a network in float64: where it is, or on the processor where its device (mps) has no such numbers."""
    where = thing.device if isinstance(thing, Tensor) else home(thing)
    return (thing.cpu() if where.type == "mps" else thing).double()  # pyright: ignore[reportReturnType]


@contextlib.contextmanager
def drawing(seed: int, device: torch.device) -> Iterator[None]:
    """Random numbers from a seed, on the processor and on a device; the caller's are left as they were."""
    own = [device] if device.type == "cuda" else []
    with torch.random.fork_rng(devices=own):
        # torch.manual_seed also notes the seed for every kind of device that is not in use, which takes a millisecond
        (torch if own else torch.default_generator).manual_seed(seed)
        yield


@functools.cache
def _rounding(kind: type[nn.Module]) -> type[nn.Module]:
    """The same kind of network with its matrix products in bfloat16. Its outputs are float32. A class of its own, and
    not a function put into the network, so that a copy computes with its own weights."""
    plain = kind.forward

    @functools.wraps(plain)
    def forward(self: nn.Module, *args: Any, **kwargs: Any) -> Any:
        with torch.autocast(home(self).type, torch.bfloat16):
            outputs = plain(self, *args, **kwargs)
        if isinstance(outputs, Tensor):
            return _unrounded(outputs)
        for name in ("logits", "last_hidden_state"):  # of a model of transformers
            if isinstance(getattr(outputs, name, None), Tensor):
                outputs[name] = _unrounded(outputs[name])
        return outputs

    return type(kind.__name__, (kind,), {"forward": forward, "__module__": kind.__module__, _ROUNDED: True})


def _unrounded(outputs: Tensor) -> Tensor:
    return outputs.float() if outputs.dtype == torch.bfloat16 else outputs


def _check_compiler(network: nn.Module) -> None:
    """Refuse, in one sentence, to compile where torch would fail at the first pass."""
    if home(network).type != "cpu":
        return  # torch says what it misses: it brings what it needs for GPUs
    from torch._inductor import cpp_builder, exc  # it takes seconds

    try:
        cpp_builder.get_cpp_compiler()
    except exc.InvalidCxxCompiler:
        raise UsageError("compiling needs a C++ compiler such as g++, and none is here") from None
