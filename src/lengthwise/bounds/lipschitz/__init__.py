"""How much a part of a model, or all of it, can stretch distances: certified upper bounds on stated sets.

Numbers in, `PartBound`s out, each of which gives a `Claim`. The statements and their proofs are in
docs/explanation/bounds.md.

    attention_bound, AttentionHead      softmax attention on a ball: token-wise and Frobenius
    local_attention_constant            softmax attention near given sequences
    l2_attention_bound                  attention by distance, everywhere
    plain_mlp_bound, gated_mlp_bound    MLPs
    norm_bound                          LayerNorm and RMSNorm
    residual, chained                   parts put together
    spectral_norm                       a norm that is certainly not too small
"""

from lengthwise.bounds.lipschitz.attention import (
    AttentionHead,
    HeadNorms,
    SeenAttention,
    Visibility,
    attention_bound,
    gibbs_mean,
    l2_attention_bound,
    local_attention_constant,
    local_numbers,
)
from lengthwise.bounds.lipschitz.bound import PartBound, Region, chained, residual
from lengthwise.bounds.lipschitz.layers import SLOPES, gated_mlp_bound, norm_bound, plain_mlp_bound
from lengthwise.rounding import spectral_norm

__all__ = [
    "SLOPES",
    "AttentionHead",
    "HeadNorms",
    "PartBound",
    "Region",
    "SeenAttention",
    "Visibility",
    "attention_bound",
    "chained",
    "gated_mlp_bound",
    "gibbs_mean",
    "l2_attention_bound",
    "local_attention_constant",
    "local_numbers",
    "norm_bound",
    "plain_mlp_bound",
    "residual",
    "spectral_norm",
]
