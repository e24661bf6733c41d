"""How a query spreads its attention over the keys it sees: one rule per file.

A rule computes with the methods of the tensors it is given, so its file does not import torch.
"""

from lengthwise.models.attention.attention import Attention
from lengthwise.registry import Registry

__all__ = ["Attention", "attentions"]

attentions: Registry[Attention] = Registry(
    "attention rule",
    "lengthwise.models.attention",
    "lengthwise.attentions",
    base=Attention,
    contract="lengthwise.testing:check_attention",
)
