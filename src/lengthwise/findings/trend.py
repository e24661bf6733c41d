"""One configuration: does its risk rise with the distance from training?"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

Configuration = tuple[str, str, int, int]  # task, position, depth, width


@dataclass(frozen=True)
class Trend:
    """Risk against W1 over the levels of one configuration, its seeds averaged; levels stand in the order of W1.

    `fitted` is the nearest rising curve (isotonic), `explained` the share of the variance over levels that it explains
    and `residual` the root mean square of what it leaves. `rho` is Spearman's correlation, None where the risk never
    changes; `p_value` is one-sided, by shuffling the levels. `monotone` is the verdict, None with too few levels.
    """

    configuration: Configuration
    seeds: tuple[int, ...]
    names: tuple[str, ...]
    w1: tuple[float, ...]
    risk: tuple[float, ...]
    fitted: tuple[float, ...]
    explained: float | None
    residual: float
    rho: float | None
    rho_by_seed: tuple[float | None, ...]
    p_value: float | None
    monotone: bool | None
    learned: bool

    def plain(self) -> dict[str, Any]:
        return asdict(self)
