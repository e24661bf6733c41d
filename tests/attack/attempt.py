"""What an attack reports: a bound, what was seen in some attempts, and what is certified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

ABOVE_ONE = float(np.nextafter(1.0, 2.0))


@dataclass(frozen=True, eq=False)
class Attempts:
    """`seen` [attempts] may not exceed `certified` (one number or as many); in no more than a share `allowed` of them
    where the bound is one that holds with probability 1 - allowed. Attempts in which nothing could be evaluated are
    NaN, and are not counted; nor are those against a certificate that is infinite."""

    bound: str
    seen: Any
    certified: Any
    allowed: float = 0.0

    def ratios(self) -> np.ndarray:
        """seen / certified of every attempt that counts: above 1 where the certificate is violated."""
        seen, certified = np.broadcast_arrays(np.asarray(self.seen, float), np.asarray(self.certified, float))
        counted = ~np.isnan(seen) & (certified != np.inf)
        seen, certified = seen[counted], certified[counted]
        with np.errstate(all="ignore"):
            quotients = np.where(seen == 0, 0.0, seen / certified)
        # A quotient is rounded, a comparison is not; a certificate that is NaN is violated.
        return np.where(seen <= certified, np.minimum(np.nan_to_num(quotients), 1.0), np.fmax(quotients, ABOVE_ONE))


Found = Iterator[Attempts]


def exact_ratio(seen: Fraction, certified: Fraction) -> float:
    """seen / certified as a float that is above 1 exactly where the fraction is."""
    if certified == 0:
        return 0.0 if seen == 0 else np.inf
    ratio = float(seen / certified)
    return max(ratio, ABOVE_ONE) if seen > certified else min(ratio, 1.0)
