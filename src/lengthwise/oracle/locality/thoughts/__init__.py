"""Chains of thought in a file: what a sample of reasoning shows about windows, conflicts and gaps.

`reading.py` turns records into chains of states, `places.py` numbers their windows, and `findings.py` says what the
sample shows and what it does not.
"""
