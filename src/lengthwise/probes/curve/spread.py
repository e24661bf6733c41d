"""Many seeds: mean, spread, and which seeds were kept, by which rule."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lengthwise.errors import UsageError
from lengthwise.figures.curves import curve_chart, curve_svg
from lengthwise.messages import explain
from lengthwise.probes.curve.curve import Curve
from lengthwise.probes.curve.standard import THRESHOLD
from lengthwise.records import Assumption, Claim

GROUPS = {"kept": "kept seeds", "all": "all seeds"}

explain(
    {
        "spread.reach.kept": "reach, mean over kept seeds",
        "spread.reach.all": "reach, mean over all seeds",
        "spread.exact.kept": "exact match, sizes {first} to {last}, mean over kept seeds",
        "spread.exact.all": "exact match, sizes {first} to {last}, mean over all seeds",
        "spread.exchangeable": "seeds are exchangeable",
    }
)


@dataclass(frozen=True)
class Keep:
    """The rule by which seeds are kept: those that learned, and, where `in_range` is stricter, have at least this exact
    match over the whole training range. Where it cannot be said whether a seed learned, it is kept."""

    in_range: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.in_range <= 1:
            raise UsageError(f"seeds are kept by a share of items in [0, 1], not {self.in_range}")

    def __call__(self, curve: Curve) -> bool:
        trained = curve.bins([curve.train_size])
        if self.in_range and not trained:
            raise UsageError(
                f"no size up to the training size {curve.train_size} was measured, so no seed can be judged"
            )
        return self.keeps(curve.standing().learned, trained[0].exact if trained else None)

    def keeps(self, learned: bool | None, in_range: float | None) -> bool:
        """Whether a seed is kept that has learned or not, and has this exact match over the training range."""
        return learned is not False and (in_range or 0.0) >= self.in_range

    def __str__(self) -> str:
        text = f"exact match at least {THRESHOLD:.0%} at every size of the training range"
        return f"{text} and {100 * self.in_range:g}% over all of it" if self.in_range else text


@dataclass(frozen=True, repr=False)
class Spread:
    """The curves of several seeds of one configuration, kept and discarded."""

    kept: tuple[Curve, ...]
    discarded: tuple[Curve, ...]
    rule: Keep

    @property
    def _all(self) -> tuple[Curve, ...]:
        return (*self.kept, *self.discarded)

    def rows(self) -> list[dict[str, float]]:
        """For every size: mean, standard deviation, least and greatest exact match over the kept seeds."""
        sizes = zip(*(curve.points for curve in self.kept), strict=True)
        return [{"size": points[0].size, **_spread([point.exact for point in points])} for points in sizes]

    def claims(self) -> list[Claim]:
        """Mean reach and mean exact match of every bin over the kept seeds, and over all seeds where they differ.

        `censored` in the evidence counts the seeds that hold to the largest size measured: with any of them, the mean
        reach is a lower bound."""
        claims = []
        groups = [("kept", self.kept)] if self.kept else []
        if self.discarded:
            groups.append(("all", self._all))
        for name, curves in groups:
            reach = [float(curve.reach().value or 0) for curve in curves]
            claims.append(self._claim(f"spread.reach.{name}", reach, "size", curves))
            for points in zip(*(curve.bins() for curve in curves), strict=True):
                bin_ = {"first": points[0].size, "last": points[0].last}
                exact = [point.exact for point in points]
                claims.append(self._claim(f"spread.exact.{name}", exact, "", curves, bin_))
        return claims

    def _claim(
        self, key: str, values: list[float], unit: str, curves: Sequence[Curve], more: Mapping[str, int] = {}
    ) -> Claim:
        evidence = {
            **more,
            **_spread(values),
            "seeds": [curve.seed for curve in curves],
            "kept": [curve.seed for curve in self.kept],
            "discarded": [curve.seed for curve in self.discarded],
            "rule": str(self.rule),
            "threshold": THRESHOLD,
            "censored": sum(bool(curve.reach().evidence["censored"]) for curve in curves),
        }
        assumptions = (Assumption("spread.exchangeable"),)
        return Claim(key, statistics.fmean(values), unit, "measured", assumptions=assumptions, evidence=evidence)

    def plain(self) -> dict[str, Any]:
        """JSON-ready data. `learned`: whether any seed that learned is kept; None where that is known of no seed."""
        known = [curve for curve in self._all if curve.standing().learned is not None]
        return {
            "rule": str(self.rule),
            "learned": any(curve in self.kept for curve in known) if known else None,
            "kept": [curve.plain() for curve in self.kept],
            "discarded": [curve.plain() for curve in self.discarded],
            "by_size": self.rows() if self.kept else [],
            "claims": [claim.plain() for claim in self.claims()],
        }

    def plot(self, title: str = "") -> Any:
        """Exact match by size as an Altair chart, one line per seed."""
        return curve_chart([curve.plain() for curve in self._all], title)

    def __repr__(self) -> str:
        first = self._all[0]
        reaches = ", ".join(str(curve.reach().value) for curve in self.kept) or "none"
        what = first.title
        return f"Spread({what}: {len(self.kept)} seeds kept, {len(self.discarded)} discarded; reach {reaches})"

    def _repr_html_(self) -> str:
        return curve_svg([curve.plain() for curve in self._all])


def over_seeds(curves: Sequence[Curve], rule: Keep | None = None) -> Spread:
    """Curves of one configuration, one per seed, sorted into kept and discarded."""
    rule = rule or Keep()
    if len({(c.task, c.position, c.train_size, tuple(p.size for p in c.points)) for c in curves}) != 1:
        raise UsageError("seeds are compared at the same task, encoding, training size and test sizes")
    if len({curve.seed for curve in curves}) != len(curves):
        raise UsageError("every curve needs a seed of its own")
    kept = tuple(curve for curve in curves if rule(curve))
    return Spread(kept, tuple(curve for curve in curves if not rule(curve)), rule)


def _spread(values: Sequence[float]) -> dict[str, float]:
    row = {"mean": statistics.fmean(values), "low": min(values), "high": max(values), "seeds_n": len(values)}
    return {**row, "sd": statistics.stdev(values)} if len(values) > 1 else row
