"""C-RASP[periodic, local] programs: what they are, their text, what they compute, and which tasks they solve.

`syntax.py` holds the tree, `text.py` the form that people write, `interpreter.py` the meaning, `measures.py` period,
locality, depth and size, `prompts.py` the items to check on, `verify.py` the check against a task's solver, `find.py`
the program of a task, and `library/` the programs themselves.
"""
