"""Does the line of gamma(t) predict when random tokens gather? The rows of a phase diagram as claims.

gamma(t) is proved for tokens that start orthogonal. Uniform tokens are nearly orthogonal in high dimensions; how high
is not known (docs/theorems-particles.md), so these claims are measured.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from lengthwise.messages import explain
from lengthwise.records import Claim

explain(
    {
        "phases.line": "gamma(t) predicts when uniform tokens gather, d >= n",
        "phases.dimension": "share of betas at which gamma(t) predicts when half of the pairs are close, d = {d}",
    }
)

HALF = 0.5  # of the pairs
NEAR = 0.1  # of the line's time; one step of the times where that is more
Rows = Sequence[Mapping[str, Any]]


def line_claims(rows: Rows, line: Rows, n: int) -> tuple[Claim, ...]:
    """First whether the line holds wherever d >= n, then for each d at which betas it does.

    At a beta the line agrees when half of the pairs are close for the first time between two moments, and the line's
    time lies between them or misses them by at most a tenth of itself or one step of the times. It differs also where
    it lies within the diagram and half of the pairs never are close, or beyond it and they are. Where neither happens
    before the end nothing is decided.
    """
    crossings = {float(row["beta"]): float(row["time"]) for row in line}
    each = tuple(_dimension(d, rows, crossings, n) for d in dict.fromkeys(int(row["d"]) for row in rows))
    high = [claim for claim in each if claim.evidence["d_at_least_n"] and claim.value is not None]
    if not high:
        return (Claim("phases.line", None, "", "measured", "unknown"), *each)
    wrong = sum(len(claim.evidence["differs"]) for claim in high)
    right = sum(len(claim.evidence["agrees_at_beta"]) for claim in high)
    return (
        Claim(
            "phases.line",
            not wrong,
            "",
            "measured",
            "holds" if not wrong else "refuted",
            evidence={"cells_that_agree": right, "cells_that_differ": wrong, "n": n},
        ),
        *each,
    )


def _dimension(d: int, rows: Rows, crossings: Mapping[float, float], n: int) -> Claim:
    """The share of decided betas at which the line agrees, with all of them in the evidence."""
    agrees: list[float] = []
    differs: list[dict[str, float | None]] = []
    undecided: list[float] = []
    for beta in dict.fromkeys(float(row["beta"]) for row in rows if row["d"] == d):
        path = [(float(row["time"]), row["share_pairs"]) for row in rows if row["d"] == d and row["beta"] == beta]
        bracket, due = _first_half(path), crossings[beta]
        if bracket is None and due > path[-1][0]:
            undecided.append(beta)
        elif bracket is not None and _meets(bracket, due):
            agrees.append(beta)
        else:
            after, by = bracket or (path[-1][0], None)
            differs.append({"beta": beta, "half_close_after": after, "half_close_by": by, "line": due})
    decided = len(agrees) + len(differs)
    return Claim(
        "phases.dimension",
        len(agrees) / decided if decided else None,
        "share",
        "measured",
        "holds" if decided else "unknown",
        evidence={
            "d": d,
            "d_at_least_n": d >= n,
            "agrees_at_beta": agrees,
            "differs": differs,
            "undecided_at_beta": undecided,
            "starts": int(rows[0]["starts"]),
        },
    )


def _first_half(path: Sequence[tuple[float, float]]) -> tuple[float, float] | None:
    """The moments between which half of the pairs came close for the first time."""
    if path[0][1] >= HALF:
        return path[0][0], path[0][0]
    for (before, _), (after, share) in itertools.pairwise(path):
        if share >= HALF:
            return before, after
    return None


def _meets(bracket: tuple[float, float], due: float) -> bool:
    slack = max(NEAR * due, bracket[1] - bracket[0])
    return bracket[0] - slack <= due <= bracket[1] + slack


def in_words(claim: Claim) -> str:
    """What `line_claims` found for one dimension, in a sentence or two."""
    seen = claim.evidence
    agrees, differs, undecided = seen["agrees_at_beta"], seen["differs"], seen["undecided_at_beta"]
    text = f"d = {seen['d']} ({'at least n' if seen['d_at_least_n'] else 'below n'}): "
    if claim.value is None:
        return text + "neither the line nor half of the pairs close came before the end."
    text += f"the line agrees at {len(agrees)} of {len(agrees) + len(differs)} values of beta"
    if differs:
        most = max(differs, key=_miss)
        when = (
            f"after t = {most['half_close_after']:g}"
            if most["half_close_by"] is None
            else f"between t = {most['half_close_after']:g} and {most['half_close_by']:g}"
        )
        names = ", ".join(f"{one['beta']:g}" for one in differs)
        text += f", and differs at {names}; most at {most['beta']:g}: half of the pairs are close {when}, "
        text += f"the line is at {most['line']:.4g}"
    return text + (f". Not decided at {', '.join(f'{beta:g}' for beta in undecided)}." if undecided else ".")


def _miss(one: Mapping[str, float | None]) -> float:
    """By what factor the line misses, as a logarithm."""
    line, half = one["line"], one["half_close_by"] or one["half_close_after"]
    assert line is not None and half is not None
    return abs(math.log(max(line, 1e-9) / max(half, 1e-9)))
