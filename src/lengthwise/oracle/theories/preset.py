"""What a task's preset says about its model and its training, as far as theories ask.

The usual values are those of `Recipe`, `Architecture` and the attention `window`, which live with torch; a test keeps
them equal.
"""

from __future__ import annotations

from lengthwise.oracle.opinion import encoding_names
from lengthwise.registry import parse_spec
from lengthwise.tasks.task import Task

STEPS, BATCH = 2000, 64
DEPTH, WINDOW = 2, 8
_OFFSETS_ONLY = ("none", "rope", "alibi", "kerple", "t5")  # encodings that tell at most how far apart two tokens are


def planned_items(task: Task) -> int:
    """How many items training shows unless the user says otherwise: steps x batch."""
    return int(task.preset.get("steps", STEPS)) * int(task.preset.get("batch", BATCH))


def columns_seen(task: Task, encoding: str) -> int | None:
    """How many columns, the one in the middle among them, an output can depend on when attention keeps to a window: one
    layer reaches size - 1 columns to either side. None where it can depend on all, or on where it stands."""
    name, settings = parse_spec(str(task.preset.get("attention", "softmax")))
    base, *wrappers = encoding_names(encoding)
    if name != "window" or base not in _OFFSETS_ONLY or wrappers or "dynamic" in encoding:
        return None
    return 2 * int(task.preset.get("depth", DEPTH)) * (int(settings.get("size", WINDOW)) - 1) + 1
