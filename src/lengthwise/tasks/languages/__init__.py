"""Formal languages: which symbols may come next after every prefix, and whether a word belongs.

`regex.py` turns an expression into its minimal automaton, and `dfa.py` draws words from it. `regular.py` asks about any
regular language and `named.py` names the published ones; `counters.py` holds languages that need counters or a stack.
"""
