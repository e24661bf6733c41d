"""The contract of a model and of the network it builds, as a test."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from lengthwise.testing.rules import check_settings

if TYPE_CHECKING:
    from torch import Tensor, nn

_ITEMS, _TOKENS = 3, 12
_SLACK = 1e-4  # of the largest output: single precision, summed in another order


def check_model(model: Any, vocabulary: int = 11, outputs: int = 7) -> None:
    """Raise AssertionError unless `model` keeps the contract of `lengthwise.models.model.Model`.

    Checked: it is a frozen dataclass of settings; the network takes tokens [items, tokens] and gives [items, tokens,
    outputs], finite, at a training length and at twice that; outputs do not depend on other items, on chance or, in a
    causal model, on later tokens; a gradient reaches every parameter. A network may have `step(tokens, state)`, which
    gives the outputs at these tokens and the state after them (None before the first): read in pieces, a sequence must
    have the outputs that `forward` gives.
    """
    import torch

    check_settings(model, "a model", "causal")
    interface = SimpleNamespace(vocabulary=vocabulary, outputs=outputs, rows=2 * _TOKENS, trained=_TOKENS)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        network = model.build(interface)
        assert isinstance(network, torch.nn.Module), f"`build` gives a torch.nn.Module, not a {type(network).__name__}"
        for fault in network_faults(network, interface, model.causal, _TOKENS):
            raise AssertionError(fault)


def network_faults(network: nn.Module, interface: Any, causal: bool, tokens: int, trains: bool = True) -> Iterator[str]:
    """What is wrong with a network when it reads `tokens` tokens, and twice as many if it is to be trained; one
    sentence each. The network is left as it was.
    """
    import torch

    modes = [(module, module.training) for module in network.modules()]
    network.eval()
    try:
        with torch.no_grad():
            yield from _faults_of_outputs(network, interface, causal, tokens, trains)
    finally:
        for module, training in modes:
            module.training = training
    if trains:
        yield from _faults_of_gradients(copy.deepcopy(network).train(), interface, tokens)


def _faults_of_outputs(network: Any, interface: Any, causal: bool, tokens: int, longer: bool) -> Iterator[str]:
    for length in (tokens, 2 * tokens) if longer else (tokens,):
        read = _drawn(network, interface, length)
        found = network(read)
        if fault := _wrong_shape(found, (*read.shape, interface.outputs)):
            yield fault
            return
        if not bool(found.isfinite().all()):
            yield f"its outputs are not finite when it reads {length} tokens"
            return
    read = _drawn(network, interface, tokens)
    whole = network(read)
    slack = _SLACK * max(1.0, float(whole.abs().max()))
    if (gap := _gap(network(read), whole)) > slack:
        yield f"its outputs differ by {gap:.2g} when it reads the same tokens again in evaluation mode"
        return
    if (gap := _gap(network(read[1:]), whole[1:])) > slack:
        yield (
            f"the outputs of an item change by {gap:.2g} with the items that are read together with it; recurrent "
            "layers and attention of torch take items first only with batch_first=True"
        )
    for place in {tokens // 2, tokens - 1} - {0} if causal else ():
        changed = read.clone()
        changed[:, place:] = (read[:, place:] + 1) % interface.vocabulary
        for other, what in ((changed, "another token stands behind it"), (read[:, :place], "nothing stands behind it")):
            if (gap := _gap(network(other)[:, :place], whole[:, :place])) > slack:
                yield (
                    f"it looks ahead: an output before token {place} changes by {gap:.2g} when {what}, which "
                    "causal = False declares"
                )
                return
    if causal and hasattr(network, "step"):
        yield from _faults_of_state(network, read, whole, slack)


def _faults_of_state(network: Any, read: Tensor, whole: Tensor, slack: float) -> Iterator[str]:
    """Two pieces of several tokens, and single tokens before and between them."""
    state, place, quarter = None, 0, max(1, read.shape[1] // 4)
    for size in (1, quarter, 1, 1, quarter):
        piece = read[:, place : place + size]
        if not piece.shape[1]:
            return
        found = network.step(piece, state)
        if not (isinstance(found, tuple) and len(found) == 2):
            yield f"`step` gives a {type(found).__name__} where outputs and a state, (outputs, state), are wanted"
            return
        outputs, state = found
        if fault := _wrong_shape(outputs, (*piece.shape, whole.shape[2])):
            yield fault.replace("`forward`", "`step`")
            return
        if (gap := _gap(outputs, whole[:, place : place + size])) > slack:
            yield f"the outputs of `step` at token {place} differ by {gap:.2g} from those of `forward`"
            return
        place += size


def _faults_of_gradients(network: Any, interface: Any, tokens: int) -> Iterator[str]:
    import torch

    trained = {name: one for name, one in network.named_parameters() if one.requires_grad}
    if not trained:
        yield "it has no parameters to train"
        return
    outputs = network(_drawn(network, interface, tokens))
    total = (outputs * torch.randn_like(outputs)).sum()
    reached = torch.autograd.grad(total, list(trained.values()), allow_unused=True) if total.requires_grad else ()
    for name, gradient in zip(trained, reached or [None] * len(trained), strict=True):
        if gradient is None:
            yield f"no gradient reaches its parameter {name}; leave it out, or set requires_grad to False"
        elif not bool(gradient.isfinite().all()):
            yield f"the gradient of its parameter {name} is not finite"


def _drawn(network: Any, interface: Any, tokens: int) -> Tensor:
    """Tokens, where the network is."""
    import torch

    drawn = torch.randint(interface.vocabulary, (_ITEMS, tokens), generator=torch.Generator().manual_seed(tokens))
    return drawn.to(next((one.device for one in network.parameters()), drawn.device))


def _wrong_shape(found: Any, wanted: tuple[int, ...]) -> str:
    shape = getattr(found, "shape", None)
    if shape is None:
        return f"`forward` gives a {type(found).__name__} where a tensor [items, tokens, outputs] is expected"
    if tuple(shape) != wanted:
        return (
            f"`forward` gives a tensor of shape {list(shape)} where [items, tokens, outputs] = {list(wanted)} is "
            "expected"
        )
    return (
        "" if found.is_floating_point() else f"`forward` gives {found.dtype} where floating-point numbers are expected"
    )


def _gap(found: Tensor, wanted: Tensor) -> float:
    return float((found - wanted).abs().max())
