"""The scalings of the simulation argument: how long short words must be, and how fast thinning by runs errs less."""

from __future__ import annotations

import sys

from rows import Row, standalone

from lengthwise.oracle.limit.run_lengths import TARGETS, run_errors
from lengthwise.oracle.limit.wave_lengths import ERRORS, OMEGAS, wave_lengths


def rows(quick: bool = False) -> list[Row]:
    waves = wave_lengths(OMEGAS[:4] if quick else OMEGAS, ERRORS)
    runs = run_errors(TARGETS[:4] if quick else TARGETS, seeds=4 if quick else 64)
    print("\n".join([*waves.explain(), *runs.explain()]))
    result = []
    for cause in ("omega", "1/eps"):
        for what, fit in (("N of simple_task", waves.fit), ("N over its limit factor", waves.levelled)):
            result.append(Row(f"exponent of {cause}, {what}", fit.exponents[cause], ""))
    off = abs(runs.exponent + 1 / 3)
    return [
        *result,
        Row("exponent of the error of thinning by runs", runs.exponent, ""),
        Row("its distance from -1/3", off, "", most=None if quick else 0.08),
        Row("smallest error with places kept one by one, of 2", min(runs.single), "", least=1.0),
    ]


if __name__ == "__main__":
    sys.exit(standalone(rows, __doc__))
