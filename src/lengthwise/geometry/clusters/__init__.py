"""How many clusters points form: counts, ranks, components, angles, hemispheres and energies of unit vectors.

`record_clusters` measures the outputs of any torch model. Every other function takes points [..., n, d]: n points in d
dimensions, and a number for each configuration comes back.
"""

from lengthwise.geometry.clusters.groups import component_sweep, components
from lengthwise.geometry.clusters.hemispheres import hemisphere, hemisphere_margin
from lengthwise.geometry.clusters.measures import (
    cluster_number,
    directions,
    effective_rank,
    energy,
    energy_course,
    inner_products,
    least_inner_product,
    mean_inner_product,
    participation_ratio,
    rank_cap,
    vendi,
)
from lengthwise.geometry.clusters.recording import ClusterRecord, record_clusters

__all__ = [
    "ClusterRecord",
    "cluster_number",
    "component_sweep",
    "components",
    "directions",
    "effective_rank",
    "energy",
    "energy_course",
    "hemisphere",
    "hemisphere_margin",
    "inner_products",
    "least_inner_product",
    "mean_inner_product",
    "participation_ratio",
    "rank_cap",
    "record_clusters",
    "vendi",
]
