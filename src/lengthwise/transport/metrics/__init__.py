"""How far two trajectories are apart: one ground metric a file.

A metric is named as `edit`, `ngrams:n=3` or `features:use=length+max_depth`. What it is called, its settings and what
it was fitted on are part of every distance it gives, because another metric gives another number.
"""

from lengthwise.registry import Registry
from lengthwise.transport.metrics.metric import Fitted, FittedVectors, Metric, Vectors

__all__ = ["Fitted", "FittedVectors", "Metric", "Vectors", "metrics"]

metrics: Registry[Metric] = Registry(
    "metric",
    "lengthwise.transport.metrics",
    "lengthwise.metrics",
    base=Metric,
    contract="lengthwise.testing:check_metric",
)
