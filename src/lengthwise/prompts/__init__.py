"""Tasks as text: how a task is put to a language model, and how its answer is read."""
