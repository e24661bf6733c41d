"""Charts that are drawn once, as SVG inside a page without scripts; a phone shows them at three quarters of their size.

So they are narrower than others and their letters larger. Their ink is that of the page, light or dark.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from lengthwise.figures.lazy import vl_convert
from lengthwise.figures.style import PAGE_INK, config

WIDTH, FONT = 400, 13


def drawn_svg(chart: Any, axis_y: Mapping[str, Any] | None = None) -> str:
    """An altair chart as SVG; `axis_y` are further settings of its vertical axis."""
    style = config(PAGE_INK)
    style["axis"] |= {"labelFontSize": FONT, "titleFontSize": FONT}
    style["legend"] |= {"labelFontSize": FONT, "titleFontSize": FONT}
    if axis_y:
        style["axisY"] = dict(axis_y)
    svg = vl_convert.vegalite_to_svg({**chart.to_dict(validate=False), "config": style})
    # A style attribute is not allowed by the page's policy, and Vega uses one for the pointer alone.
    return re.sub(r' style="[^"]*"', "", svg)
