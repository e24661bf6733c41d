"""Whether a regular language can be recognised by counting: the decision for C-RASP, without and with positions.

`decide.py` decides without positions and tests one period and window; `promise.py` says what a task really asks and
`promised.py` decides that, searching periods and windows; `refute.py` refutes all of them at once; `quick.py` is the
cheap necessary test; `guess.py` finds the automaton of a task that does not name one; `verify.py` checks every witness
without the solver. The proofs are in docs/explanation/crasp.md.
"""
