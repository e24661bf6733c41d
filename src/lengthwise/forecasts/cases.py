"""The runs of an atlas as cases: what is known of a run before training, and what a checkpoint has shown so far.

What is asked about is an `AtlasRun` too: without sizes before training, with those measured so far for a checkpoint.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from lengthwise.evidence import AtlasRun
from lengthwise.forecasts.curves import curve_forecasts
from lengthwise.forecasts.distributions import steps
from lengthwise.forecasts.similar import Cases
from lengthwise.positions import parts_of
from lengthwise.probes.curve.standard import THRESHOLD
from lengthwise.seeds import Floats

MULTIPLES = (2.0, 4.0, 8.0)  # of the training size

OF_DESIGN = ("design", "family", "verdict", "class_model", "kind_model", "readout_model")
OF_TASK = ("oracle_class", "readout", "kind", "states", "alphabet", "answer_length", "local", "memory", "train_size")
BEFORE = (*OF_DESIGN, *OF_TASK)
CURVED = ("weibull", "logistic")  # what these curves, fitted to what was seen, reach beyond
SHOWN = (
    *("held", "last", "fall", *CURVED),
    *("margin", "margin_trend", "confidence", "confidence_trend", "entropy", "norm_trend"),
)
_BIASES = ("alibi", "t5", "kerple", "fire")
_TABLES = ("learned", "sinusoidal")
_LEAST = 1e-3  # of a margin, and of a probability and its complement


def family_of(design: str) -> str:
    """Encodings that work alike: biases by distance, tables of absolute positions; with their wrappers. Models are
    families of their own, whatever their settings."""
    base, *wrappers = (part.split(":")[0] for part in parts_of(design))
    base = "bias" if base in _BIASES else "absolute" if base in _TABLES else base
    return "+".join([base, *wrappers])


def reach_of(run: AtlasRun) -> int:
    """The largest measured size up to which exact match stays at 95 % or more."""
    reach = 0
    for size, exact in zip(run.sizes, run.exact, strict=True):
        if exact < THRESHOLD:
            break
        reach = size
    return reach


def holds_at(run: AtlasRun, multiple: float) -> bool | None:
    """Whether exact match is 95 % or more at every measured size up to a multiple of the training size. A run that was
    not learned does not hold. None where it was not measured that far."""
    if run.exact_at(multiple) is None:
        return None
    inside = (exact for size, exact in zip(run.sizes, run.exact, strict=True) if size <= multiple * run.train_size)
    return all(exact >= THRESHOLD for exact in inside)


def seen_to(run: AtlasRun, multiple: float) -> AtlasRun:
    """What is known of a run that was measured only up to a multiple of its training size."""
    count = sum(size <= multiple * run.train_size for size in run.sizes)
    signals = {name: values[:count] for name, values in run.signals.items()}
    return replace(run, sizes=run.sizes[:count], exact=run.exact[:count], signals=signals)


def cases_of(runs: Sequence[AtlasRun], multiples: Sequence[float] = MULTIPLES, seen: float | None = None) -> Cases:
    """Runs as cases, with what became of them at multiples of the training size. With `seen`, the features hold what
    was measured up to that multiple, and runs that held up to there are a stratum of their own. Without, runs with the
    same encoding or model are."""
    names = {task: number for number, task in enumerate(dict.fromkeys(run.task for run in runs))}
    cells = [(run.task, run.design, run.train_size, repr(sorted(run.settings.items()))) for run in runs]
    counts = Counter(cells)
    exact = [[_number(run.exact_at(multiple)) for multiple in multiples] for run in runs]
    holds = [[_number(holds_at(run, multiple)) for multiple in multiples] for run in runs]
    shown = [] if seen is None else [seen_to(run, seen) for run in runs]
    rows = [{**_before(run), **(_shown(shown[place]) if shown else {})} for place, run in enumerate(runs)]
    features = {name: np.array([row[name] for row in rows]) for name in (rows[0] if rows else ())}
    if shown:
        features |= {name: even(curve_forecasts(name, shown, multiples)) for name in CURVED}
    shape = (len(runs), len(multiples))
    return Cases(
        task=np.array([names[run.task] for run in runs], dtype=np.int64),
        stratum=np.array([str(row["design" if seen is None else "held"]) for row in rows]),
        features=features,
        weight=np.array([1 / counts[cell] for cell in cells]),
        outcomes=steps(np.array(exact, dtype=float).reshape(shape)),
        holds=np.array(holds, dtype=float).reshape(shape),
    )


def _before(run: AtlasRun) -> dict[str, str | float]:
    facts, model = run.facts, run.model.split(":")[0]
    kind = run.group if facts.states is None else "regular"
    return {
        "oracle_class": facts.oracle_class,
        "verdict": run.verdict,
        "design": run.design,
        "family": family_of(run.design),
        "class_model": f"{facts.oracle_class} {model}",
        "kind_model": f"{kind} {model}",
        "readout_model": f"{facts.readout} {model}",
        "readout": facts.readout,
        "kind": kind,
        "states": math.nan if facts.states is None else math.log2(facts.states),
        "alphabet": math.log2(max(1, facts.alphabet)) / 2,
        "answer_length": facts.answer_length,
        "local": {None: "unknown", True: "yes", False: "no"}[facts.local],
        "memory": math.log2(facts.memory) if facts.memory else math.nan,
        "train_size": math.log2(run.train_size),
    }


def _shown(run: AtlasRun) -> dict[str, str | float]:
    """The last values of the curve and of the signals, and their trends since half the last size."""
    last = len(run.sizes) - 1
    half = max([0, *(place for place, size in enumerate(run.sizes) if size <= run.sizes[-1] / 2)])

    def signal(name: str, place: int) -> float:
        values = run.signals.get(name, ())
        return values[place] if place < len(values) else math.nan

    def logs(name: str) -> tuple[float, float]:
        now, then = (math.log(max(_LEAST, signal(name, place))) for place in (last, half))
        return now, now - then

    def logit(share: float) -> float:
        return math.nan if math.isnan(share) else math.log(max(_LEAST, share) / max(_LEAST, 1 - share))

    margin, margin_trend = logs("margin")
    confidence, before = (logit(signal("confidence", place)) for place in (last, half))
    return {
        "held": "yes" if min(run.exact) >= THRESHOLD else "no",
        "last": float(even(np.array(run.exact[last]))),
        "fall": 4 * (run.exact[half] - run.exact[last]),
        "margin": margin,
        "margin_trend": margin_trend,
        "confidence": confidence / 2,
        "confidence_trend": (confidence - before) / 2,
        "entropy": 5 * signal("entropy", last),
        "norm_trend": 3 * logs("norm")[1],
    }


def even(share: Floats) -> Floats:
    """Shares on a scale where the same number of items has the same spread everywhere, from 0 to pi."""
    return 2 * np.arcsin(np.sqrt(share))


def _number(value: float | bool | None) -> float:
    return math.nan if value is None else float(value)
