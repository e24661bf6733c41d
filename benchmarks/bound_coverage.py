"""Do bounds for tokens hold as often as they say? Violations in 2,000 draws of processes whose risk is known.

At delta = 0.05 a row is met where the violations are not more than 119, the upper end of the binomial interval (95 %)
around 100. The rows of broken bounds (a choice that is not paid for) must exceed it: they show what the campaign
can see. The last rows are the documented example: how much tighter Freedman is than Azuma.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from bound_processes import DEPENDENT, INDEPENDENT, PREDICTOR_BITS, Drawn, selection, whole_documents
from rows import Row, standalone
from scipy.stats import binom

from lengthwise.bounds.tokens import TokenBound, TokenLosses, token_bound
from lengthwise.bounds.tokens.formulas import complexity
from lengthwise.bounds.tokens.inequalities import Freedman, Hoeffding, Inequality, ProductInequality
from lengthwise.bounds.tokens.problem import Level, Target

DELTA, DRAWS, QUICK, TOKENS, LENGTH = 0.05, 2000, 20, 200, 2
UNITS = 60  # units that a sample has
Process = Callable[[np.random.Generator, int, int], Drawn]
Maker = Callable[[TokenLosses, float, Target, int | None], TokenBound]


def _made(
    level: Level, inequality: Inequality, losses: TokenLosses, bits: float, target: Target, population: int | None
) -> TokenBound:
    return token_bound(losses, bits, level=level, inequality=inequality, target=target, population=population)


MAKERS: dict[str, Maker] = {
    f"{level}, {inequality.name}": functools.partial(_made, level, inequality)
    for level, inequality in (
        ("documents", Hoeffding()),
        ("documents", ProductInequality()),
        ("tokens", Hoeffding()),
        ("tokens", ProductInequality()),
        ("tokens", Freedman()),
    )
}


@dataclass(frozen=True)
class Case:
    """A bound and a process that tries to break it."""

    bound: str
    process: Process
    target: Target
    sampled: bool = False
    bits: float = 0.0

    @property
    def name(self) -> str:
        words = self.process.__name__.replace("_", " ")
        return f"{self.bound}, {self.target}: {words}{', sampled' if self.sampled else ''}"

    def violated(self, rng: np.random.Generator) -> bool:
        """Whether one draw's true risk exceeds its bound."""
        losses, truth = self.process(rng, TOKENS, LENGTH)
        population = None
        if self.sampled:
            units = TOKENS // LENGTH
            some = rng.permutation(units)[:UNITS]
            population = units if self.bound.startswith("documents") else TOKENS
            losses = losses.part(np.isin(losses.documents, some))
        bound = MAKERS[self.bound](losses, self.bits, self.target, population)
        return truth(bound.alpha) > bound.total

    def violations(self, draws: int, seed: int = 0) -> int:
        return sum(self.violated(np.random.default_rng([seed, draw])) for draw in range(draws))


def cases(broken: bool = False) -> Iterator[Case]:
    """Every bound against every process it covers; or bounds that do not pay for the choice among predictors."""
    for bound in MAKERS:
        documents = bound.startswith("documents")
        targets: tuple[Target, ...] = ("loss", "top1")
        for target in targets:
            if broken:
                if not documents:
                    yield Case(bound, selection, target)
                continue
            yield Case(bound, selection, target, bits=PREDICTOR_BITS)
            for process in (*INDEPENDENT, *((whole_documents,) if documents else DEPENDENT)):
                yield Case(bound, process, target)
            yield Case(bound, INDEPENDENT[0], target, sampled=True)
            if target == "top1":  # quicker
                yield Case(bound, INDEPENDENT[1], target, sampled=True)


def most(draws: int) -> int:
    """The upper end of the binomial interval of the violations at delta."""
    return int(binom.ppf(0.975, draws, DELTA))


def gaps(draws: int, tokens: int = 2000, most: float = 10.0) -> tuple[float, float]:
    """The documented example: mean gaps of Azuma and of Freedman for exponential losses of mean 1, cut off at 10."""
    found = []
    for draw in range(draws):
        x = np.minimum(np.random.default_rng(draw).exponential(size=tokens), most)
        for inequality in (Hoeffding(), Freedman()):
            steps = inequality.steps(0.01)
            nats = complexity(0, tokens, DELTA, len(steps))
            found.append(
                min(
                    inequality.total(
                        float(inequality.values(x, np.ones(tokens), (0.0, most), s, nats).mean()), (0.0, most), s, nats
                    )
                    for s in inequality.steps(nats)
                )
                - x.mean()
            )
    azuma, freedman = np.array(found).reshape(draws, 2).mean(axis=0)
    return float(azuma), float(freedman)


def rows(quick: bool = False) -> list[Row]:
    draws = QUICK if quick else DRAWS
    made = [Row(case.name, case.violations(draws), "violations", most=most(draws)) for case in cases()]
    for case in cases(broken=True):
        if case.target == "top1":
            made.append(Row(f"unpaid: {case.name}", case.violations(draws), "violations", least=most(draws) + 1))
    azuma, freedman = gaps(20)
    made.append(
        Row("gap of Freedman, truncated exponential", freedman, "nats", azuma, "Azuma", azuma / freedman, least=2)
    )
    return made


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
