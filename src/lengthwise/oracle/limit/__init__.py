"""Limit transformers: what a causal Transformer becomes as its inputs grow without bound, as objects that can be run.

`transformer.py` defines them and `examples.py` has some, or reads your own from JSON; `margins.py` says when attention
becomes hard; `simulation.py` finds a short input that stands for a long one; `equivalence.py` compares two of them on
all words up to a length; `theorems.py` states the published length bounds, and where none can exist.
"""
