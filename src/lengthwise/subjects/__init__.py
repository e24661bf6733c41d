"""Anything that answers: runs of ours, models of others, files and functions, opened in one way."""
