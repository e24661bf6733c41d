"""The probe `geometry`: whether tokens draw together from block to block, and whether it gets worse with length."""

from __future__ import annotations

from dataclasses import dataclass

from lengthwise.errors import UsageError
from lengthwise.probes.probe import probes
from lengthwise.probes.shown import Look, WeightsProbe
from lengthwise.records import Record

LONGEST = 1024  # tokens
_FEWEST_TOKENS = 4  # without the first there must be pairs


@probes.register("geometry")
@dataclass(frozen=True)
class GeometryProbe(WeightsProbe):
    """Spread, clusters and ranks of the tokens by block and by length, compared with random weights."""

    title = "Geometry of tokens"

    def answer(self, look: Look) -> Record:
        from lengthwise.probes.geometry.compared import compare, geometry_content

        inputs = look.longer(4 if look.large else 8, LONGEST)
        if inputs.tokens.shape[1] < _FEWEST_TOKENS:
            raise UsageError(f"the inputs have {inputs.tokens.shape[1]} tokens each, and {_FEWEST_TOKENS} are needed")
        found = compare(look.anatomy, inputs.tokens, look.seed, single=look.large)
        return self.record(**geometry_content(found, inputs.described, look.large))
