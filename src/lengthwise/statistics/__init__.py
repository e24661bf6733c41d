"""Conclusions from many runs: plain numbers in, `Claim`s out.

    mean_over_seeds                        a mean with its interval, and the seeds kept and discarded
    paired_difference, paired_over_tasks   two configurations, seed by seed or task by task
    spearman_trend, page_trend             does a number rise along an order?
    isotonic_fit                           the nearest monotone curve, and how monotone the points are
    power_law                              exponents of one or two variables, and of their ratios

`blocked`, `means` and `signs` load scipy and are imported by their own names: `blocked_mean` of differences in blocks,
with what would have been detected, and `sign_test`, in how many pairs the first is larger.

Every claim names the seeds it used and those it left out. Nothing here needs torch.
"""

from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.statistics.isotonic import Isotonic, isotonic_fit
from lengthwise.statistics.paired import paired_difference, paired_over_tasks
from lengthwise.statistics.powers import PowerLaw, power_law
from lengthwise.statistics.trends import page_trend, spearman_trend

__all__ = [
    "Isotonic",
    "PowerLaw",
    "isotonic_fit",
    "mean_over_seeds",
    "page_trend",
    "paired_difference",
    "paired_over_tasks",
    "power_law",
    "spearman_trend",
]
