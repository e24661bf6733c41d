"""What a ladder of shifts shows: from the points of many models and the distances of the levels to claims."""

from lengthwise.analyses.ladder import (
    bound,
    claimed,
    collapse,
    constants,
    encoding,
    floors,
    levels,
    risk,
    thresholds,
    traces,
)

__all__ = ["bound", "claimed", "collapse", "constants", "encoding", "floors", "levels", "risk", "thresholds", "traces"]
