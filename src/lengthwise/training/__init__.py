"""How a model learns: the loop, the sizes it is shown, and what it needs to resume after an interruption."""
