"""C-RASP[periodic, local] programs: what they are, their text, what they compute, and which tasks they solve.

`syntax.py` holds the tree and its measures, `text.py` the form that people write, `interpreter.py` the meaning,
`prompts.py` the items to check on, `verify.py` the check against a task's solver, `find.py` the program of a task, and
`library.py` and `automata.py` the programs themselves.
"""
