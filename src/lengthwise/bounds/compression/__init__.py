"""How long a model's description is: a message that is really written, and really decodes back.

quantisers     weights on a few levels: uniform, k-means, or kept as they are
kmeans         one-dimensional k-means on counts
tables         whole-number frequencies from which encoder and decoder build the same code
symbols        the entropy coder, with a table or learning as it goes
bit_strings    numbers as bits, each of which says where it ends
tensor_codes   the ways to write one tensor, of which the shortest is taken
names          names and shapes of many tensors in few bytes
sharing        one codebook for many tensors
envelope       checksum, header and pieces around what is coded
message        the whole model as bytes, and back
gguf_file      the same for the blocks of a GGUF file
gguf_blocks    what the bytes of its blocks mean
"""

from lengthwise.bounds.compression.message import Message, decode, encode
from lengthwise.bounds.compression.quantisers import Quantised, Quantiser, quantisers

__all__ = ["Message", "Quantised", "Quantiser", "decode", "encode", "make_quantiser"]


def make_quantiser(spec: str) -> Quantiser:
    """The quantiser a text describes: `uniform:levels=16`, `kmeans:levels=8,share=True`, `exact`."""
    return quantisers.make(spec)
