"""Cluster measures of the outputs of named modules, for any torch model: a forward hook on each."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.geometry.clusters.groups import components
from lengthwise.geometry.clusters.measures import Floats, cluster_number, directions, effective_rank, mean_inner_product

if TYPE_CHECKING:
    from torch.nn import Module


@dataclass(eq=False)
class ClusterRecord:
    """What was recorded: for each module one entry per forward pass, each a mapping from measures to arrays [...] over
    the batch. `kappa` and `threshold` are those of `cluster_number` and of `components`."""

    kappa: float = 20.0
    threshold: float = 0.95
    passes: dict[str, list[Mapping[str, Floats]]] = field(default_factory=dict)

    def add(self, name: str, output: Any) -> None:
        """Measure an output [..., tokens, width]; the first of several, where a module returns more than one."""
        while isinstance(output, tuple | list):
            output = output[0]
        if not hasattr(output, "detach") or output.dim() < 2:
            raise UsageError(f"the module {name} returns no tensor [..., tokens, width], so it has no clusters")
        points = output.detach().double().cpu().numpy()
        unit = directions(points)
        found = {
            "clusters": cluster_number(unit, self.kappa),
            "groups": components(unit, self.threshold),
            "rank": effective_rank(points),
        }
        if points.shape[-2] > 1:
            found["mean_inner_product"] = mean_inner_product(unit)
        self.passes[name].append({measure: np.asarray(value) for measure, value in found.items()})

    def rows(self) -> list[dict[str, float | str | int]]:
        """One row per module and forward pass, with the mean over the batch of each measure."""
        return [
            {"module": name, "pass": place, **{measure: float(values.mean()) for measure, values in found.items()}}
            for name, passes in self.passes.items()
            for place, found in enumerate(passes)
        ]


@contextlib.contextmanager
def record_clusters(
    model: Module, modules: Sequence[str], *, kappa: float = 20.0, threshold: float = 0.95
) -> Iterator[ClusterRecord]:
    """Record cluster measures of the outputs of named modules of a torch model, while the context is open.

    `modules` are names as in `model.named_modules()`; each must return a tensor [..., tokens, width] (or a tuple that
    begins with one). A row of tokens is one configuration: padding counts as tokens, so pass rows of one length.
    Measures: `clusters` (N_kappa), `groups` (components joined by inner products above `threshold`), `rank` (effective
    rank) and `mean_inner_product`. The model's outputs are unchanged.
    """
    known = dict(model.named_modules())
    if missing := [name for name in modules if name not in known]:
        raise UsageError(f"the model has no module {missing[0]!r}; named_modules() lists {', '.join(list(known)[1:9])}")
    record = ClusterRecord(kappa, threshold, {name: [] for name in modules})

    def hook(name: str) -> Any:
        return lambda _module, _inputs, output: record.add(name, output)

    handles = [known[name].register_forward_hook(hook(name)) for name in modules]
    try:
        yield record
    finally:
        for handle in handles:
            handle.remove()
