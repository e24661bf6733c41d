"""Tokens on a sphere that attract each other."""
