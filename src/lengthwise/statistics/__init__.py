"""Conclusions from many runs: plain numbers in, `Claim`s out.

    mean_over_seeds                        a mean with its interval, and the seeds kept and discarded
    paired_difference, paired_over_tasks   two configurations, seed by seed or task by task
    blocked_mean                           a mean of differences in blocks, and what would have been detected
    sign_test                              in how many pairs the first is larger
    spearman_trend, page_trend             does a number rise along an order?
    isotonic_fit                           the nearest monotone curve, and how monotone the points are
    plateau                                where the loss settles beyond the training size, if it does

Every claim names the seeds it used and those it left out. Nothing here needs torch.
"""

from lengthwise.statistics.blocked import BlockedMean, blocked_mean
from lengthwise.statistics.bootstrap import mean_over_seeds
from lengthwise.statistics.isotonic import Isotonic, isotonic_fit
from lengthwise.statistics.paired import paired_difference, paired_over_tasks
from lengthwise.statistics.plateau import plateau
from lengthwise.statistics.signs import sign_test
from lengthwise.statistics.trends import page_trend, spearman_trend

__all__ = [
    "BlockedMean",
    "Isotonic",
    "blocked_mean",
    "isotonic_fit",
    "mean_over_seeds",
    "page_trend",
    "paired_difference",
    "paired_over_tasks",
    "plateau",
    "sign_test",
    "spearman_trend",
]
