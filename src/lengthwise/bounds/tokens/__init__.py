"""Bounds of the risk of a model that predicts tokens, from the length of its description and its losses in training.

losses         what is kept of every token that was predicted
token_bound    what a bound is
make           the bounds: `document_bound`, `martingale_bound`, `freedman_bound`, `bounds_for`
inequalities   what they are made from
problem        targets, counts and prices
means          means over all data, and what a sample says of them
assumptions    what is bounded, in words, and on what it rests
formulas       plain formulas, for planning
"""

from lengthwise.bounds.tokens.losses import KS, TokenLosses, joined
from lengthwise.bounds.tokens.make import bounds_for, document_bound, freedman_bound, martingale_bound
from lengthwise.bounds.tokens.token_bound import TokenBound

__all__ = [
    "KS",
    "TokenBound",
    "TokenLosses",
    "bounds_for",
    "document_bound",
    "freedman_bound",
    "joined",
    "martingale_bound",
]
