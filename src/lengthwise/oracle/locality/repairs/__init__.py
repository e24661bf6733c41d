"""Repair: another layout of the same steps that fewer windows settle, as a file that runs by itself.

`shapes.py`, `sweep.py` and `marks.py` are copied into the files that are written, so they need only the standard
library; `mealy.py` learns what a sweep has to carry along, `proof.py` turns it into a bimachine, `original.py` is the
layout to repair, `search.py` tries the candidates and checks the file, and `writing.py` puts that file together.
"""
