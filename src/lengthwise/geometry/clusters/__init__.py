"""How many clusters points form."""
