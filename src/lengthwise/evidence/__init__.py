"""The atlas: measured runs of many tasks and encodings, shipped with the package, and the facts that describe a task.

`load_atlas` reads it, `facts_of` describes any task as the atlas describes its own, and `gather` makes the file from
the folder of a study. Nothing here needs torch, and the oracle is loaded when `facts_of` or `verdict_of` is.
"""

from typing import TYPE_CHECKING, Any

from lengthwise.evidence.atlas import Atlas, AtlasRun, load_atlas, save_atlas
from lengthwise.evidence.task_facts import TaskFacts

if TYPE_CHECKING:
    from lengthwise.evidence.deriving import facts_of, verdict_of

__all__ = ["Atlas", "AtlasRun", "TaskFacts", "facts_of", "load_atlas", "save_atlas", "verdict_of"]


def __getattr__(name: str) -> Any:
    if name not in ("facts_of", "verdict_of"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from lengthwise.evidence import deriving

    return getattr(deriving, name)
