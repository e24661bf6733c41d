"""Files in which a user brings an encoding, an attention rule, a form and so on, and what is wrong with bad ones."""

from __future__ import annotations

import re
from pathlib import Path

DOCS = Path(__file__).parents[1] / "docs"
ENCODING, NETWORK, LEARNED_RULE = (
    re.findall(r"```python\n(.*?)```", (DOCS / page).read_text(encoding="utf-8"), re.S)[0]
    for page in ("how-to/own-classes.md", "how-to/own-models.md", "reference/attention-rules.md")
)
HEAD = "from dataclasses import dataclass\n\nimport lengthwise as lw\n"

WRAPPER = (
    HEAD
    + """
@dataclass(frozen=True)
class Doubled(lw.Position):
    \"\"\"Every other position stays free.\"\"\"

    base: lw.Position = None
    beyond_training = True

    @property
    def shift_invariant(self):
        return self.base.shift_invariant

    def build(self, shape):
        return self.base.build(shape)

    def choose(self, length, items, shape, seeds, training):
        return 2 * self.base.choose(length, items, shape, seeds, training)
"""
)

RULE = (
    HEAD
    + """
@dataclass(frozen=True)
class Sharp(lw.Attention):
    \"\"\"Softmax of twice the logits.\"\"\"

    times: float = 2.0
    fused = False

    def weights(self, logits):
        return (self.times * logits).softmax(dim=-1)
"""
)

FORM = (
    HEAD
    + """
from lengthwise.models.forms import Form, Map


@dataclass(frozen=True)
class Biases(Form):
    \"\"\"Only vectors are trained.\"\"\"

    def map_for(self, initial, seeds):
        return BiasMap(initial)


class BiasMap(Map):
    def __init__(self, initial):
        self.initial = dict(initial)
        self.shapes = {name: tuple(w.shape) for name, w in self.initial.items() if w.dim() == 1}

    def weights(self, coordinates):
        return {name: w + coordinates[name] if name in coordinates else w for name, w in self.initial.items()}
"""
)

SCHEDULE = (
    HEAD
    + """
from lengthwise.training.lengths import SizeSchedule


@dataclass(frozen=True)
class Ends(SizeSchedule):
    \"\"\"The smallest size or the largest.\"\"\"

    def draw(self, sizes, progress, uniform):
        return sizes[0] if uniform < 0.5 else sizes[-1]
"""
)

RENDERING = (
    HEAD
    + """
from lengthwise.prompts.rendering import PlainRendering


@dataclass(frozen=True)
class Shouted(PlainRendering):
    \"\"\"Questions with an exclamation mark.\"\"\"

    marks: int = 1

    def question(self, task, symbols):
        return super().question(task, symbols) + self.marks * "!"
"""
)

METRIC = (
    HEAD
    + """
import numpy as np
from lengthwise.transport.metrics import Fitted, Metric


@dataclass(frozen=True)
class Lengths(Metric):
    \"\"\"The difference of the lengths.\"\"\"

    identity, tokens, fixed = False, False, True

    def fit(self, reference):
        return FittedLengths("tokens")


class FittedLengths(Fitted):
    def distances(self, first, second):
        one, two = ([len(t.tokens) for t in sample.trajectories] for sample in (first, second))
        return np.abs(np.subtract.outer(one, two)).astype(float)
"""
)

PROBE = (
    HEAD
    + """
from lengthwise.probes import Probe
from lengthwise.records import Record


@dataclass(frozen=True)
class Nothing(Probe):
    \"\"\"Nothing is asked.\"\"\"

    times: int = 1

    def measure(self, subject, context):
        return Record("nothing", {"times": self.times})
"""
)

EXECUTOR = (
    HEAD
    + """
from lengthwise.executors.local import Local


@dataclass(eq=False, kw_only=True)
class Here(Local):
    \"\"\"This machine, under another name.\"\"\"
"""
)

EVERYTHING = "".join([ENCODING, RULE, FORM, SCHEDULE, METRIC, PROBE, EXECUTOR])
