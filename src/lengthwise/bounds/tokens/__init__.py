"""Bounds on the risk of a model that predicts tokens, from the length of its description and its losses in training.

losses         what is kept of every predicted token, and means of it
make           the bounds: `token_bound`, `bounds_for`
problem        what a bound is, and under which assumptions; targets, counts and prices
inequalities   what bounds are made from
formulas       plain formulas, for planning
"""

from lengthwise.bounds.tokens.losses import KS, TokenLosses, joined
from lengthwise.bounds.tokens.make import bounds_for, token_bound
from lengthwise.bounds.tokens.problem import TokenBound

__all__ = ["KS", "TokenBound", "TokenLosses", "bounds_for", "joined", "token_bound"]
