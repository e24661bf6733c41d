"""Ways to lay one problem out as reasoning steps: the same parity or sum, written directly, appended, or in columns.

A formulation is a task whose one step maps a whole state to the next. How far the inputs of a step lie apart (R), and
whether n windows of r columns settle it ((n, r)-consistency), depends on the layout and not on the problem alone: Xiao
and Liu, "A Theory for Length Generalization in Learning to Reason" (arXiv 2404.00560), whose conditions are sufficient
and not necessary. `formulation.py` holds the contract and `layouts.py` its three layouts: `Columns` (states keep their
length), `Rewriting` (states shrink) and `Appending` (states grow by one token). `own.py` is a user's layout as a task:
its functions (`functions.py`, `layout_sources.py`) or pairs of states (`pair_source.py`), and labels found by comparing
a state with the next (`between.py`).

Columns and rewriting are read out as tags, and a tag may depend on what stands to its right, so they are for a model
without a causal mask; appending is for a decoder.

What the docstrings say about windows is the outcome of exhaustive checks at small sizes over two digits, which the
tests repeat: "do not settle" rests on a counterexample, "settle" on the absence of one, not on a proof for all sizes.
"""
