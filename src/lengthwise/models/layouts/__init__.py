"""Layouts of other people's models: which of their weights is which part. One family a file."""
