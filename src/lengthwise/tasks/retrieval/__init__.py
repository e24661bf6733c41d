"""Finding something earlier in the prompt: by its key, by the symbol before it, by the k letters before it."""
