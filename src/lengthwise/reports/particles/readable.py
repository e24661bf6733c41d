"""Claims as a person reads them: numbers that are no numbers become words."""

from __future__ import annotations

import math
from dataclasses import replace

from lengthwise.records import Claim


def readable(claim: Claim) -> Claim:
    """The claim with "infinite" for an infinite value."""
    if isinstance(claim.value, float) and math.isinf(claim.value):
        return replace(claim, value="infinite" if claim.value > 0 else "minus infinite")
    return claim
