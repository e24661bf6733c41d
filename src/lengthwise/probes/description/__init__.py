"""The probe `description`: how short a model can be written down, what that costs in loss, and how many training tokens
a bound below chance would take."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.probes.probe import probes
from lengthwise.probes.shown import Look, WeightsProbe
from lengthwise.records import Record


@probes.register("description")
@dataclass(frozen=True)
class DescriptionProbe(WeightsProbe):
    """The length of the model as a message, and the training tokens that a bound would need."""

    title = "Description and bounds"

    def answer(self, look: Look) -> Record:
        from lengthwise.probes.description.messages import description_content

        return self.record(**description_content(look))
