"""Limit transformers: what a causal Transformer becomes when its inputs grow without end, as objects that can be run.

`transformer.py` defines them, `examples.py` holds some, `reading.py` reads a user's own; `margin.py`, `hardmax.py` and
`positional.py` measure how soon attention becomes hard; `simulation.py` and `subsampling.py` build a short input that
imitates a long one, `wave_lengths.py` and `run_lengths.py` measure how short it can be; `theorems.py`, `no_bound.py`
and `equivalence.py` say what follows and what does not; `claims.py` is the one call that gives all of it for a task.
"""
