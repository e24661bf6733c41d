"""Locality of reasoning: how far apart the inputs of a step lie, and how many windows of how many columns settle it.

`steps.py` says where steps come from and `forms.py` in which form they are put; `distance.py` measures R,
`consistency.py` decides (n, r)-consistency on given steps, `proof.py` for all sizes from a bimachine, `settle.py` puts
them together and `stopping.py` says whether the end of chains is settled too; `coverage.py` and `unshown.py` say what a
training sample has to show and what it lacks, `trained.py` what became of layouts that were trained, and `own.py` reads
a user's own formulation.
"""
