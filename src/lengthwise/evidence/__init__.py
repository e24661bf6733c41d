"""The atlas: measured runs of many tasks and encodings, shipped with the package, and the facts that describe a task.

`load_atlas` reads it, `facts_of` describes any task as the atlas describes its own, and `gather` makes the file from
the folder of a study. Nothing here needs torch.
"""

from lengthwise.evidence.atlas import Atlas, AtlasRun, load_atlas, save_atlas
from lengthwise.evidence.task_facts import TaskFacts, facts_of, verdict_of

__all__ = ["Atlas", "AtlasRun", "TaskFacts", "facts_of", "load_atlas", "save_atlas", "verdict_of"]
