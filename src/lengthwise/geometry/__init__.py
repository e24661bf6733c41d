"""Attention as transport, tokens as particles, and measures of how tokens cluster. Importing it does not import torch.

from lengthwise.geometry import sinkhorn_attention, record_clusters
output, coupling = sinkhorn_attention(query, key, value)     # attention with a budget for keys
with record_clusters(model, ["encoder.layers.0"]) as seen:   # how far the tokens of any torch model have clustered
    model(inputs)
seen.rows()
"""

from lengthwise.geometry.clusters import ClusterRecord, record_clusters
from lengthwise.geometry.sinkhorn import Coupling, sinkhorn_attention

__all__ = ["ClusterRecord", "Coupling", "record_clusters", "sinkhorn_attention"]
