"""The probe `temperature`: which inverse temperature of the particle model fits the attention of each head best."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.probes.probe import probes
from lengthwise.probes.shown import Look, WeightsProbe
from lengthwise.records import Record


@probes.register("temperature")
@dataclass(frozen=True)
class TemperatureProbe(WeightsProbe):
    """Beta of each head, fitted so that softmax(beta <x, y>) of unit residual vectors is its attention, and how well it
    fits."""

    title = "Inverse temperature of attention"

    def answer(self, look: Look) -> Record:
        from lengthwise.probes.temperature.fitted import temperature_content

        return self.record(**temperature_content(look.anatomy, look.trace, look.inputs.described))
