"""Locality of reasoning: how far apart the inputs of a step lie, and how many windows of how many columns settle it.

`steps.py` says where steps come from and in which form a model meets them; `consistency.py` decides (n, r)-consistency
on given steps, `bimachine.py` for all sizes, and `settle.py` measures R, combines them and asks where chains stop;
`coverage.py` says what a training sample has to show and what it lacks, `layout.py` puts all of this together for one
layout, `trained.py` has the outcomes of training, and `own.py` reads a user's own formulation.
"""
