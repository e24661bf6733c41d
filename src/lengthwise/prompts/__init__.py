"""Tasks as text: what is asked of a language model, and how its answers are read."""
