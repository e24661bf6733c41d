"""Bounds of the risk of a model that predicts tokens, from the length of its description and its losses on its training data.

losses       what is kept of every token that was predicted
"""
