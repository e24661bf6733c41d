"""The probe `attention`: who receives attention, how spread queries are, and which tokens are hubs."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.probes.probe import probes
from lengthwise.probes.shown import Look, WeightsProbe
from lengthwise.records import Record


@probes.register("attention")
@dataclass(frozen=True)
class AttentionProbe(WeightsProbe):
    """Attention as transport: what keys receive, the entropy of queries, and hubs."""

    title = "Attention as transport"

    def answer(self, look: Look) -> Record:
        from lengthwise.probes.attention.spending import attention_content

        return self.record(**attention_content(look.anatomy, look.trace, look.inputs))
