"""Infinitely many tokens: a density that moves."""
