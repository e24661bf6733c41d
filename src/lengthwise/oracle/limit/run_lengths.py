"""The error of thinning by runs, measured on a noisy cyclic source, and the exponent with which it falls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lengthwise.errors import UsageError
from lengthwise.oracle.limit.margin import IZZO, SECONDARY
from lengthwise.oracle.limit.power_law import PowerLaw, fit_power_law
from lengthwise.oracle.limit.subsampling import best_run, kept_places, mean_error_bound, prefix_error, window_error
from lengthwise.records import Assumption, Claim, Reference
from lengthwise.seeds import Ints, Seeds

TARGETS = (125, 250, 500, 1000, 2000, 4000, 8000)


@dataclass(frozen=True)
class RunErrors:
    """Mean errors over seeds for each number of kept places: of windows with runs of mean length n^(1/3), of prefix
    histograms, of windows with places kept one by one; and the proved bound on the first."""

    targets: tuple[int, ...]
    windows: tuple[float, ...]
    prefixes: tuple[float, ...]
    single: tuple[float, ...]
    bounds: tuple[float, ...]
    fit: PowerLaw
    length: int
    seeds: int

    @property
    def exponent(self) -> float:
        return self.fit.exponents["n"]

    def claim(self) -> Claim:
        return Claim(
            "error exponent of thinning by runs",
            self.exponent,
            "",
            "measured",
            assumptions=(Assumption("a noisy cyclic source of three letters; windows of three symbols"), SECONDARY),
            reference=Reference(IZZO, "Lemma 5.3; the exponent -1/3 is proved for windows in docs/limit.md"),
            evidence=self.plain(),
        )

    def explain(self) -> list[str]:
        rows = [
            f"n = {n}: {one:.3f} with runs (proved: at most {bound:.2f} in the mean), {alone:.2f} without"
            for n, one, bound, alone in zip(self.targets, self.windows, self.bounds, self.single, strict=True)
        ]
        return [*rows, f"fit: {self.fit}"]

    def plain(self) -> dict[str, Any]:
        names = ("targets", "windows", "prefixes", "single", "bounds")
        table = {name: list(getattr(self, name)) for name in names}
        return {**table, "fit": self.fit.plain(), "length": self.length, "seeds": self.seeds}


def run_errors(targets: Sequence[int] = TARGETS, *, length: int = 20_000, seeds: int = 16) -> RunErrors:
    """Thin words of a noisy cyclic source of three letters to each target, with windows of three symbols."""
    if len(targets) < 3 or seeds < 1:
        raise UsageError(f"a fit needs at least three targets and a seed, not {len(targets)} and {seeds}")
    letters, locality = 3, 2
    rows = []
    for target in targets:
        found = []
        for seed in range(seeds):
            x = noisy_cycle(length, letters, 0.1, seed)
            z = x[kept_places(length, target, best_run(target), seed)]
            alone = x[kept_places(length, target, 1.0, seed)]
            error = window_error(x, z, locality + 1, letters)
            single = window_error(x, alone, locality + 1, letters)
            found.append((error, prefix_error(x, z, letters), single))
        rows.append(tuple(float(mean) for mean in np.mean(found, axis=0)))
    windows, prefixes, single = zip(*rows, strict=True)
    bounds = tuple(mean_error_bound(n, best_run(n), locality, letters ** (locality + 1)) for n in targets)
    fit = fit_power_law({"n": targets}, windows)
    return RunErrors(tuple(targets), windows, prefixes, single, bounds, fit, length, seeds)


def noisy_cycle(length: int, letters: int, noise: float, seed: int) -> Ints:
    """Each symbol is the next of the cycle, or, with probability `noise`, any at random."""
    random = np.random.default_rng(Seeds(seed).key("noisy cycle", length))
    step = np.where(random.random(length) < noise, random.integers(0, letters, length), 1)
    return step.cumsum() % letters
