"""How far a model's confidence can be believed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lengthwise.measurement.ladder import Calibration
from lengthwise.seeds import Floats

BINS = 10


def calibrate(confidence: Floats, hits: NDArray[np.bool_]) -> Calibration:
    """Confidence beside accuracy by tenths of confidence, and the expected calibration error (naeini2015, section
    "Calibration metrics"; equal widths): Σ over bins of count / all x |accuracy - mean confidence|.

    A confidence of exactly k/10 belongs to the bin that it begins, 1 to the last; an empty bin is (0, 0, 0).
    """
    place = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(place, minlength=BINS)
    sure = np.bincount(place, weights=confidence, minlength=BINS)
    right = np.bincount(place, weights=hits.astype(np.float64), minlength=BINS)
    whole = np.maximum(counts, 1)
    bins = tuple(
        (int(count), float(mean), float(share))
        for count, mean, share in zip(counts, sure / whole, right / whole, strict=True)
    )
    error = float(np.abs(sure - right).sum() / len(confidence))
    return Calibration(float(confidence.mean()), error, bins)
