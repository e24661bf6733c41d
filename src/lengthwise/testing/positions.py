"""The contract of a position encoding, as a test."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.positions.position import Shape
from lengthwise.seeds import Seeds
from lengthwise.testing.rules import check_settings

if TYPE_CHECKING:
    from torch import Tensor

_TOKENS, _ROWS, _TRAINED = 24, 160, 12  # the model is meant for _ROWS tokens; the tests mostly read _TOKENS
_SHIFTS = (1, 7, 100, 10_000)
_FAR = 2**20
_SAME, _DIFFERENT = 1e-10, 1e-6


def check_position(position: Any, heads: int = 4, width: int = 32) -> None:
    """Raise AssertionError unless `position` keeps the contract of `lengthwise.positions.position.Position`.

    Checked in float64, for a decoder and (unless `build` refuses it with a `UsageError`) for an encoder: shapes, finite
    gradients, that the logits of a query with a cache are those it has within the sequence, and that the declarations
    are true and not too modest: `shift_invariant` means that no logit moves, its absence that some does;
    `beyond_training` that positions far away work, its absence that they are refused with a `UsageError`; `real` that
    it is finite between whole positions and does not jump there. Then the positions that
    `indices` gives: increasing, the same for equal seeds, and known to the encoder; with `from_task` those that `place`
    gives, which are the same for equal ids of an item. Every parameter is moved a little first, as a promise has to
    hold for a trained encoding as well as for a fresh one.
    """
    import torch

    from lengthwise.positions.networks.encoders import Encoder

    check_settings(position, "a position encoding", "shift_invariant", "beyond_training")
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(5)
        for causal in (True, False):
            shape = Shape(width, heads, _ROWS, _TRAINED, causal)
            try:
                position.check(shape)
                encoder = position.build(shape)
            except UsageError:
                assert not causal, "it builds an encoder for a decoder"
                continue
            assert isinstance(encoder, Encoder), f"`build` gives a lengthwise.Encoder, not a {type(encoder).__name__}"
            probe = _Tried(encoder.double(), shape)
            _check_shapes(probe)
            _check_gradients(probe)
            _check_growth(probe)
            _check_shift(probe, position.shift_invariant, position.beyond_training)
            _check_reach(probe, position)
            _check_real(probe, position.real)
            (_check_placed if position.from_task else _check_indices)(probe, position)


class _Tried:
    """An encoder with moved parameters, and random tokens and projections to look at it through."""

    def __init__(self, encoder: Any, shape: Any) -> None:
        import torch

        self.encoder, self.shape = encoder, shape
        for name, parameter in encoder.named_parameters():
            assert parameter.is_floating_point(), f"the parameter {name} is real"
            parameter.data += 0.02 * torch.randn_like(parameter)
        self.tokens = torch.randn(2, _TOKENS, shape.width, dtype=torch.float64)
        self.project = torch.randn(2, shape.width, shape.width, dtype=torch.float64) / math.sqrt(shape.width)
        self.places = torch.arange(_TOKENS)

    def parts(self, at: Tensor, index: Tensor, start: int = 0) -> dict[str, Tensor | None]:
        """What the encoder gives for tokens at these positions, where only those from `start` on are queries."""
        x = self.tokens[:, : at.shape[1]]
        added = self.encoder.embed(at)
        _check_shape("embed", added, "items or 1, tokens, width", (len(at), at.shape[1], self.shape.width))
        x = x if added is None else x + added
        items, tokens, _ = x.shape
        q, k = ((x @ matrix).view(items, tokens, self.shape.heads, -1).transpose(1, 2) for matrix in self.project)
        q, asked = q[:, :, start:], at[:, start:]
        return {
            "embed": added,
            "queries": self.encoder.rotate(q, asked),
            "keys": self.encoder.rotate(k, at),
            "bias": self.encoder.bias(asked, at),
            "scores": self.encoder.scores(q, k, asked, at, index[start:]),
        }

    def logits(self, at: Tensor, index: Tensor, start: int = 0) -> Tensor:
        """The logits [2, heads, queries, keys] as a model computes them; 0 where a decoder does not look."""
        import torch

        parts = self.parts(at, index, start)
        scores = parts["scores"]
        if scores is None:
            scores = parts["queries"] @ parts["keys"].transpose(2, 3)  # pyright: ignore
        logits = scores / math.sqrt(self.shape.head_width)
        logits = logits if parts["bias"] is None else logits + parts["bias"]
        ahead = torch.arange(at.shape[1]) > torch.arange(start, at.shape[1])[:, None]
        return logits.masked_fill(ahead, 0.0) if self.shape.causal else logits


def _check_shape(name: str, part: Any, meaning: str, wanted: tuple[int, ...]) -> None:
    """Refuse what has another shape than the contract asks for, and say which; the first number may also be 1 where the
    meaning says so."""
    if part is None:
        return
    given = tuple(getattr(part, "shape", ("no tensor",)))
    first = {wanted[0], 1} if meaning.startswith("items or 1") else {wanted[0]}
    assert given[1:] == wanted[1:] and given[0] in first, (
        f"`{name}` gives a tensor of shape {list(given)} where [{meaning}] = {list(wanted)} is expected"
    )


def _check_shapes(probe: _Tried) -> None:
    shape, queries = probe.shape, _TOKENS - 10
    at = probe.places[None] * 2 + 3
    for rows in (1, 2):
        parts = probe.parts(at.expand(rows, -1), probe.places, start=10)
        for name, length in (("queries", queries), ("keys", _TOKENS)):
            wanted = (2, shape.heads, length, shape.head_width)
            _check_shape("rotate", parts[name], "items, heads, tokens, head width", wanted)
        square = (shape.heads, queries, _TOKENS)
        _check_shape("bias", parts["bias"], "items or 1, heads, queries, keys", (rows, *square))
        _check_shape("scores", parts["scores"], "items, heads, queries, keys", (2, *square))
        for name, part in parts.items():
            assert part is None or part.dtype == probe.tokens.dtype, (
                f"`{name}` gives {part.dtype} in a float64 model; compute in the type of the input or the parameters"  # pyright: ignore
            )
    one, two = probe.logits(at, probe.places), probe.logits(at.expand(2, -1), probe.places)
    assert _gap(one, two) <= _SAME, "positions given once for all items and given for each item have the same logits"


def _check_gradients(probe: _Tried) -> None:
    probe.tokens.requires_grad_()
    logits = probe.logits(probe.places[None], probe.places)
    logits.square().sum().backward()
    for name, parameter in [("the tokens", probe.tokens), *probe.encoder.named_parameters()]:
        assert parameter.grad is None or parameter.grad.isfinite().all(), f"the gradient of {name} is finite"
    probe.tokens.requires_grad_(False)


def _check_growth(probe: _Tried) -> None:
    """A query by itself, with the keys it sees, has the logits it has within the whole sequence."""
    at = (probe.places**2 // 5 + probe.places)[None]  # gaps that grow, as `indices` may leave any
    whole = probe.logits(at, probe.places)
    for end in range(1, _TOKENS + 1):
        if probe.shape.causal or end == _TOKENS:
            alone = probe.logits(at[:, :end], probe.places[:end], start=end - 1)
            gap = _gap(alone[:, :, 0], whole[:, :, end - 1, :end])
            assert gap <= _SAME, f"the logits of token {end} change by {gap:.1e} when others are read with it"


def _check_shift(probe: _Tried, declared: bool, endless: bool) -> None:
    """Moving the positions, with and without the places, moves no logit; or some, where that is what is declared."""
    whole = probe.logits(probe.places[None], probe.places)
    largest = 0.0
    for shift in _SHIFTS:
        for places in (probe.places, probe.places + shift):
            try:
                gap = _gap(whole, probe.logits(probe.places[None] + shift, places))
            except UsageError:
                assert not endless, f"it is declared to be defined beyond training, but not at position {shift}"
                continue
            assert not declared or gap <= _SAME, (
                f"it is declared shift-invariant, and a shift by {shift} changes a logit by {gap:.1e}"
            )
            largest = max(largest, gap)
    assert declared or largest > _DIFFERENT, "it is not declared shift-invariant, yet no shift changes a logit"


def _check_reach(probe: _Tried, position: Any) -> None:
    """Far positions are finite where that is declared; else some length is refused."""
    lengths = [3 * _ROWS * 10**power for power in range(4) if 3 * _ROWS * 10**power < _FAR] + [_FAR]
    refusal = None
    for length in lengths:
        try:
            at = _counted(probe, position, length)[:, -4:]
            logits = probe.logits(at, probe.places[:4] + (length - 4))
        except UsageError as error:
            refusal = str(error)
            break
        except Exception as error:
            raise AssertionError(f"length {length} is refused with {error!r} and not with a UsageError") from error
        assert logits.isfinite().all(), f"logits are finite at length {length}"
    if position.beyond_training:
        assert refusal is None, f"it is declared to be defined beyond training, and says: {refusal}"
    else:
        assert refusal is not None, f"it is declared to end somewhere, yet {_FAR} tokens are no problem"


def _check_indices(probe: _Tried, position: Any) -> None:
    for training in (False, True):
        for length in (1, 5, _TRAINED):
            for seeds in (None, Seeds(3), Seeds(4)):
                at = position.indices(length, 2, probe.shape, seeds, training)
                again = position.indices(length, 2, probe.shape, seeds, training)
                _check_shape("choose", at, "items or 1, tokens", (2, length))
                assert float(at.min()) >= 0, "positions are 0 or more"
                assert position.real or not at.is_floating_point(), "positions are whole, or it is declared real"
                assert (at.diff(dim=1) > 0).all(), "a later token has a larger position"
                assert at.equal(again), f"positions are the same again for {'equal' if seeds else 'no'} seeds"
                assert probe.logits(at, probe.places[:length]).isfinite().all(), "its own positions have finite logits"


def _check_placed(probe: _Tried, position: Any) -> None:
    """Positions from the ids of a task: `<bos>`, a sign, and numbers whose digits share ids."""
    ids = np.array([[0, 1, 2, 3, -4, 1, 2, 3, 0, 1, 2, 3, 4, 0], [0, 2, 1, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0]])
    for training in (False, True):
        for seeds in (None, Seeds(3), Seeds(4)):
            at = position.place(ids, probe.shape, seeds, training)
            _check_shape("place", at, "items, tokens", ids.shape)
            assert np.issubdtype(at.dtype, np.integer) and at.min() >= 0, "positions are whole numbers from 0 on"
            assert np.array_equal(at, position.place(ids, probe.shape, seeds, training)), "equal seeds, equal positions"
            assert np.array_equal(at[:1], position.place(ids[:1], probe.shape, seeds, training)), "whatever the batch"
            logits = probe.logits(probe.places.new_tensor(at), probe.places[: ids.shape[1]])
            assert logits.isfinite().all(), "its own positions have finite logits"
    try:
        position.choose(5, 2, probe.shape, None, False)
    except UsageError:
        return
    raise AssertionError("`choose` refuses with a UsageError where positions come from the task")


def _counted(probe: _Tried, position: Any, length: int) -> Tensor:
    """The positions of a sequence; with ids from the task, of one whose tokens are counted."""
    if position.from_task:
        return probe.places.new_tensor(position.place(np.tile(np.arange(length), (2, 1)), probe.shape, None, False))
    return position.indices(length, 2, probe.shape, None, False)


def _check_real(probe: _Tried, declared: bool) -> None:
    """Halves are finite, and a step of 1e-6 moves no logit by much."""
    if not declared:
        return
    at = probe.places[None].double() + 0.5
    logits = probe.logits(at, probe.places)
    assert logits.isfinite().all(), "it is declared real, and logits at halves are not finite"
    gap = _gap(logits, probe.logits(at * (1 + 1e-9), probe.places))
    assert gap <= _DIFFERENT, f"it is declared real, and a step of 1e-9 of a position changes a logit by {gap:.1e}"


def _gap(one: Tensor, two: Tensor) -> float:
    return float((one - two).detach().abs().max())
