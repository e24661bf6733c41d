"""The real-valued tasks of Izzo, Nichani and Lee 2025: the answer is a vector of numbers, not a text.

Their targets and their settings are published; their samplers and test tolerances are not, so both are ours here.
"""
