"""A whole model as one string of bytes that decodes back with nothing else known but this package.

The number of bits of that string, with a prefix that says how long it is, is the -log2 of a prior probability of the
model that was fixed before any data were seen (Kraft 1949): this is what bounds charge. See docs/compression.md. Many
tensors may share one codebook: each is divided by a scale of its own, and all of them use the same levels.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lengthwise.bounds.compression.bit_strings import DAMAGED, length_prefix, read_prefix
from lengthwise.bounds.compression.envelope import CHECKSUM, grouped, guarded, listed, opened, sealed, sizes_of, taken
from lengthwise.bounds.compression.quantisers import Codebook, Quantised, Quantiser, Singles, checked, to_bfloat16
from lengthwise.bounds.compression.tensor_codes import TensorReader, TensorWriter, scaled
from lengthwise.errors import LengthwiseError, UsageError
from lengthwise.messages import explain
from lengthwise.records import Assumption, Claim, Reference

MOST_FITTED = 1 << 24  # numbers of which the shared levels are fitted to all; of more, every second, third, …


def fit_shared(tensors: Iterable[Singles], quantiser: Quantiser) -> Codebook | None:
    """Levels for all tensors that vary, each in units of its scale; None where none does."""
    units = [(tensor.ravel(), scale) for tensor in tensors if (scale := scale_of(tensor))]
    if not units:
        return None
    stride = -(-sum(len(numbers) for numbers, _ in units) // MOST_FITTED)
    pieces = []
    for numbers, scale in units:
        ends = np.array([numbers.min(), numbers.max()]) if stride > 1 else numbers[:0]
        pieces.append((np.concatenate([numbers[::stride], ends]) / scale).astype(np.float32))
    return quantiser.codebook(np.concatenate(pieces))


def on_shared(tensor: Singles, shared: Codebook) -> tuple[Quantised, float] | None:
    """The tensor on the shared levels and its scale; None where it has no scale or its levels would fall together."""
    scale = scale_of(tensor)
    levels = scaled(shared.levels, scale)
    if not scale or not np.isfinite(levels).all() or np.any(np.diff(levels) <= 0):
        return None
    return Quantised(levels, Codebook(levels).nearest(tensor)), scale


def scale_of(tensor: Singles) -> float:
    """The root mean square, rounded to 16 bits; 0 for a tensor of one value, which needs no levels."""
    if tensor.size < 2 or tensor.min() == tensor.max():
        return 0.0
    scale = to_bfloat16(float(np.sqrt(np.mean(np.square(tensor, dtype=np.float64)))))
    return scale if np.isfinite(scale) and scale > np.finfo(np.float32).tiny else 0.0


MOST_NUMBERS = 1 << 31
PIECES = ("tables", "exact", "symbols")

explain(
    {
        "message.bits": "message length",
        "message.decodes": "the message decodes to the model that is bounded, bit for bit",
        "message.decoder": "the decoder was fixed before the training data were seen",
    }
)


@dataclass(frozen=True, eq=False)
class Message:
    """A model written down. `decode(data)` gives header and tensors back.

    data            everything
    parts           bits by part; they sum up to `bits`
    numbers         how many weights it holds
    entropy_bits    empirical entropy of the coded symbols, summed over tensors: for comparison, never charged
    """

    data: bytes
    parts: Mapping[str, int]
    numbers: int
    entropy_bits: float

    @property
    def bits(self) -> int:
        """What is charged: the prefix that says how long the data are, and the data."""
        return 8 * (len(length_prefix(len(self.data))) + len(self.data))

    def framed(self) -> bytes:
        """The data after their length: no framed message is the beginning of another."""
        return length_prefix(len(self.data)) + self.data

    def claim(self) -> Claim:
        """The length as a claim."""
        assumptions = (Assumption("message.decodes", "checked"), Assumption("message.decoder"))
        evidence = {"parts": dict(self.parts), "bits_per_weight": self.bits / max(self.numbers, 1)}
        reference = Reference("docs/compression.md", "What a message is")
        return Claim("message.bits", self.bits, "bits", "certified", "holds", None, assumptions, reference, evidence)


def encode(tensors: Mapping[str, NDArray[Any]], header: Mapping[str, Any], quantiser: Quantiser) -> Message:
    """The tensors on the quantiser's levels, with a header (JSON-ready: architecture, seed, form, …), as a message.

    The message is decoded and compared before it is returned: one that does not decode to the model is an error.
    """
    numbers = {name: checked(tensor, f"the tensor {name!r}") for name, tensor in tensors.items()}
    groups = grouped({name: tensor.shape for name, tensor in numbers.items()})
    shared = fit_shared(numbers.values(), quantiser) if quantiser.share else None
    writer, digests = TensorWriter(shared), {}
    for name in listed(groups, MOST_NUMBERS):
        tensor = numbers[name]
        if quantiser.keeps:
            sent = writer.keep(tensor)
        elif shared is not None and (found := on_shared(tensor, shared)):
            sent = writer.write(tensor, *found)
        else:
            sent = writer.write(tensor, quantiser.quantise(tensor))
        digests[name] = _digest(sent)
    written = (writer.tables.to_bytes(), bytes(writer.exact), writer.symbols.to_bytes())
    data, sizes = sealed({"header": dict(header), "tensors": groups}, dict(zip(PIECES, written, strict=True)))
    _verify(data, dict(header), tensors.keys(), digests)
    total = sum(tensor.size for tensor in numbers.values())
    return Message(data, _in_bits(data, sizes), total, writer.entropy)


def decode(data: bytes, *, limit: int = MOST_NUMBERS) -> tuple[dict[str, Any], dict[str, Singles]]:
    """Header and tensors of a message, bit for bit as they were sent. `limit`: the most numbers to make room for."""
    header, tensors = _opened(data, limit)
    return header, dict(tensors)


def bits_by_part(data: bytes) -> dict[str, int]:
    """The bits of a message by part, counted from the message itself: `Message.parts`. They sum up to its bits."""
    return _in_bits(data, sizes_of(data, PIECES))


def unframed(stream: bytes) -> tuple[bytes, bytes]:
    """The first message of a stream of framed ones, and what follows it."""
    length, start = read_prefix(stream)
    return taken(stream, start, length), stream[start + length :]


def _in_bits(data: bytes, sizes: Mapping[str, int]) -> dict[str, int]:
    parts = {"prefix": len(length_prefix(len(data))), "checksum": CHECKSUM, **sizes}
    return {name: 8 * size for name, size in parts.items()}


def _opened(data: bytes, limit: int) -> tuple[dict[str, Any], Iterator[tuple[str, Singles]]]:
    """The header, and the tensors as they are asked for."""
    content, pieces = opened(data, PIECES)
    if content.keys() != {"header", "tensors"} or type(content["header"]) is not dict:
        raise UsageError(f"{DAMAGED}: its header cannot be read")
    return content["header"], guarded(_read(listed(content["tensors"], limit), pieces))


def _read(shapes: Mapping[str, tuple[int, ...]], pieces: list[bytes]) -> Iterator[tuple[str, Singles]]:
    reader = TensorReader(*pieces)
    for name, shape in shapes.items():
        yield name, reader.read(shape)
    reader.finish()


def _verify(data: bytes, header: dict[str, Any], names: Set[str], digests: Mapping[str, Any]) -> None:
    """Decodes the message, one tensor at a time, and compares it with what was meant."""
    found, tensors = _opened(data, MOST_NUMBERS)
    seen = {name: _digest(tensor) for name, tensor in tensors}
    if found != header or seen != digests or seen.keys() != names:
        raise LengthwiseError("a message did not decode to the model it was made from; no length is given for it")


def _digest(tensor: Singles) -> tuple[tuple[int, ...], bytes]:
    return tensor.shape, hashlib.blake2b(np.ascontiguousarray(tensor).data, digest_size=16).digest()
