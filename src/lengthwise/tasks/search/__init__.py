"""Combinatorial search by backtracking: the problem, and the whole depth-first trace that solves it, written out.

A trace is a sequence of pushes and pops. A push tries a move and writes the state it leads to, a pop takes the move
back and writes the state that is restored; the trace ends with the push that reaches the goal. Numbers and nodes are
written as they are, never as indices, so a larger problem has no token that a smaller one lacks.
"""
