"""What a measured number of layers says of each threshold of the oracle.

A threshold that is enough for some class of models says that a model exists, not that training finds it: reaching the
level with as few layers or fewer agrees; not reaching it says nothing. A threshold that is needed is contradicted by
fewer layers that reach the level; reaching it with no fewer agrees; not reaching it says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lengthwise.oracle.depth import Nesting
from lengthwise.records import Claim

Verdict = Literal["agrees", "contradicted", "says nothing"]


@dataclass(frozen=True)
class Prediction:
    """A threshold of the oracle, and what the measurement says of it."""

    claim: Claim  # of oracle.depth
    verdict: Verdict
    because: str  # a sentence


def predictions(kinds: int, nesting: int, layers: Sequence[int], reached: int | None) -> tuple[Prediction, ...]:
    """The thresholds in layers for brackets of so many kinds nested so deep, judged by the layers that reached the
    level (None: none of `layers` did). The threshold in bits is for models that do not look back, and left out."""
    claims = (claim for claim in Nesting(kinds, nesting).claims() if claim.unit == "layers")
    return tuple(_judged(claim, layers, reached) for claim in claims)


def _judged(claim: Claim, layers: Sequence[int], reached: int | None) -> Prediction:
    wanted = int(claim.value or 0)
    if claim.key.startswith("depth.needed"):
        return Prediction(claim, *_needed(wanted, reached))
    return Prediction(claim, *_enough(wanted, layers, reached))


def _needed(wanted: int, reached: int | None) -> tuple[Verdict, str]:
    if reached is None:
        return "says nothing", f"{wanted} layers are said to be needed, and no number that was tried reached the level"
    if reached < wanted:
        return "contradicted", f"{wanted} layers are said to be needed, and {reached} reached the level"
    return "agrees", f"{wanted} layers are said to be needed, and the fewest that reached the level are {reached}"


def _enough(wanted: int, layers: Sequence[int], reached: int | None) -> tuple[Verdict, str]:
    if reached is not None and reached <= wanted:
        return "agrees", f"{wanted} layers are enough for some model, and {reached} reached the level by training"
    if not any(tried >= wanted for tried in layers):
        return "says nothing", f"{wanted} layers are enough for some model, and as many were not tried"
    found = "training found none" if reached is None else f"training took {reached}"
    return "says nothing", f"{wanted} layers are enough for some model, but {found}"
