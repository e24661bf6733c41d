"""Locality of reasoning: how far apart the inputs of a step lie, and how many windows of how many columns settle it.

`steps.py` says where steps come from and `forms.py` in which form they are put; `distance.py` measures R,
`consistency.py` decides (n, r)-consistency on given steps, `proof.py` for all sizes from a bimachine, `settle.py` puts
them together, `coverage.py` says what a training sample has to show, and `own.py` reads a user's own formulation.
"""
