"""How a query spreads its attention over the keys it sees: one rule a file."""

from lengthwise.models.attention.attention import Attention
from lengthwise.registry import Registry

__all__ = ["Attention", "attentions"]

attentions: Registry[Attention] = Registry("attention", "lengthwise.models.attention", "lengthwise.attentions")
