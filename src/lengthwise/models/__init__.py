"""What answers: one readable Transformer, its attentions, and the folder it is saved in."""
