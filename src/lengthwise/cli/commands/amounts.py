"""Large numbers as people write them: 7B parameters, 2T tokens, 1.4e11."""

from __future__ import annotations

import argparse
import math

_SUFFIXES = {"k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}


def amount(text: str) -> float:
    """A number above 0 for argparse, perhaps with k, M, B (or G) or T behind it."""
    plain = text.strip().lower()
    factor = _SUFFIXES.get(plain[-1:], 1.0)
    try:
        value = float(plain[:-1] if plain[-1:] in _SUFFIXES else plain) * factor
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0, such as 7B, 1.4e11 or 2T")
    return value


def short(value: float) -> str:
    """A large number in three digits: 140B, 1.4T, 3.2e+17."""
    for suffix, factor in (("T", 1e12), ("B", 1e9), ("M", 1e6), ("k", 1e3)):
        if float(f"{value:.3g}") >= factor:
            return f"{value:.3g}" if value >= 9.995e15 else f"{float(f'{value / factor:.3g}'):g}{suffix}"
    return f"{value:.3g}"
