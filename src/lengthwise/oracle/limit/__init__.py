"""Limit transformers: what a causal Transformer becomes as its inputs grow without bound, as objects that can be run.

`transformer.py` defines them and `examples.py` has some, or reads your own from JSON; `margins.py` says when attention
becomes hard; `simulation.py` finds a short input that stands for a long one; `theorems.py` states the length bounds.
"""
