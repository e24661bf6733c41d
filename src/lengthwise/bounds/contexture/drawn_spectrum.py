"""The spectrum estimated from pairs that were drawn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from lengthwise.bounds.contexture.estimates import Drawn, drawn_covariances, drawn_pairs
from lengthwise.bounds.contexture.pencil import solve_pencil
from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Ints

MOST_VALUES = 1500  # an eigenproblem of this size takes a second or so
TOO_MANY_ALONE = 0.5


@dataclass(frozen=True, eq=False)
class DrawnSpectrum:
    """Squares s_1² >= s_2² >= … as estimated. `plug_in` is what the table of counts has, which is too large; `alone`
    the share of pairs whose value on the larger side occurs once, which make the estimate too small."""

    squares: Floats
    plug_in: Floats
    alone: float
    how: str

    @property
    def known(self) -> bool:
        """Whether it says anything: not where more than half of the pairs have a value of their own."""
        return self.alone <= TOO_MANY_ALONE


def spectrum_of_pairs(x: Ints, a: Ints) -> DrawnSpectrum:
    """From codes of x and a, drawn together. O(n + m³), m the number of different values on the smaller side.

    The functions of that side are the features, with the groups of the other side as contexts: the squares solve B̂ v =
    λ Ĉ v. B̂ has no bias, but the largest eigenvalues of a noisy matrix still have, upwards, and the smallest downwards.
    """
    one, other = (a, x) if a.max() <= x.max() else (x, a)
    values = int(one.max()) + 1
    if values > MOST_VALUES:
        raise UsageError(
            f"x and a both have more than {MOST_VALUES} different values ({values} and more); put rare ones together"
        )
    drawn = drawn_pairs(np.eye(values)[one], other)
    smaller = "a" if one is a else "x"
    return DrawnSpectrum(
        _squares(drawn, debiased=True),
        _squares(drawn, debiased=False),
        drawn.alone,
        f"generalised eigenvalues for the {values} values of {smaller}, each pair left out of its own product",
    )


def spectrum_of_conditionals(conditionals: Floats) -> Floats:
    """s_1² >= s_2² >= … from P(a | x) [n, A] at inputs that were drawn: eigenvalues of the mean of P(a|x) P(a'|x) over
    them, divided by √(P(a) P(a')). Too large by about A / n, as a mean over n inputs is."""
    kept = conditionals[:, conditionals.sum(axis=0) > 0]
    marginal = kept.mean(axis=0)
    scaled = kept / np.sqrt(marginal) - np.sqrt(marginal)
    squares = scipy.linalg.eigvalsh(scaled.T @ scaled / len(kept))[::-1][: min(kept.shape) - 1]
    return np.clip(squares, 0.0, 1.0)


def _squares(drawn: Drawn, debiased: bool) -> Floats:
    """Of one-hot features C is known from counts alone, so nothing is put back for taking part in it."""
    return np.clip(solve_pencil(*drawn_covariances(drawn, debiased=debiased)).values, 0.0, 1.0)
