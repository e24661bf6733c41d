"""Formal languages: which symbols may come next after every prefix, and whether a word belongs.

`syntax.py`, `regex.py` and `dfa.py` turn an expression into its minimal automaton, and `uniform.py` draws words from
it. `regular.py` and `membership.py` ask about any regular language; `tomita.py`, `nested.py` and `starred.py` name the
published ones; `dyck_one.py`, `dyck_k.py`, `shuffle.py` and `blocks.py` hold languages that need counters or a stack.
"""
