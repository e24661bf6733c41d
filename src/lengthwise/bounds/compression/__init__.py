"""How long a model's description is: a message that is actually written, and actually decodes back.

quantisers     weights on a few levels: uniform, k-means, or kept as they are
symbols        numbers as self-delimiting bits, and the entropy coder, with a table or learning as it goes
envelope       names, shapes, checksum, header and pieces around what is coded
message        the whole model as bytes, and back; a tensor is written in the shortest of several ways
gguf_file      the same for the blocks of a GGUF file
"""

from lengthwise.bounds.compression.message import Message, decode, encode
from lengthwise.bounds.compression.quantisers import Quantised, Quantiser, quantisers

__all__ = ["Message", "Quantised", "Quantiser", "decode", "encode", "make_quantiser"]


def make_quantiser(spec: str) -> Quantiser:
    """The quantiser a text describes: `uniform:levels=16`, `kmeans:levels=8,share=True`, `exact`."""
    return quantisers.make(spec)
