"""How models look in the figures of a ladder: the encoding is a colour, the number of layers a dash."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from lengthwise.analyses.evidence import layers_text
from lengthwise.figures.layout import wrapping_legend
from lengthwise.figures.lazy import alt

# From the deepest model to the shallowest: a line that is drawn through, then ever more broken.
_DASHES = [[1, 0], [6, 3], [2, 2], [8, 2, 2, 2], [1, 4]]


def encoding_colour(encodings: Sequence[str]) -> Any:
    """The colour of an encoding, the same as in all other figures of the study."""
    legend = wrapping_legend(encodings, 3, orient="top", symbolType="stroke", offset=4)
    return alt.Color("encoding:N", scale=alt.Scale(domain=list(encodings)), legend=legend)


def layers_dash(layers: Sequence[int]) -> Any:
    """The dash of a number of layers; no legend where there is one number alone."""
    names = [layers_text(depth) for depth in layers]
    dashes = [_DASHES[place % len(_DASHES)] for place in reversed(range(len(names)))]
    legend = wrapping_legend(names, 3, symbolType="stroke", offset=8)
    scale = alt.Scale(domain=names, range=dashes)
    return alt.StrokeDash("layers:N", scale=scale, legend=legend if len(names) > 1 else None)
