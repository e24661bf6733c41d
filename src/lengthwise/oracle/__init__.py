"""What is known before training: can the task be learned beyond its training size, with which encoding, from where on.

`check.py` gives the one card; each theory has its own part and gives opinions to it: `crasp/` (the decision for regular
languages), `programs/` (C-RASP programs), `communication.py` (lower bounds), `locality/` (R and (n, r)-consistency),
`limit/` (limit transformers), `depth.py`. Nothing here imports torch.
"""
