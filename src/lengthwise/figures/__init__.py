"""Plain data in, Vega-Lite out: figures for notebooks, files and reports."""

from lengthwise.figures.curves import curve_chart, curve_svg

__all__ = ["curve_chart", "curve_svg"]
