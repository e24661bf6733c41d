"""Laws of natural frequencies for Kuramoto's model, and what is known of many oscillators with them.

`dtheta_i = omega_i dt + (K/n) sum_j sin(theta_j - theta_i) dt + sqrt(2 D) dB_i`, omega_i from a density g that is
symmetric about 0 and does not rise away from it. With `r e^(i psi)` the mean of `e^(i theta_j)`, in the limit n -> oo:

- **Onset.** The incoherent state, r = 0, is linearly unstable exactly for K above K_c = 2 / (integral of
  g(w) D / (D^2 + w^2) dw), which tends to 2 / (pi g(0)) as D falls to 0, and is 2 D where all frequencies are equal
  (kuramoto1984, sakaguchi1988, strogatz1991).
- **Order without noise.** A stationary r > 0 satisfies 1 = K (integral over |a| < pi/2 of cos(a)^2 g(K r sin a) da):
  oscillators with |w| <= K r lock at sin(theta - psi) = w / (K r), the others drift and contribute nothing. For a
  Lorentzian it is r = sqrt(1 - K_c / K).
- **Order with noise, equal frequencies.** The stationary density is proportional to e^(K r cos(theta - psi) / D), so
  r = I_1(K r / D) / I_0(K r / D).

For other frequencies with noise no formula for r is used here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.special import erfcx, ive, ndtri

from lengthwise.errors import UsageError
from lengthwise.seeds import Floats, Seeds

Law = Literal["lorentzian", "normal", "uniform", "equal"]
LAWS = get_args(Law)


@dataclass(frozen=True)
class FrequencyLaw:
    """A symmetric law of frequencies. `width` is the half width at half the height of a Lorentzian, the standard
    deviation of a normal law, half the range of a uniform one, and 0 for equal frequencies."""

    name: Law
    width: float

    def __post_init__(self) -> None:
        if self.name not in LAWS:
            raise UsageError(f"frequencies must be {', '.join(LAWS[:-1])} or {LAWS[-1]}, not {self.name!r}")
        if not (0 <= self.width < math.inf) or (self.width == 0) != (self.name == "equal"):
            right = "0" if self.name == "equal" else "a number above 0"
            raise UsageError(f"the width of {self.name} frequencies must be {right}, not {self.width}")

    def quantiles(self, n: int, seed: int = 0) -> Floats:
        """The quantiles (i - 1/2) / n of the law, in an order that the seed decides: n oscillators that stand for the
        law as well as n can. Independent draws would have a mean and tails of their own."""
        if n < 1:
            raise UsageError(f"there is at least one frequency, not {n}")
        share = (np.arange(n) + 0.5) / n
        found = (
            self.width
            * {
                "lorentzian": lambda: np.tan(np.pi * (share - 0.5)),
                "normal": lambda: ndtri(share),
                "uniform": lambda: 2 * share - 1,
                "equal": lambda: np.zeros(n),
            }[self.name]()
        )
        order = np.random.default_rng(Seeds(seed).key("frequencies")).permutation(n)
        return found[order]

    def density(self, frequency: float) -> float:
        """g at a frequency; infinite at 0 for equal frequencies."""
        w, x = self.width, abs(frequency)
        if self.name == "lorentzian":
            return w / (math.pi * (w * w + x * x))
        if self.name == "normal":
            return math.exp(-0.5 * (x / w) ** 2) / (w * math.sqrt(2 * math.pi))
        if self.name == "uniform":
            return 0.5 / w if x <= w else 0.0
        return math.inf if x == 0 else 0.0

    def critical_coupling(self, noise: float = 0.0) -> float:
        """K_c, in closed form."""
        w = self.width
        if self.name == "lorentzian":
            return 2 * (w + noise)
        if self.name == "normal":
            return 2 * w * math.sqrt(2 / math.pi) / float(erfcx(noise / (w * math.sqrt(2))))
        if self.name == "uniform":
            return 2 * w / math.atan2(w, noise)
        return 2 * noise

    def order(self, coupling: float, noise: float = 0.0) -> float | None:
        """The stationary r of many oscillators: 0 up to K_c, None where no formula is known here."""
        critical = self.critical_coupling(noise)
        if coupling <= critical:
            return 0.0
        if self.name == "equal":
            return 1.0 if noise == 0 else _root(lambda r: _alignment(coupling * r / noise) - r)
        if noise > 0:
            return None
        if self.name == "lorentzian":
            return math.sqrt(1 - critical / coupling)
        return _root(lambda r: self._locked(coupling, r) - 1)

    def _locked(self, coupling: float, r: float) -> float:
        """K times the integral of cos(a)^2 g(K r sin a): r is stationary where this is 1. It does not rise with r."""
        if self.name == "uniform":
            edge = math.asin(min(1.0, self.width / (coupling * r)))
            return coupling / (2 * self.width) * (edge + math.sin(edge) * math.cos(edge))
        total, _ = quad(lambda a: math.cos(a) ** 2 * self.density(coupling * r * math.sin(a)), 0, math.pi / 2)
        return 2 * coupling * total


def _alignment(pull: float) -> float:
    """I_1 / I_0: the mean of cos under the density that is proportional to e^(pull cos)."""
    return float(ive(1, pull) / ive(0, pull))


def _root(function: Callable[[float], float]) -> float:
    """Where a function that is positive near 0 and not positive at 1 crosses 0."""
    return float(brentq(function, 1e-9, 1.0)) if function(1.0) < 0 else 1.0  # pyright: ignore[reportArgumentType]


def locking_coupling(frequencies: Floats) -> float:
    """The least coupling K_L at which n oscillators with these frequencies have a phase-locked state; exact for any n.

    In a locked state all move at the mean frequency, as the couplings cancel in the sum. With O_i the deviation from
    it, O_i = K r sin(phi_i), phi_i being how far i is ahead of the mean field, and r = (1/n) sum cos(phi_i). Write
    u = K r >= max |O_i|. Then K = u / ((1/n) sum s_i sqrt(1 - (O_i / u)^2)) with signs s_i, and all s_i = +1 gives the
    least K for each u. So a locked state exists exactly for K >= min F, F(u) = u / ((1/n) sum sqrt(1 - q_i)) with
    q_i = (O_i / u)^2, which is continuous and unbounded. F' has the sign of sum (2 sqrt(1 - q_i) - 1 / sqrt(1 - q_i)),
    which rises with u, is negative near max |O_i| and not negative at sqrt(2) max |O_i|: F has one minimum, between
    them (verwoerd2008 has the same condition). With K < 0 only the signs of the sin(phi_i) change, so that a locked
    state exists exactly for |K| >= min F.
    """
    off = np.abs(np.asarray(frequencies, dtype=np.float64) - np.mean(frequencies))
    widest = float(off.max()) if off.size else 0.0
    if widest == 0:
        return 0.0
    share = off / widest

    def cosines(u: float) -> Floats:
        return np.sqrt(np.maximum(1 - (share / u) ** 2, 1e-300))

    u = brentq(lambda u: float((2 * cosines(u) - 1 / cosines(u)).sum()), 1 + 1e-15, math.sqrt(2) * (1 + 1e-9))
    return widest * float(u) / float(cosines(float(u)).mean())  # pyright: ignore[reportArgumentType]
